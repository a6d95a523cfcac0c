import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { echoes } from '../support/echoes.ts';
import { eventually } from '../support/eventually.ts';
import { httpCall } from '../support/http-call.ts';
import { startRedis } from '../support/redis.ts';
import { claimRedisDatabase } from '../support/redis-database.ts';
import type { RedisServer } from '../support/redis-server.ts';
import { createResponder, type Responder } from '../support/responder.ts';
import { type Processes, startProcesses } from '../support/start-processes.ts';

vi.setConfig({ testTimeout: 180_000 });

const choice = inject('redis');
/** Far longer than a test: what ends in time was cancelled, not timed out. */
const settings = { RESULT_TIMEOUT_MS: 300_000, QUEUE_TIMEOUT_MS: 300_000, CLIENT_TIMEOUT_MS: 60_000 };

describe.skipIf(choice.kind === 'unavailable').concurrent('a caller who hangs up', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis(choice);
  });
  afterAll(() => redis.stop());

  it('before a worker takes the call: it never reaches the client, also when a worker comes later', () =>
    withProcesses(redis, { workers: 0, does: echoes() }, async ({ processes, responder }) => {
      await hangUpOnce(() => eventually(async () => expect(await outcomes(processes)).toEqual(['open'])), processes);
      await eventually(async () => expect(await outcomes(processes)).toEqual(['cancelled, may have run']));
      await processes.addWorker();
      expect((await processes.api.execute(bodyOf(2))).status).toBe(200);
      expect(responder.found.map(numberOf)).toEqual([2]);
    }));

  it('before the client picks up: the request is withdrawn', () =>
    withProcesses(redis, { workers: 1, does: () => {} }, async ({ processes, responder }) => {
      await hangUpOnce(responder.firstRequest, processes);
      await eventually(async () => expect(await outcomes(processes)).toEqual(['cancelled, did not run']));
      expect(await processes.leftovers()).toEqual([]);
    }));

  it('after the client picked up: the rule runs to its end, and its answer is kept', () => {
    const ran: string[] = [];
    const heard = Promise.withResolvers<void>();
    return withProcesses(redis, { workers: 1, does: echoes({ ran, once: heard.promise }) }, async ({ processes }) => {
      await hangUpOnce(() => eventually(() => expect(ran).toHaveLength(1)), processes);
      await delay(500); // the worker has heard of it by now
      heard.resolve();
      await eventually(async () => expect(await outcomes(processes)).toEqual(['succeeded']));
    });
  });

  it('at any moment whatever: every call ends, and what is said not to have run did not', async () => {
    const ran: string[] = [];
    const echo = echoes({ ran });
    const runsEvenOnes: Responder['does'] = (request, client) =>
      numberOf(request) % 2 === 0 ? echo(request, client) : undefined;
    await withProcesses(redis, { workers: 2, does: runsEvenOnes }, async ({ processes }) => {
      const calls = Array.from({ length: 200 }, async (_, number) => {
        await delay(randomInt(1000));
        await hangUpAfter(randomInt(60), processes, number);
      });
      await Promise.all(calls);
      await eventually(async () => expect(await outcomes(processes)).not.toContain('open'), 40_000);

      const lies = (await recordsOf(processes)).filter(
        ({ mockId, outcome }) => outcome?.mayHaveRun === false && ran.includes(mockId),
      );
      expect(lies).toEqual([]);
      expect(new Set(ran).size).toBe(ran.length);
      // Nobody ran the odd ones: each that got as far as the client's directory was withdrawn again.
      await eventually(async () => expect(await processes.leftovers()).toEqual([]));
    });
  });
});

const bodyOf = (number: number) => ({ app: 1, ruleId: 1, 'the service': { number } });
const numberOf = ({ text }: { text: string }): number => JSON.parse(text)['the service'].number;

/** Calls, and hangs up as soon as `ready` resolves. */
async function hangUpOnce(ready: () => Promise<unknown>, { api }: Processes): Promise<void> {
  const caller = new AbortController();
  const call = api.execute(bodyOf(1), { signal: caller.signal }).catch(() => {});
  await ready();
  caller.abort();
  await call;
}

async function hangUpAfter(ms: number, { api }: Processes, number: number): Promise<void> {
  await api.execute(bodyOf(number), { signal: AbortSignal.timeout(ms) }).catch(() => {});
}

type Record = { mockId: string; state: string; outcome: { mayHaveRun: boolean } | null };

async function recordsOf({ api }: Processes): Promise<Record[]> {
  const records: Record[] = [];
  let cursor = '';
  do {
    const { json } = await httpCall(`${api.url}/rule-server/mock/executions?limit=100&cursor=${cursor}`);
    records.push(...json.items);
    cursor = json.nextCursor ?? '';
  } while (cursor !== '');
  return records;
}

async function outcomes(processes: Processes): Promise<string[]> {
  return (await recordsOf(processes)).map(({ state, outcome }) => {
    if (!outcome) return 'open';
    return state === 'cancelled' ? `cancelled, ${outcome.mayHaveRun ? 'may have run' : 'did not run'}` : state;
  });
}

type Parts = { processes: Processes; responder: Responder };
type Setup = { workers: number; does: Responder['does'] };

async function withProcesses(
  redis: RedisServer,
  { does, workers }: Setup,
  use: (parts: Parts) => Promise<void>,
): Promise<void> {
  const database = await claimRedisDatabase(redis.url);
  try {
    await using processes = await startProcesses({ queueUrl: database.url, settings, workers });
    await using responder = await createResponder({ sharedDir: processes.sharedDir, app: 1, does });
    await use({ processes, responder });
    expect(processes.noise()).toEqual([]);
    expect(processes.warnings()).toEqual([]);
  } finally {
    await database.stop();
  }
}
