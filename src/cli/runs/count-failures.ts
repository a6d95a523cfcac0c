import { failureGroupOf } from '../../shared/contract/endings/failure-group.ts';
import type { ListedExecution } from '../../shared/contract/execution.ts';
import { visible } from '../../shared/contract/json/visible-text.ts';

const clock = (at: number) => new Date(at).toISOString().slice(11, 19);

/** The clients of a group: the first one by name, and how many others. */
function whose(clients: ReadonlySet<string>): string {
  const [first] = clients;
  if (first === undefined) return '';
  return clients.size === 1 ? `${visible(first)}: ` : `${visible(first)} and ${clients.size - 1} more: `;
}

/** Counts failures that are alike from now on. It takes what is new, and tells one line for each group that grew. */
export function createFailureCounts(): (news: readonly ListedExecution[]) => string[] {
  const groups = new Map<string, { count: number; since: number; clients: Set<string>; line: string }>();

  function add(execution: ListedExecution): string | null {
    const group = failureGroupOf(execution);
    if (group === null) return null;
    const key = JSON.stringify(group);
    const at = execution.history.at(-1)?.at ?? 0;
    const { count, since, clients } = groups.get(key) ?? { count: 0, since: at, clients: new Set<string>() };
    if (execution.address !== null) clients.add(execution.address);
    const times = count === 0 ? 'once' : `${count + 1} times since ${clock(since)}`;
    const line = `${clock(at)}  ${group.code.padEnd(14)}  ${whose(clients)}${visible(group.sentence)}  ${times}  ${execution.mockId}\n`;
    groups.set(key, { count: count + 1, since, clients, line });
    return key;
  }

  return (news) => {
    const grown = new Set(news.map(add).filter((key) => key !== null));
    return [...grown].map((key) => groups.get(key)?.line ?? '');
  };
}
