import type { ExactValue } from '../../shared/contract/json/raw-number.ts';
import { field, list, number, text } from '../../shared/contract/json/read-exact.ts';
import type { RunSearch } from './executions.ts';
import { get, withQuery } from './request.ts';

/** Failures that are alike. `clients`: those with the most; null for calls that went to none. `mockId`: the newest. Times are epoch ms. */
export type Failures = {
  code: string;
  sentence: string;
  count: number;
  first: number;
  last: number;
  mockId: string;
  clients: { address: string | null; count: number }[];
};
type Page = { groups: Failures[]; looked: number; nextCursor: string | null };

export function getFailures(
  { search, ...query }: { app: string; ruleId: string | null; search: RunSearch | null; cursor: string | null },
  signal?: AbortSignal,
): Promise<Page> {
  const read = (answer: ExactValue): Page => ({
    groups: list(field(answer, 'groups')).map(readGroup),
    looked: number(field(field(answer, 'looked'), 'executions')) ?? 0,
    nextCursor: text(field(answer, 'nextCursor')),
  });
  return get(withQuery('/rule-server/mock/failures', { ...query, ...search }), read, signal);
}

function readGroup(group: ExactValue): Failures {
  return {
    code: text(field(group, 'code')) ?? '',
    sentence: text(field(group, 'sentence')) ?? '',
    count: number(field(group, 'count')) ?? 0,
    first: number(field(group, 'first')) ?? 0,
    last: number(field(group, 'last')) ?? 0,
    mockId: text(field(group, 'mockId')) ?? '',
    clients: list(field(group, 'clients')).map((client) => ({
      address: text(field(client, 'address')),
      count: number(field(client, 'count')) ?? 0,
    })),
  };
}
