import { failureGroupOf } from '../shared/contract/failure-group.ts';
import { visible } from '../shared/contract/visible-text.ts';
import type { Listed } from './read-executions.ts';

const clock = (at: number) => new Date(at).toISOString().slice(11, 19);

/** Counts failures that are alike from now on. It takes what is new, and tells one line for each group that grew. */
export function createFailureCounts(): (news: readonly Listed[]) => string[] {
  const groups = new Map<string, { count: number; since: number; line: string }>();

  function add({ execution }: Listed): string | null {
    const group = failureGroupOf(execution);
    if (group === null) return null;
    const key = JSON.stringify(group);
    const at = execution.history.at(-1)?.at ?? 0;
    const { count, since } = groups.get(key) ?? { count: 0, since: at };
    const where = execution.address === null ? '' : `${visible(execution.address)}: `;
    const times = count === 0 ? 'once' : `${count + 1} times since ${clock(since)}`;
    const line = `${clock(at)}  ${group.code.padEnd(14)}  ${where}${visible(group.sentence)}  ${times}  ${execution.mockId}\n`;
    groups.set(key, { count: count + 1, since, line });
    return key;
  }

  return (news) => {
    const grown = new Set(news.map(add).filter((key) => key !== null));
    return [...grown].map((key) => groups.get(key)?.line ?? '');
  };
}
