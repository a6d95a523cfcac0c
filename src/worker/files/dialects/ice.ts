import type { Dialect } from './dialect.ts';

/** The dialect of the published Java, Go and Python SDKs. An explicit null breaks the Python one, so nothing is ever null. */
export const iceDialect: Dialect = {
  recognises: ({ dialect, hasStartTime, hasLoadedVersion }) => hasStartTime && hasLoadedVersion && dialect !== 'rule',
  directoryNameOf: (address) => address.replace(/[:/]/g, '_'),
  requestMembers({ mockId, app, ruleId, confId, ts, debug, scene, input }, createAt) {
    return [
      ['mockId', JSON.stringify(mockId)],
      ['app', String(app)],
      ...(ruleId === null ? [] : [['iceId', ruleId] as [string, string]]),
      ...(confId === null ? [] : [['confId', confId] as [string, string]]),
      // Only beside a rule, which counts before it: alone it would choose one.
      ...(scene === undefined || ruleId === null ? [] : [['scene', JSON.stringify(scene)] as [string, string]]),
      ...(ts === null ? [] : [['ts', ts] as [string, string]]),
      ...(debug === undefined ? [] : [['debug', String(debug)] as [string, string]]),
      ['roam', input],
      ['createAt', String(createAt)],
    ];
  },
  dataField: 'roam',
  reservedKey: '_ice',
  isSharedWithCleaners: true,
  isSilentWhileRunning: true,
};
