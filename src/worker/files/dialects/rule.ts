// A file of its own: one file for each dialect.

import { DATA_FIELD } from '../../../shared/contract/data-field.ts';
import { joinMembers } from '../../../shared/contract/json/exact-json.ts';
import type { Dialect } from './dialect.ts';

type Member = [key: string, raw: string];
type Members = Member[];

/** Our own dialect: the names of the interface. Absent ids and times are left out, never null. */
export const ruleDialect: Dialect = {
  recognises: () => true,
  directoryNameOf: (address) => address,
  requestMembers({ mockId, app, ruleId, confId, ts, debug, scene, traceparent, target, input, dryRun }, createAt) {
    const ids: Members = [
      ...(ruleId === null ? [] : [['ruleId', ruleId] as Member]),
      ...(confId === null ? [] : [['confId', confId] as Member]),
    ];
    return [
      ['mockId', JSON.stringify(mockId)],
      ['app', String(app)],
      ...(dryRun === undefined ? ids : [['dryRun', joinMembers([...ids, ['stub', dryRun.stub]])] as Member]),
      // Not as `scene`: a client of another dialect that finds this request would run the first rule of it.
      ...(scene === undefined ? [] : [['ofScene', JSON.stringify(scene)] as Member]),
      ...(ts === null ? [] : [['ts', ts] as Member]),
      ...(debug === undefined ? [] : [['debug', String(debug)] as Member]),
      [DATA_FIELD, input],
      ['target', JSON.stringify(target)],
      ['createAt', String(createAt)],
      ...(traceparent === undefined ? [] : [['traceparent', JSON.stringify(traceparent)] as Member]),
    ];
  },
  dataField: DATA_FIELD,
  reservedKey: null,
  isSharedWithCleaners: false,
  isSilentWhileRunning: false,
};
