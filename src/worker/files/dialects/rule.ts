import { requestMembers } from '../../../shared/contract/client-files.ts';
import { DATA_FIELD } from '../../../shared/contract/data-field.ts';
import type { Dialect } from './dialect.ts';

/** Our own dialect: the names of the interface. Absent ids and times are left out, never null. */
export const ruleDialect: Dialect = {
  recognises: () => true,
  directoryNameOf: (address) => address,
  requestMembers,
  dataField: DATA_FIELD,
  reservedKey: null,
  isSharedWithCleaners: false,
  isSilentWhileRunning: false,
};
