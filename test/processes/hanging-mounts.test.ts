import { mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, inject, it } from 'vitest';
import { withDeadline } from '../support/deadline.ts';
import { echoes } from '../support/echoes.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { type Answer, httpCall } from '../support/http-call.ts';
import { removed } from '../support/mounting.ts';
import { canMountNetwork, mountNetwork, type NetworkMount } from '../support/mounts.ts';
import { startRedis } from '../support/redis.ts';
import { createResponder } from '../support/responder.ts';
import { type ApiProcess, startApiProcess, startWorkerProcess } from '../support/start-process.ts';

const SETTINGS = { QUEUE_TIMEOUT_MS: 4000, RESULT_TIMEOUT_MS: 4000, CLIENT_TIMEOUT_MS: 60_000 };
/** How long an API waits with these settings, and a little more. */
const ENDED_WITHIN_MS = 4000 + 4000 + 10_000 + 3000;
/** Who looks at a worker does not wait longer. */
const LOOKED_WITHIN_MS = 5000;
/** More than a process has threads, each some time after the one before: no two of them share a look. */
const HUNG = 80;
const BETWEEN_MS = 120;
/** Nothing is answered from what the mount remembers, as after a while without a look. */
const REMEMBERS_NOTHING = ['dir_cache=no', 'attr_timeout=0', 'entry_timeout=0'];
const choice = inject('redis');

const well = { app: 2, ruleId: 1, 'the service': { number: 7 } };
const ill = { app: 1, ruleId: 1, 'the service': { number: 8 } };

/** A shared directory on this machine's own disk. */
async function localDirectory() {
  const path = await mkdtemp(join(tmpdir(), 'rule-server-'));
  return { path, [Symbol.asyncDispose]: () => removed(path) };
}

/** An API, and a worker that can be looked at. */
async function startBoth(sharedDir: string) {
  await using starting = new AsyncDisposableStack();
  const redis = await startRedis(choice);
  starting.defer(() => redis.stop());
  const WORKER_PORT = await freePort();
  const common = { queueUrl: redis.url, settings: { ...SETTINGS, WORKER_PORT } };
  const api = starting.use(await startApiProcess({ ...common, settings: SETTINGS }));
  starting.use(await startWorkerProcess({ ...common, sharedDir }));
  const started = starting.move();
  const look = (path: string) =>
    httpCall(`http://127.0.0.1:${WORKER_PORT}${path}`, { signal: AbortSignal.timeout(LOOKED_WITHIN_MS) });
  return { api, look, [Symbol.asyncDispose]: () => started.disposeAsync() };
}

/** Ends the hanging before the worker is killed, because a process that waits for a file system cannot be. */
const endsHanging = (network: NetworkMount) => ({ [Symbol.asyncDispose]: () => network.cutOff().catch(() => {}) });

const served = (api: ApiProcess, call: object) =>
  eventually(async () => expect((await api.execute(call)).json).toMatchObject({ error: null }));

/** What a caller hears of a client that hangs, other than its answer. */
const noAnswer = expect.stringMatching(/^(503|504) (true|false)$/);
const endingOf = ({ status, json }: Answer) => `${status} ${json.mayHaveRun}`;

const isLeftOut = !canMountNetwork || choice.kind === 'unavailable';

it.skipIf(isLeftOut).each([
  ['one client’s directory', 'mock/1/ill', (behind: string) => ({ directory: behind })],
  ['the register of one app', 'clients/1', (behind: string) => ({ register: behind })],
])(
  'a mount that hangs below a shared directory of this machine: %s; every caller is told the truth in time, and the worker goes on by itself (needs root and sshfs)',
  async (_, mountPoint, whereBehind) => {
    await using directory = await localDirectory();
    const sharedDir = directory.path;
    await mkdir(join(sharedDir, mountPoint), { recursive: true });
    await using running = await startBoth(sharedDir);
    const { api, look } = running;
    await using network = await mountNetwork(REMEMBERS_NOTHING, join(sharedDir, mountPoint));
    const behind = whereBehind(network.behind);
    await using client = await createResponder({ sharedDir, app: 1, address: 'ill', does: echoes(), behind });
    await using _well = await createResponder({ sharedDir, app: 2, does: echoes() });
    await using _ends = endsHanging(network);
    for (const call of [well, ill]) await served(api, call);

    await network.hang();
    const calls: Promise<Answer>[] = [];
    for (let call = 0; call < HUNG; call++) {
      calls.push(withDeadline(api.execute(ill), ENDED_WITHIN_MS, 'a call to what hangs'));
      calls.at(-1)?.catch(() => {}); // looked at below
      await sleep(BETWEEN_MS);
    }
    const told = await Promise.all(calls);
    const answered = told.filter(({ status }) => status === 200); // from what the worker knew a moment ago
    expect(told.map(endingOf)).toEqual(told.map((one) => (answered.includes(one) ? '200 undefined' : noAnswer)));

    await network.goOn();
    await eventually(async () => expect((await look('/readyz')).status).toBe(200));
    for (const call of [well, ill]) await served(api, call);
    const ids = client.found.map(({ mockId }) => mockId);
    const untrue = told.filter(({ json }) => json.mayHaveRun === false && ids.includes(json.mockId));
    expect(untrue.map(({ json }) => json)).toEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
  },
);
