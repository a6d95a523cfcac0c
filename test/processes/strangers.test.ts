import { chmod, chown, mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { echoes } from '../support/echoes.ts';
import { httpCall } from '../support/http-call.ts';
import { startRedis } from '../support/redis.ts';
import { claimRedisDatabase } from '../support/redis-database.ts';
import type { RedisServer } from '../support/redis-server.ts';
import { createResponder, picksUpAndStaysSilent, type Responder } from '../support/responder.ts';
import { runCli } from '../support/run-cli.ts';
import { type Processes, startProcesses } from '../support/start-processes.ts';
import { asUser, canActAsOthers, type Stranger, tryAs, withUmask } from '../support/stranger.ts';

const choice = inject('redis');
const CLIENTS = 60_001;
const OF_APP_7 = 60_007;
const OF_APP_9 = 60_009;
const UMASKS = ['0000', '0002', '0022', '0077'];
const settings = { RESULT_TIMEOUT_MS: 8000, QUEUE_TIMEOUT_MS: 20_000, CLIENT_TIMEOUT_MS: 60_000 };
const CALL = { app: 9, ruleId: 1, 'the service': { number: 7 } };
const CASES = `rule-server/mock/cases?app=9&ruleId=1`;

const WORKERS = ['0022', '0077'].flatMap((umask) => [
  { who: 'a worker of root', uid: 0, groups: [0], umask },
  { who: 'a worker of a user in the group of the app', uid: 54_400, groups: [54_400, OF_APP_9], umask },
]);

const canRun = choice.kind !== 'unavailable' && canActAsOthers;
describe.skipIf(!canRun)('a user who runs the client of another app (needs root and Redis)', () => {
  const stranger: Stranger = { uid: 54_321, gid: CLIENTS };
  let redis: RedisServer;
  let database: RedisServer;
  beforeAll(async () => {
    redis = await startRedis(choice);
  });
  afterAll(() => redis?.stop());
  beforeEach(async () => {
    database = await claimRedisDatabase(redis.url);
  });
  afterEach(() => database.stop());

  it.each(UMASKS)('finds the workers’ own folder closed, with umask %s', async (umask) => {
    await using processes = await withApi(database.url, 0o3775);
    await processes.addWorker({ under: withUmask(umask) });
    await using _ = await createResponder({ sharedDir: processes.sharedDir, app: 9, does: echoes() });
    expect((await processes.api.execute(CALL)).status).toBe(200);
    const own = join(processes.sharedDir, '.rule-server');
    expect(modeOf(await stat(own))).toBe('700');
    expect(await tryAs(stranger, `ls ${own}`)).toBeNull();
  });

  it.each(['0002', '0022'])('cannot make a rule run twice, with umask %s of the worker', async (umask) => {
    await using processes = await withApi(database.url, 0o3775);
    const { sharedDir } = processes;
    const worker = await processes.addWorker({ under: withUmask(umask) });
    await using client = await createResponder({ sharedDir, app: 9, does: picksUpAndStaysSilent });
    const call = processes.api.execute(CALL);
    await client.firstRequest();
    await vi.waitFor(async () => expect(await stateOf(processes, client)).toBe('picked-up'), 60_000);
    await tryAs(stranger, `rm -rf ${sharedDir}/.rule-server/claims/*`);
    await tryAs(stranger, `mv ${sharedDir}/.rule-server ${sharedDir}/.gone && mkdir -m 777 ${sharedDir}/.rule-server`);
    await worker.kill();
    await processes.addWorker({ under: withUmask(umask), untilReady: false });
    expect((await call).json.code).toBe('no-answer');
    expect(client.found.map(({ mockId }) => mockId)).toHaveLength(1);
  });

  it('cannot stop the workers', async () => {
    await using processes = await withApi(database.url, 0o3775);
    const { sharedDir } = processes;
    await processes.addWorker({ under: withUmask('0002') });
    await using _ = await createResponder({ sharedDir, app: 9, does: echoes() });
    expect(await tryAs(stranger, `echo x > ${sharedDir}/.rule-server/id`)).toBeNull();
    expect((await processes.api.execute(CALL)).status).toBe(200);
  });

  it('who could put another folder in the place of the workers’ own is told of, or no job is taken', async () => {
    await using processes = await withApi(database.url, 0o2775);
    const worker = await processes.addWorker({ untilReady: false });
    const told = () => worker.log.filter(({ level, msg }) => level >= 40 && /SHARED_DIR\b.*(sticky|3775)/s.test(msg));
    await vi.waitFor(() => expect(told()).not.toEqual([]), 60_000);
  });

  describe.each(['2770', '2775'])('a client’s directory with mode %s', (mode) => {
    it.each(['0022', '0077'])('its group reads a request and others do not, with umask %s', async (umask) => {
      await using processes = await withApi(database.url, 0o755);
      const { sharedDir } = processes;
      await processes.addWorker({ under: withUmask(umask) });
      await using client = await createResponder({ sharedDir, app: 9, does: () => {} });
      await chown(client.directory, 0, OF_APP_9);
      await chmod(client.directory, Number.parseInt(mode, 8));
      const call = processes.api.execute(CALL).catch(() => {}); // the test may be over before it ends
      const { requestPath } = await client.firstRequest();
      const found = await stat(requestPath);
      expect({ gid: found.gid, group: found.mode & 0o040, others: found.mode & 0o007 }).toEqual({
        ...{ gid: OF_APP_9, group: 0o040, others: 0 },
      });
      expect(await tryAs({ uid: 54_329, gid: OF_APP_9 }, `cat ${requestPath}`)).toContain('"number":7');
      expect(await tryAs({ uid: 54_327, gid: OF_APP_7 }, `cat ${requestPath}`)).toBeNull();
      await httpCall(executionAt(processes, client), { method: 'DELETE' });
      await call;
    });
  });

  it.each(WORKERS)(
    'a directory that $who, umask $umask, makes for it is as open as the directory of its app, and of its group',
    async ({ uid, groups, umask }) => {
      await using processes = await withApi(database.url, 0o755);
      const { sharedDir, api } = processes;
      const ofApp = join(sharedDir, 'mock/9');
      await ownedBy(ofApp, OF_APP_9);
      for (const path of [sharedDir, join(sharedDir, 'mock'), ofApp]) await chown(path, uid, (await stat(path)).gid);
      await using client = await createResponder({ sharedDir, app: 9, does: echoes() });
      await client.removeDirectory();
      await processes.addWorker({ under: [...withUmask(umask), ...asUser(uid, groups)] });
      expect((await api.execute(CALL)).status).toBe(200);
      const { mode, gid } = await stat(client.directory);
      expect({ mode: (mode & 0o7777).toString(8), gid }).toEqual({ mode: '2770', gid: OF_APP_9 });
      expect((await stat(join(sharedDir, 'mock'))).mode & 0o7777).toBe(0o755);
    },
  );

  it('a directory that a worker outside of the group of its app cannot make for it is not made, and the call says why', async () => {
    await using processes = await withApi(database.url, 0o755);
    const { sharedDir, api } = processes;
    const ofApp = join(sharedDir, 'mock/9');
    await ownedBy(ofApp, OF_APP_9);
    for (const path of [sharedDir, join(sharedDir, 'mock'), ofApp]) await chown(path, 54_400, (await stat(path)).gid);
    await using client = await createResponder({ sharedDir, app: 9, does: echoes() });
    await client.removeDirectory();
    await processes.addWorker({ under: [...withUmask('0022'), ...asUser(54_400, [54_400])] });
    const { status, json } = await api.execute(CALL);
    expect(json.error).toContain("the user of the worker is not in the group of its app's directory. It did not run.");
    expect({ status, mayHaveRun: json.mayHaveRun }).toEqual({ status: 503, mayHaveRun: false });
    expect(await readdir(ofApp)).toEqual([]);
  });

  it.each(['0022', '0077'])(
    'with a group for each app it gets nothing of another app, with umask %s',
    async (umask) => {
      await using processes = await withApi(database.url, 0o755);
      const { sharedDir, api } = processes;
      await layout(sharedDir, 7, OF_APP_7);
      await layout(sharedDir, 9, OF_APP_9);
      await processes.addWorker({ under: withUmask(umask) });
      await using client = await createResponder({ sharedDir, app: 9, does: echoes() });
      await chown(client.directory, 0, OF_APP_9);
      await chmod(client.directory, 0o2770);
      const saved = await httpCall(`${api.url}/${CASES}`, {
        method: 'PUT',
        headers: { 'if-none-match': '*' },
        body: 'app: 9\nruleId: 1\ncases:\n  - name: one\n    input: { number: 7 }\n',
      });
      expect(saved.status).toBeLessThan(300);
      expect((await api.execute(CALL)).status).toBe(200);

      const of7: Stranger = { uid: 54_327, gid: OF_APP_7 };
      const own = join(sharedDir, '.rule-server');
      const mock = join(sharedDir, 'mock/9');
      const attempts = {
        'reads saved cases': `cat ${own}/cases/9/*`,
        'lists claims': `ls ${own}/claims`,
        'lists answers': `ls ${own}/answers`,
        'removes claims': `rm -r ${own}/claims`,
        'changes the id': `echo x > ${own}/id`,
        'moves the workers’ folder': `mv ${own} ${sharedDir}/.gone`,
        'moves mock': `mv ${sharedDir}/mock ${sharedDir}/gone`,
        'moves the directory of app 9': `mv ${mock} ${sharedDir}/mock/gone`,
        'lists the clients of app 9': `ls ${mock}`,
        'answers in its place': `echo {} > ${client.directory}/${client.found[0]?.mockId}_result.json`,
        'registers for app 9': `echo {} > ${sharedDir}/clients/9/m_other.json`,
        'removes the client of app 9': `rm ${client.registrationPath}`,
      };
      const succeeded = [];
      for (const [what, line] of Object.entries(attempts)) if ((await tryAs(of7, line)) !== null) succeeded.push(what);
      expect(succeeded).toEqual([]);
      expect(await readdir(join(sharedDir, 'mock'))).toContain('9');
    },
  );
});

/** An API, and a shared directory of this mode whose `mock` and `clients` belong to the clients' group. */
async function withApi(queueUrl: string, mode: number): Promise<Processes> {
  const processes = await startProcesses({ queueUrl, settings, workers: 0 });
  const { sharedDir } = processes;
  await mkdir(join(sharedDir, 'clients'));
  const isShared = (mode & 0o020) !== 0;
  for (const name of ['mock', 'clients']) {
    if (isShared) await chown(join(sharedDir, name), 0, CLIENTS);
    await chmod(join(sharedDir, name), isShared ? 0o2775 : 0o755);
  }
  await chown(sharedDir, 0, isShared ? CLIENTS : 0);
  await chmod(sharedDir, mode);
  return processes;
}

/** As an operator gives an app to a group. */
async function layout(sharedDir: string, app: number, gid: number): Promise<void> {
  const options = ['--app', String(app), '--group', String(gid), '--shared-dir', sharedDir];
  const { code, err } = await runCli('layout', ...options);
  expect(code, err).toBe(0);
}

async function ownedBy(path: string, gid: number): Promise<void> {
  await mkdir(path, { recursive: true });
  await chown(path, 0, gid);
  await chmod(path, 0o2770);
}

const executionAt = ({ api }: Processes, { found }: Responder) =>
  `${api.url}/rule-server/mock/executions/${found[0]?.mockId}`;

async function stateOf(processes: Processes, client: Responder): Promise<unknown> {
  return (await httpCall(executionAt(processes, client))).json.state;
}

const modeOf = ({ mode }: { mode: number }) => (mode & 0o777).toString(8);
