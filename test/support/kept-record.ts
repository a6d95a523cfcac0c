import { type ExecutionRecord, openRecord } from '../../src/shared/contract/execution-record.ts';

/** The record of an execution, as a history keeps it, with these members. */
export function keptRecord(members: Partial<ExecutionRecord>): ExecutionRecord {
  const data = {
    v: 1,
    app: 1,
    ruleId: '1',
    confId: null,
    ts: null,
    target: 'all',
    input: '{}',
    claimBy: 0,
    keyName: null,
  };
  return { ...openRecord({ mockId: 'm', data, queuedAt: 1 }), ...members };
}
