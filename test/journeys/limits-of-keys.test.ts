import { mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { digestOf } from '../../src/shared/runtime/access/caller.ts';
import { echoes } from '../support/echoes.ts';
import { httpCall } from '../support/http-call.ts';
import { createResponder, type Responder, staysSilent } from '../support/responder.ts';
import { type Service, startService } from '../support/start-service.ts';

const keyOf = (name: string) => `the-key-of-${name}-in-this-test`;
const bearer = (name: string) => ({ authorization: `Bearer ${keyOf(name)}` });
const entry = (name: string, limits: object = {}) => ({
  ...{ name, sha256: digestOf(keyOf(name)).toString('hex'), limits },
});
const KEYS = [
  entry('one-batch', { batches: 1 }),
  entry('constructor', { openCalls: 3 }), // a name that every object has
  entry('other'),
  entry('greedy'),
  entry('newcomer'),
];
const settings = { MAX_BATCHES: 3, RESULT_TIMEOUT_MS: 60_000, CLIENT_TIMEOUT_MS: 60_000 };

async function startTwo(more: Record<string, number> = {}): Promise<Service> {
  const directory = await mkdtemp(join(tmpdir(), 'rule-server-keys-'));
  await writeFile(join(directory, 'keys.yaml'), JSON.stringify({ keys: KEYS })); // JSON is YAML
  return startService({
    apis: 2,
    settings: { ...settings, ...more, API_KEYS_FILE: join(directory, 'keys.yaml') },
    leavesFiles: true,
  });
}

type Asked = { headers?: Record<string, string>; body: object; signal?: AbortSignal };

/** A POST at one of the two APIs, with the key of this name. */
const ask = (service: Service, at: 0 | 1, name: string, path: string, { headers, body, ...more }: Asked) =>
  httpCall(`${service.urls[at]}/rule-server/mock/${path}`, {
    method: 'POST',
    headers: { ...bearer(name), 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    ...more,
  });

const run = (service: Service, at: 0 | 1, name: string, headers: Record<string, string> = {}) =>
  ask(service, at, name, 'execute', { headers, body: { app: 7, ruleId: 1 } });
const later = { prefer: 'respond-async' };
const startBatch = (service: Service, at: 0 | 1, name: string) =>
  ask(service, at, name, 'batches', { body: { app: 7, ruleId: 1, cases: [{ name: 'one' }] } });

describe('the limits of a key, at two APIs', () => {
  itAtTwo(
    'batches: a key has no more running than it may, and others keep their places',
    async ({ service, client, answerAll }) => {
      expect((await startBatch(service, 0, 'one-batch')).status).toBe(202);
      await client.firstRequest(); // it runs; nobody waits for the answer of the call that began it
      for (const at of [0, 1] as const) {
        const { status, json } = await startBatch(service, at, 'one-batch');
        expect([at, status, json.params]).toEqual([at, 429, { name: 'one-batch', limit: 1 }]);
      }
      expect((await startBatch(service, 1, 'other')).status).toBe(202);
      answerAll();
      await vi.waitFor(async () => expect((await startBatch(service, 1, 'one-batch')).status).toBe(202), 60_000);
    },
  );

  itAtTwo(
    'batches: of ten that come at once to both APIs, a key that may have one gets one',
    async ({ service, client, answerAll }) => {
      const atOnce = await Promise.all(
        Array.from({ length: 10 }, (_, number) => startBatch(service, number % 2 === 0 ? 0 : 1, 'one-batch')),
      );
      const taken = atOnce.filter(({ status }) => status === 202);
      expect(atOnce.map(({ status }) => status).sort()).toEqual([202, ...Array.from({ length: 9 }, () => 429)]);
      const list = await httpCall(`${service.urls[1]}/rule-server/mock/batches`, { headers: bearer('other') });
      expect(list.json.items.map(({ batchId }: { batchId: string }) => batchId)).toEqual([taken[0]?.json.batchId]);
      await client.firstRequest();
      answerAll();
      await vi.waitFor(async () => expect((await startBatch(service, 0, 'one-batch')).status).toBe(202), 60_000);
      expect(client.found.length).toBeLessThan(3);
    },
  );

  itAtTwo('open executions: those that nobody waits for count as well', async ({ service, client, answerAll }) => {
    for (const _ of [1, 2, 3]) expect((await run(service, 0, 'constructor', later)).status).toBe(202);
    await vi.waitFor(() => expect(client.found).toHaveLength(3), 60_000);
    const { status, json } = await run(service, 0, 'constructor', later);
    expect([status, json.error]).toEqual([429, expect.stringMatching(/"constructor" may have at most 3/)]);
    expect(client.found).toHaveLength(3);
    expect((await run(service, 0, 'other', later)).status).toBe(202);
    answerAll();
    await vi.waitFor(async () => expect((await run(service, 0, 'constructor')).status).toBe(200), 60_000);
  });

  itAtTwo(
    'open executions: those whose callers have left count until their end',
    async ({ service, client, answerAll }) => {
      await leaveThree(service, client);
      await untilLeavingIsNoticed(service);
      const { status, json } = await run(service, 0, 'constructor', later);
      expect([status, json.error]).toEqual([429, expect.stringMatching(/"constructor" may have at most 3/)]);
      expect(client.found).toHaveLength(3);
      answerAll();
      await vi.waitFor(async () => expect((await run(service, 0, 'constructor')).status).toBe(200), 60_000);
    },
  );

  it('places at one client: two keys that send it more than it takes leave some for the next', async () => {
    await using service = await startTwo({ MAX_WAITS_PER_CLIENT: 20 });
    await using client = await createResponder({ sharedDir: service.sharedDir, app: 7, does: staysSilent });
    const openOf = (name: string) => client.found.filter(({ text }) => text.includes(`"n":${name.length}}`)).length;
    const send = (name: string) =>
      ask(service, 0, name, 'execute', {
        headers: later,
        body: { app: 7, ruleId: 1, 'the service': { n: name.length } },
      });
    for (const name of ['greedy', 'other']) {
      const sent = await Promise.all(Array.from({ length: 40 }, () => send(name)));
      expect(sent.map(({ status }) => status)).toEqual(Array(40).fill(202));
      await vi.waitFor(() => expect(openOf(name)).toBeGreaterThan(2), 60_000);
    }
    await send('newcomer');
    await vi.waitFor(() => expect(openOf('newcomer')).toBe(1), 60_000);
    expect(openOf('greedy')).toBe(15);
  });
});

/** Three calls that the client runs, and nobody waits for any more. */
async function leaveThree(service: Service, client: Responder): Promise<void> {
  const callers = new AbortController();
  const body = { app: 7, ruleId: 1 };
  const calls = [1, 2, 3].map(() => ask(service, 0, 'constructor', 'execute', { body, signal: callers.signal }));
  const left = Promise.allSettled(calls);
  await vi.waitFor(async () => expect(await states(service, client)).toEqual(Array(3).fill('picked-up')), 60_000);
  callers.abort();
  expect((await left).map((settled) => settled.status)).toEqual(Array(3).fill('rejected'));
}

const states = (service: Service, client: Responder) =>
  Promise.all(
    client.found.map(async ({ mockId }) => {
      const path = `${service.urls[1]}/rule-server/mock/executions/${mockId}`;
      return (await httpCall(path, { headers: bearer('other') })).json.state;
    }),
  );

/** An API notices who leaves in turn: once it has taken back the request of one, it knows of those before. */
async function untilLeavingIsNoticed(service: Service): Promise<void> {
  await using silent = await createResponder({ sharedDir: service.sharedDir, app: 8, does: staysSilent });
  const caller = new AbortController();
  const call = ask(service, 0, 'other', 'execute', { body: { app: 8, ruleId: 1 }, signal: caller.signal });
  const left = Promise.allSettled([call]);
  await silent.firstRequest();
  caller.abort();
  await left;
  await vi.waitFor(async () => expect(await readdir(silent.directory)).toEqual([]), 60_000);
}

type Parts = { service: Service; client: Responder; answerAll: () => void };

/** A client takes every request, and answers once it is told to. */
function itAtTwo(name: string, use: (parts: Parts) => Promise<void>): void {
  it(name, async () => {
    const { promise, resolve: answerAll } = Promise.withResolvers<void>();
    await using service = await startTwo();
    await using client = await service.clientThat(echoes({ once: promise }), { app: 7 });
    try {
      await use({ service, client, answerAll });
    } finally {
      answerAll(); // so that nothing is open when the service stops
    }
  });
}
