import { type FailureGroup, failureGroupOf } from '../../../shared/contract/endings/failure-group.ts';
import type { Failures } from '../../../shared/contract/execution.ts';
import type { ExecutionRecord } from '../../../shared/contract/execution-record.ts';

const MAX_CLIENTS = 10;

/** Groups the failures of executions, which come newest first; the most frequent group is the first. */
export function groupFailures(records: readonly ExecutionRecord[]): Failures[] {
  const groups = new Map<string, FailureGroup & { records: ExecutionRecord[] }>();
  for (const record of records) {
    const group = failureGroupOf(record);
    if (group === null) continue;
    const key = JSON.stringify(group);
    const known = groups.get(key) ?? { ...group, records: [] };
    known.records.push(record);
    groups.set(key, known);
  }
  return [...groups.values()].map(failuresOf).sort((a, b) => b.count - a.count);
}

function failuresOf({ records, ...group }: FailureGroup & { records: ExecutionRecord[] }): Failures {
  const ends = records.map(({ history }) => history.at(-1)?.at ?? 0);
  const byClient = Map.groupBy(records, ({ address }) => address);
  const clients = [...byClient].map(([address, all]) => ({ address, count: all.length }));
  return {
    ...group,
    count: records.length,
    first: ends.reduce((earliest, at) => Math.min(earliest, at)),
    last: ends.reduce((latest, at) => Math.max(latest, at)),
    mockId: records[0]?.mockId ?? '',
    clients: clients.sort((a, b) => b.count - a.count).slice(0, MAX_CLIENTS),
  };
}
