import { DATA_FIELD } from '../../shared/contract/data-field.ts';
import type { Dialect } from './dialect.ts';

/** Our own dialect: the names of the interface. Absent ids and times are left out, never null. */
export const ruleDialect: Dialect = {
  recognises: () => true,
  directoryNameOf: (address) => address,
  requestMembers({ mockId, app, ruleId, confId, ts, debug, traceparent, target, input }, createAt) {
    return [
      ['mockId', JSON.stringify(mockId)],
      ['app', String(app)],
      ...(ruleId === null ? [] : [['ruleId', ruleId] as [string, string]]),
      ...(confId === null ? [] : [['confId', confId] as [string, string]]),
      ...(ts === null ? [] : [['ts', ts] as [string, string]]),
      ...(debug === undefined ? [] : [['debug', String(debug)] as [string, string]]),
      [DATA_FIELD, input],
      ['target', JSON.stringify(target)],
      ['createAt', String(createAt)],
      ...(traceparent === undefined ? [] : [['traceparent', JSON.stringify(traceparent)] as [string, string]]),
    ];
  },
  dataField: DATA_FIELD,
  reservedKey: null,
  isSharedWithCleaners: false,
  isSilentWhileRunning: false,
};
