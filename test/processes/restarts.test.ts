import { Agent } from 'node:http';
import { describe, expect, inject, it } from 'vitest';
import { errnoOf } from '../../src/shared/runtime/errno.ts';
import { echoes } from '../support/echoes.ts';
import { eventually } from '../support/eventually.ts';
import { type Answer, httpCall } from '../support/http-call.ts';
import { createResponder, type Responder } from '../support/responder.ts';
import { borrowDatabase } from '../support/shared-redis.ts';
import type { ApiProcess } from '../support/start-process.ts';
import { startProcesses } from '../support/start-processes.ts';
import { type Called, callSteadily } from '../support/steady-calls.ts';

const RESTARTS = 3;
/**
 * A call that was sent on a kept connection while the API closed it (RFC 9112, section 9.5), as its caller notices it. What had arrived is
 * answered: `http-server.test.ts`, `calls-at-a-stop.test.ts`.
 */
const CROSSED = ['socket hang up', 'read ECONNRESET', 'write EPIPE'].map((what) => `0 Error: ${what}, ran 0 times`);
const PER_SECOND = 100;

describe.skipIf(inject('sharedRedis') === null)(
  'callers without a gateway, while all APIs and workers are replaced',
  () => {
    it.each([
      ['that keep their connections', true],
      ['that connect for each call', false],
    ])('%s: each call is answered, or refused and did not run', async (_, keepAlive) => {
      const crossed = keepAlive ? CROSSED : [];
      const database = await borrowDatabase();
      const agent = new Agent({ keepAlive, maxSockets: 200 });
      try {
        await using processes = await startProcesses({ queueUrl: database?.url ?? '', apis: 2, workers: 2 });
        await using client = await createResponder({ sharedDir: processes.sharedDir, app: 1, does: echoes() });
        const serving = [...processes.apis];
        const calls = callSteadily({ perSecond: PER_SECOND, openAtMost: 60 }, createCaller(serving, agent));
        await eventually(() => expect(calls.count).toBeGreaterThanOrEqual(PER_SECOND), 60_000);
        for (let restart = 0; restart < RESTARTS; restart++) {
          serving.push(await processes.addApi());
          const before = calls.count;
          await serving[0]?.terminate(); // callers hear of it by what they are answered
          serving.shift();
          await processes.addWorker();
          expect((await processes.workers[restart]?.terminate())?.code).toBe(0);
          await eventually(() => expect(calls.count).toBeGreaterThanOrEqual(before + PER_SECOND), 60_000);
        }
        const called = await calls.stop();
        expect(called.length).toBeGreaterThan(RESTARTS * PER_SECOND);
        expect(broken(called, client, crossed)).toEqual([]);
      } finally {
        agent.destroy();
        await database?.stop();
      }
    });
  },
);

/** A caller that knows all APIs. It believes a refusal: until `Retry-After` is over it asks the others. */
function createCaller(apis: ApiProcess[], agent: Agent) {
  const askAgainAt = new Map<ApiProcess, number>();

  return async function call(number: number): Promise<Answer> {
    const inTurn = apis.map((_, index) => apis[(number + index) % apis.length]);
    let refused: unknown = new Error('there is no API that takes calls');
    for (const api of inTurn) {
      if (!api || (askAgainAt.get(api) ?? 0) > Date.now()) continue;
      try {
        const answer = await post(api, number, agent);
        if (answer.status === 503) askAgainAt.set(api, Date.now() + Number(answer.headers['retry-after']) * 1000);
        return answer;
      } catch (error) {
        if (errnoOf(error) !== 'ECONNREFUSED') throw error; // that connection has carried no call: another API is asked
        refused = error;
      }
    }
    throw refused;
  };
}

function post({ url }: ApiProcess, number: number, agent: Agent): Promise<Answer> {
  return httpCall(`${url}/rule-server/mock/execute`, {
    ...{ method: 'POST', agent, headers: { 'content-type': 'application/json' } },
    body: JSON.stringify({ app: 1, ruleId: 1, 'the service': { number } }),
  });
}

/** What went wrong, and how often: calls without an answer, answers of others, refusals that are not true. */
function broken(called: Called[], { found }: Responder, crossed: string[]): string[] {
  const ran = new Map<number, number>();
  for (const { text } of found) {
    const { number } = JSON.parse(text)['the service'];
    ran.set(number, (ran.get(number) ?? 0) + 1);
  }
  const kinds = called.map(({ number, answer: { status, json } }) => {
    const times = ran.get(number) ?? 0;
    if (status === 200) return json['the service']?.number === number && times === 1 ? 'answered' : 'a wrong answer';
    if (status === 503 && json.mayHaveRun === false) return times === 0 ? 'refused' : 'refused, and it ran';
    return `${status} ${json?.error}, ran ${times} times`;
  });
  const counts = new Map<string, number>();
  for (const kind of kinds) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const fine = new Set(['answered', 'refused', ...crossed]);
  return [...counts].flatMap(([kind, count]) => (fine.has(kind) ? [] : `${count} of ${called.length}: ${kind}`));
}
