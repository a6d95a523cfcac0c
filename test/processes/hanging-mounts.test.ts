import { mkdir, mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, inject, it } from 'vitest';
import { withDeadline } from '../support/deadline.ts';
import { echoes } from '../support/echoes.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { type Answer, httpCall } from '../support/http-call.ts';
import { removed } from '../support/mounting.ts';
import { canMountNetwork, mountNetwork, type NetworkMount } from '../support/mounts.ts';
import { startRedis } from '../support/redis.ts';
import { createResponder, type Responder } from '../support/responder.ts';
import { type ApiProcess, startApiProcess, startWorkerProcess } from '../support/start-process.ts';

const SETTINGS = { QUEUE_TIMEOUT_MS: 4000, RESULT_TIMEOUT_MS: 4000, CLIENT_TIMEOUT_MS: 60_000 };
/** How long an API waits with these settings, and a little more. */
const ENDED_WITHIN_MS = 4000 + 4000 + 10_000 + 3000;
/** Who looks at a worker does not wait longer. */
const LOOKED_WITHIN_MS = 5000;
const [ROUNDS, CALLS_A_ROUND] = [4, 5];
/** More than a process has threads, each some time after the one before: no two of them share a look. */
const HUNG_A_ROUND = 20;
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
  eventually(async () => expect((await api.execute(call)).json).toMatchObject({ error: null }), 30_000);

/** Rule 1 of app 1, which is one node. */
async function writeRule(folder: string): Promise<void> {
  for (const name of ['bases', 'confs']) await mkdir(join(folder, name));
  await writeFile(join(folder, 'version.txt'), '1');
  await writeFile(join(folder, 'bases/1.json'), '{"id":1,"app":1,"status":1,"confId":2}');
  await writeFile(join(folder, 'confs/2.json'), '{"id":2,"app":1,"status":1,"type":0}');
}

type Hanging = {
  api: ApiProcess;
  look: (path: string) => Promise<Answer>;
  network: NetworkMount;
  well: object;
  ill: object;
};

/** Lets a mount hang, and calls both: what is not behind it is answered, and so is who looks at the worker. */
async function answeredWhileItHangs({ api, look, network, well, ill }: Hanging): Promise<Answer[]> {
  await network.hang();
  const illCalls: Promise<Answer>[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    for (let call = 0; call < HUNG_A_ROUND; call++) {
      illCalls.push(withDeadline(api.execute(ill), ENDED_WITHIN_MS, 'a call to what hangs'));
      illCalls.at(-1)?.catch(() => {}); // looked at below
      await sleep(BETWEEN_MS);
    }
    const answers = await Promise.all(
      Array.from({ length: CALLS_A_ROUND }, () =>
        withDeadline(api.execute(well), ENDED_WITHIN_MS, 'a call to the other client'),
      ),
    );
    const said = answers.map(({ status, json }) => `${status} ${json.code ?? ''} ${json.error}`);
    expect(said).toEqual(Array.from(said, () => '200  null'));
  }
  expect((await look('/readyz')).json).toMatchObject({ status: 'ready' });
  expect((await look('/metrics')).text).toMatch(/^rule_server_worker_takes_jobs 1/m);
  return Promise.all(illCalls);
}

/** Ends the hanging. The client is served again, and none that was said not to have run came to it. */
async function healed({ api, look, network, ill }: Hanging, client: Responder, hung: Answer[]): Promise<void> {
  await network.goOn();
  await eventually(async () => expect((await look('/readyz')).json.hanging).toEqual([]), 30_000);
  await served(api, ill);
  const ids = client.found.map(({ mockId }) => mockId);
  const untrue = hung.filter(({ json }) => json.mayHaveRun === false && ids.includes(json.mockId));
  expect(untrue.map(({ json }) => json)).toEqual([]);
  expect(new Set(ids).size).toBe(ids.length);
  const requests = async () => (await readdir(client.directory)).filter((name) => /[0-9a-f]{12}\.json$/.test(name));
  await eventually(async () => expect(await requests()).toEqual([]));
}

/** What a caller hears of a client that hangs, other than its answer. */
const noAnswer = expect.stringMatching(/^(503|504) (true|false)$/);
const endingOf = ({ status, json }: Answer) => `${status} ${json.mayHaveRun}`;

const isLeftOut = !canMountNetwork || choice.kind === 'unavailable';

describe.skipIf(isLeftOut)('a mount that hangs below a shared directory of this machine (needs root and sshfs)', () => {
  it.each([
    ['before the worker started', true],
    ['while the worker ran', false],
  ])(
    'one client’s directory, mounted %s: calls to another client of the app are answered, and its own end in time',
    async (_, isMountedFirst) => {
      await using directory = await localDirectory();
      const sharedDir = directory.path;
      const [atWell, atIll] = ['well', 'ill'].map((address) => ({ ...well, app: 1, target: `address:${address}` }));
      if (!atWell || !atIll) throw new Error('two calls');
      await using _well = await createResponder({ sharedDir, app: 1, address: 'well', does: echoes() });
      const mountPoint = join(sharedDir, 'mock/1/ill');
      await mkdir(mountPoint);
      const early = isMountedFirst ? await mountNetwork(REMEMBERS_NOTHING, mountPoint) : undefined;
      await using running = await startBoth(sharedDir);
      const { api } = running;
      if (!early) {
        const before = await createResponder({ sharedDir, app: 1, address: 'ill', does: echoes() });
        await served(api, atIll); // the worker knows the directory as it was before
        await before.stop();
      }
      await using network = early ?? (await mountNetwork(REMEMBERS_NOTHING, mountPoint));
      const behind = { directory: network.behind };
      await using client = await createResponder({ sharedDir, app: 1, address: 'ill', does: echoes(), behind });
      await using _ends = endsHanging(network);
      for (const call of [atWell, atIll]) await served(api, call);
      const hanging = { ...running, network, well: atWell, ill: atIll };
      const hung = await answeredWhileItHangs(hanging);
      expect(hung.map(endingOf)).toEqual(hung.map(() => noAnswer));
      expect((await running.look('/readyz')).json.hanging).toEqual(['mock/1/ill']);
      await healed(hanging, client, hung);
    },
  );

  it.each([
    ['all clients of one app', 'mock/1', (behind: string) => ({ directory: join(behind, 'ill') })],
    ['the register of one app', 'clients/1', (behind: string) => ({ register: behind })],
    ['the rules of one app', '1', () => ({})],
  ])('%s: calls of another app are answered, and its own end in time', async (_, mountPoint, whereBehind) => {
    await using directory = await localDirectory();
    const sharedDir = directory.path;
    await mkdir(join(sharedDir, mountPoint), { recursive: true });
    await using running = await startBoth(sharedDir);
    await using network = await mountNetwork(REMEMBERS_NOTHING, join(sharedDir, mountPoint));
    if (mountPoint === '1') await writeRule(network.behind);
    const behind = whereBehind(network.behind);
    await using client = await createResponder({ sharedDir, app: 1, address: 'ill', does: echoes(), behind });
    await using _well = await createResponder({ sharedDir, app: 2, does: echoes() });
    await using _ends = endsHanging(network);
    for (const call of [well, ill]) await served(running.api, call);
    const hanging = { ...running, network, well, ill };
    const hung = await answeredWhileItHangs(hanging);
    const answered = hung.filter(({ status }) => status === 200); // from what the worker knew a moment ago, or unchecked
    expect(hung.map(endingOf)).toEqual(hung.map((one) => (answered.includes(one) ? '200 undefined' : noAnswer)));
    await healed(hanging, client, hung);
  });
});
