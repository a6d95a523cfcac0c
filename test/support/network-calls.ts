import { readdir } from 'node:fs/promises';
import { expect } from 'vitest';
import { echoes } from './echoes.ts';
import { eventually } from './eventually.ts';
import type { Answer } from './http-call.ts';
import type { TwoSided } from './mounting.ts';
import type { RedisChoice } from './redis-server.ts';
import { createResponder } from './responder.ts';
import { startDeployment } from './start-deployment.ts';
import { callSteadily, strangers, twice } from './steady-calls.ts';

type Caller = { execute(body: unknown): Promise<Answer> };

const INPUT = { uid: 1, cost: 120 };

/** A new client is seen once the mount's own cache of the folder is over. */
export async function untilServed({ execute }: Caller, app: number): Promise<void> {
  const call = { app, ruleId: 1, 'the service': INPUT };
  await eventually(async () => expect((await execute(call)).status).toBe(200), 40_000);
}

/** Calls one after the other; each gets its own answer. */
export async function callInTurn({ execute }: Caller, count: number): Promise<void> {
  for (let number = 0; number < count; number++) {
    const { status, json } = await execute({ app: 1, ruleId: 1, 'the service': { number } });
    expect([status, json.error, json['the service']]).toEqual([200, null, { number }]);
  }
}

/** A request that no client takes, and one that a client takes and never answers. The answer has 6 s (`RESULT_TIMEOUT_MS`). */
export async function waitForNothing(network: TwoSided, caller: Caller): Promise<void> {
  await using client = await createResponder({ sharedDir: network.behind, app: 1, does: echoes() });
  await untilServed(caller, 1);
  client.does = () => {};
  const unseen = await caller.execute({ app: 1, ruleId: 1 });
  expect([unseen.status, unseen.json.code, unseen.json.mayHaveRun]).toEqual([504, 'not-picked-up', false]);
  client.does = (request) => request.pickUp();
  const silent = await caller.execute({ app: 1, ruleId: 1 });
  expect([silent.status, silent.json.code, silent.json.mayHaveRun]).toEqual([504, 'no-answer', true]);
  expect((await readdir(client.directory)).filter((name) => name.endsWith('.json'))).toEqual([]);
}

/** So many calls of 50 callers over two workers, of which one is killed. */
export async function callWhileOneIsKilled(network: TwoSided, redis: RedisChoice, count: number): Promise<void> {
  const settings = { RESULT_TIMEOUT_MS: 60_000, CLIENT_TIMEOUT_MS: 60_000, MAX_WAITS_PER_CLIENT: 500 };
  const ran: string[] = [];
  await using client = await createResponder({ sharedDir: network.behind, app: 1, does: echoes({ ran }) });
  await using deployment = await startDeployment({ redis, sharedDir: network.path, settings, workers: 2 });
  const calls = callSteadily({ perSecond: 1000, openAtMost: 50 }, (number) =>
    deployment.api.execute({ app: 1, ruleId: 1, 'the service': { number } }),
  );
  await eventually(() => expect(calls.count).toBeGreaterThan(count / 4), 90_000);
  await deployment.worker.kill();
  await eventually(() => expect(calls.count).toBeGreaterThanOrEqual(count), 90_000);
  const called = await calls.stop();
  expect(strangers(called)).toEqual([]);
  expect(twice(client.found)).toEqual([]);
  expect(ran).toHaveLength(called.length);
}
