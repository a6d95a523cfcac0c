import { Agent } from 'node:http';
import { httpCall } from './http-call.ts';

/** Two callers of one API, each with a key. */
export type Callers = { url: string; hostile: string; polite: string };

/** How a key's calls went: the median time of those it was given, and what they were answered. */
export type Pace = { p50: number; statuses: Map<number, number> };

const AT_ONCE = 50;
const lists = { 'runs and lists': 'executions', 'long lists': 'executions?limit=100&include=input' };

/** What a hostile key asks for: runs and lists, or the most that one list can hold. */
export type Attack = 'runs and lists' | 'long lists';

/** Asks as fast as it can, in many calls at once, whatever it is told, until the signal aborts. */
export async function attack(
  { url, hostile }: Callers,
  signal: AbortSignal,
  what: Attack = 'runs and lists',
): Promise<Map<number, number>> {
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
  const statuses = new Map<number, number>();
  const caller = async (number: number) => {
    while (!signal.aborted) {
      const isRun = what === 'runs and lists' && number % 2 === 0;
      const status = await httpCall(`${url}/rule-server/mock/${isRun ? 'execute' : lists[what]}`, {
        method: isRun ? 'POST' : 'GET',
        headers: { authorization: `Bearer ${hostile}`, 'content-type': 'application/json' },
        ...(isRun && { body: '{"app":1,"ruleId":1}' }),
        agent,
      }).then(
        (answer) => answer.status,
        () => 0,
      );
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, (_, number) => caller(number)));
  agent.destroy();
  return statuses;
}

/** Calls one after the other, as a page does. */
export async function callPolitely({ url, polite }: Callers, calls: number): Promise<Pace> {
  const agent = new Agent({ keepAlive: true });
  const statuses = new Map<number, number>();
  const times: number[] = [];
  for (let made = 0; made < calls; made++) {
    const startedAt = performance.now();
    const { status } = await httpCall(`${url}/rule-server/mock/execute`, {
      method: 'POST',
      headers: { authorization: `Bearer ${polite}`, 'content-type': 'application/json' },
      body: '{"app":1,"ruleId":1}',
      agent,
    });
    times.push(performance.now() - startedAt);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  agent.destroy();
  return { p50: times.sort((a, b) => a - b)[Math.floor(calls / 2)] ?? 0, statuses };
}
