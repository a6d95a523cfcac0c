import { mkdir, readdir, readFile, rename, rm, symlink, truncate, utimes, writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { causeOf } from '../../../src/shared/reasons/causes.ts';
import { createMemoryDirectory } from '../../../src/shared/store/registered-directory.ts';
import { createClients } from '../../../src/worker/clients/clients.ts';
import { createPickUps } from '../../../src/worker/clients/pick-ups.ts';
import { createPublishedLeaves } from '../../../src/worker/clients/registration.ts';
import { ForeignPath } from '../../../src/worker/files/client-directory.ts';
import { createSharedDirectory } from '../../../src/worker/files/shared-directory.ts';
import { createSweepGoneClients } from '../../../src/worker/upkeep/sweep.ts';
import { eventually } from '../../support/eventually.ts';
import { registrationText } from '../../support/registrations.ts';
import { createRuleFiles } from '../../support/rule-files.ts';

const CLIENT_TIMEOUT_MS = 30_000;
let files: Awaited<ReturnType<typeof createRuleFiles>>;
beforeEach(async () => {
  files = await createRuleFiles();
  await mkdir(files.pathOf('mock'));
});
afterEach(() => files.remove());

const pickUps = () => createPickUps({ sharedDir: files.sharedDir, now: Date.now, log: pino({ level: 'silent' }) });

async function open(now?: () => number) {
  const sharedDirectory = createSharedDirectory({ sharedDir: files.sharedDir, registered: createMemoryDirectory() });
  await sharedDirectory.check();
  return createClients({
    sharedDirectory,
    pickUps: pickUps(),
    clientTimeoutMs: CLIENT_TIMEOUT_MS,
    ...(now && { now }),
  });
}

type Members = { lane?: string; app?: number; beat?: object | null; registration?: string; folder?: string };

/** A client as the published SDKs register; `beat` null: it has not beaten. */
async function register(address: string, { lane, app = 7, beat = {}, registration }: Members = {}): Promise<void> {
  const name = address.replace(/[:/]/g, '_');
  const home = ['clients', 7, ...(lane === undefined ? [] : ['lane', lane])];
  const now = Date.now();
  const members = { address, app, lane, lastHeartbeat: now, startTime: now, loadedVersion: 3 };
  await files.write(registration ?? JSON.stringify(members), ...home, `m_${name}.json`);
  const heartbeat = JSON.stringify({ lastHeartbeat: now, loadedVersion: 4, ...beat });
  if (beat) await files.write(heartbeat, ...home, `b_${name}.json`);
}

const states = async (clients: Awaited<ReturnType<typeof open>>) =>
  Object.fromEntries((await clients.list(7, { fresh: true })).map(({ address, online }) => [address, online]));

async function ageFile(path: string, ms: number): Promise<void> {
  const time = new Date(Date.now() - ms);
  await utimes(path, time, time);
}

describe('who is there', () => {
  test('an app nobody has heard of has no clients', async () => {
    const clients = await open();
    expect(await clients.roster(7)).toEqual({ clients: [], skipped: [] });
  });

  test('clients of the trunk, of lanes, and directories nobody registered are told apart', async () => {
    await register('trunk');
    await register('host:1/app', { lane: 'beta' });
    await mkdir(files.pathOf('mock/7/trunk'), { recursive: true });
    await mkdir(files.pathOf('mock/7/host_1_app'), { recursive: true });
    await mkdir(files.pathOf('mock/7/shell'), { recursive: true });
    const found = await (await open()).list(7);
    expect(
      found.map(({ address, lane, registered, directoryName }) => [address, lane, registered, directoryName]),
    ).toEqual([
      ['trunk', null, true, 'trunk'],
      ['host:1/app', 'beta', true, 'host_1_app'],
      ['shell', null, false, 'shell'],
    ]);
  });

  test.each(['java', 'go', 'python'] as const)('the %s SDK is known by the way it writes', async (sdk) => {
    const text = await registrationText(sdk);
    const { address } = JSON.parse(text);
    await register(address, { registration: text });
    const [client] = await (await open()).list(7);
    expect(client).toMatchObject({ address, sdk, dialect: 'ice', online: true, loadedVersion: '4' });
    expect(client?.leafNodes.length).toBeGreaterThan(5);
  });

  test('a client of our own dialect is one that says so', async () => {
    await register('ours', {
      registration: '{"address":"ours","app":7,"dialect":"rule","sdk":"node","startTime":1,"loadedVersion":1}',
    });
    await register('shell', { registration: '{"address":"shell","app":7,"dialect":"rule"}' });
    const found = await (await open()).list(7);
    expect(found.map(({ address, dialect, sdk }) => [address, dialect, sdk]).toSorted()).toEqual([
      ['ours', 'rule', 'node'],
      ['shell', 'rule', 'unknown'],
    ]);
  });

  test('clients of one build share what they publish', async () => {
    const text = await registrationText('python');
    const { address } = JSON.parse(text);
    for (const name of ['a', 'b']) await register(name, { registration: text.replaceAll(address, name) });
    const [a, b] = await (await open()).list(7);
    expect(a?.leafNodes).toBe(b?.leafNodes);
  });

  test('a client made a moment ago is in a fresh listing, and one that left is not', async () => {
    const clients = await open();
    expect(await states(clients)).toEqual({});
    await register('new');
    expect(await clients.list(7)).toEqual([]);
    expect(await states(clients)).toEqual({ new: true });
    const [client] = await clients.list(7);
    await rm(files.pathOf('clients/7/m_new.json'));
    expect(client && (await clients.isStillThere(client))).toBe(false);
    expect(await states(clients)).toEqual({});
  });

  test('a directory that was made for an unknown address is nobody until somebody picks up from it', async () => {
    await files.write('', 'mock/7/typo/.made-by-rule-server');
    const clients = await open();
    expect(await states(clients)).toEqual({});
    await rm(files.pathOf('mock/7/typo/.made-by-rule-server'));
    expect(await states(clients)).toEqual({ typo: true });
  });
});

describe('very many', () => {
  const COUNT = 1500;

  test('others get their turns while they are listed', async () => {
    for (let at = 0; at < COUNT; at++) await register(`client-${at}`);
    const clients = await open();
    const startedAt = performance.now();
    let [turnedAt, longest, isOver] = [startedAt, 0, false];
    const turn = () => {
      longest = Math.max(longest, performance.now() - turnedAt);
      turnedAt = performance.now();
      if (!isOver) setImmediate(turn);
    };
    setImmediate(turn);
    expect(await clients.list(7)).toHaveLength(COUNT);
    isOver = true;
    turn();
    expect(longest).toBeLessThan((performance.now() - startedAt) / 2);
  });

  test('a listing that took long is good for longer', async () => {
    await register('one');
    let now = 0;
    const clients = await open(() => now);
    const count = async () => (await clients.list(7)).length;
    const first = count();
    now = 1500; // it took so long
    expect(await first).toBe(1);
    await register('two');
    now = 2900;
    await count(); // would list again beside the answer
    await delay(200);
    expect(await count()).toBe(1);
    now = 3100;
    await eventually(async () => expect(await count()).toBe(2));
  });
});

describe('who is online', () => {
  test('one without a heartbeat is not', async () => {
    await register('silent', { beat: null });
    expect(await states(await open())).toEqual({ silent: false });
  });

  test('one whose heartbeat is old by both clocks is not', async () => {
    await register('dead', { beat: { lastHeartbeat: Date.now() - CLIENT_TIMEOUT_MS - 1 } });
    await ageFile(files.pathOf('clients/7/b_dead.json'), CLIENT_TIMEOUT_MS + 1);
    expect(await states(await open())).toEqual({ dead: false });
  });

  test.each([
    ['an hour ahead', 3_600_000],
    ['an hour behind', -3_600_000],
  ])('one whose clock is %s is, once its heartbeat was seen to change', async (_, aheadMs) => {
    const beat = { lastHeartbeat: Date.now() + aheadMs };
    await register('wrong-clock', { beat });
    const clients = await open();
    expect(await states(clients)).toEqual({ 'wrong-clock': false });
    await register('wrong-clock', { beat });
    expect(await states(clients)).toEqual({ 'wrong-clock': true });
  });

  test('one that died with its clock ahead is not, however its last heartbeat looks', async () => {
    await register('dead', { beat: { lastHeartbeat: Date.now() + 3_600_000 } });
    await ageFile(files.pathOf('clients/7/b_dead.json'), 2 * CLIENT_TIMEOUT_MS);
    expect(await states(await open())).toEqual({ dead: false });
  });

  test('half a heartbeat leaves the one before it standing', async () => {
    await register('shell');
    const clients = await open();
    expect(await states(clients)).toEqual({ shell: true });
    await writeFile(files.pathOf('clients/7/b_shell.json'), '{"lastHeart');
    expect(await states(clients)).toEqual({ shell: true });
  });

  test('half a registration leaves the one before it standing', async () => {
    await register('shell');
    const clients = await open();
    expect(await states(clients)).toEqual({ shell: true });
    await truncate(files.pathOf('clients/7/m_shell.json'), 10);
    expect(await states(clients)).toEqual({ shell: true });
  });
});

describe('what is passed over and named', () => {
  const skippedIn = async () =>
    (await (await open()).roster(7)).skipped.map(({ file, fault }) => `${file} ${causeOf(fault)}`);

  test.each([
    ['half a registration', '{"address":"x","ap', 'm_x.json is not a registration'],
    ['one without an address', '{"app":7}', 'm_x.json is not a registration'],
    ['one of another app', '{"address":"x","app":8}', 'm_x.json says that it is of app 8'],
    ['one under another name', '{"address":"y","app":7}', 'm_x.json is not named after its address: m_y.json'],
    ['an address that leads out', '{"address":"../x","app":7}', 'm_x.json is not named after its address: m_../x.json'],
  ])('%s', async (_, registration, said) => {
    await register('x', { registration });
    await mkdir(files.pathOf('mock/7/x'), { recursive: true });
    expect(await skippedIn()).toEqual([said]);
    expect(await states(await open()), 'its directory is claimed, so it is not a client of its own').toEqual({});
  });

  test('a link in the place of a registration, and what it leads to is not read', async () => {
    await files.write('{"address":"x","app":7}', 'elsewhere/m_x.json');
    await mkdir(files.pathOf('clients/7'), { recursive: true });
    await symlink(files.pathOf('elsewhere/m_x.json'), files.pathOf('clients/7/m_x.json'));
    expect(await skippedIn()).toEqual(['m_x.json is a link']);
  });

  test('a registration larger than 8 MiB', async () => {
    await register('x', { registration: `{"address":"x","app":7,"a":"${'a'.repeat(8 * 1024 * 1024)}"}` });
    expect(await skippedIn()).toEqual(['m_x.json is larger than 8388608 bytes']);
  });

  test('a link in the place of a heartbeat makes nobody online', async () => {
    await register('x', { beat: null });
    await files.write(JSON.stringify({ lastHeartbeat: Date.now() }), 'elsewhere/b_x.json');
    await symlink(files.pathOf('elsewhere/b_x.json'), files.pathOf('clients/7/b_x.json'));
    expect(await states(await open())).toEqual({ x: false });
  });
});

describe('links are never followed', () => {
  test.each(['clients', 'clients/7', 'mock', 'mock/7'])('%s that is a link is an error that says so', async (path) => {
    const clients = await open();
    await rm(files.pathOf('mock'), { recursive: true });
    await mkdir(files.pathOf('elsewhere/7/m_x.json'), { recursive: true });
    await mkdir(files.pathOf(path, '..'), { recursive: true });
    await symlink(files.pathOf('elsewhere'), files.pathOf(path));
    await expect(clients.list(7)).rejects.toThrow(ForeignPath);
  });

  test.each(['lane', 'lane/beta'])('clients behind clients/7/%s are not there', async (path) => {
    await register('trunk');
    await register('hidden', { lane: 'beta' });
    await rename(files.pathOf('clients/7', path), files.pathOf('elsewhere'));
    await symlink(files.pathOf('elsewhere'), files.pathOf('clients/7', path));
    expect(await states(await open())).toEqual({ trunk: true });
  });

  test('a lane whose name leads somewhere is no lane', async () => {
    await register('trunk');
    await mkdir(files.pathOf('clients/7/lane/.hidden'), { recursive: true });
    await files.write('{"address":"x","app":7}', 'clients/7/lane/.hidden/m_x.json');
    expect(await states(await open())).toEqual({ trunk: true });
  });

  test('a link in the place of the clock empties no file elsewhere', async () => {
    await register('x');
    await files.write('precious', 'precious.txt');
    const clients = await open();
    await rm(files.pathOf('.rule-server/clock'), { force: true });
    await symlink(files.pathOf('precious.txt'), files.pathOf('.rule-server/clock'));
    expect(await states(clients)).toEqual({ x: true });
    expect(await readFile(files.pathOf('precious.txt'), 'utf8')).toBe('precious');
  });
});

test('whatever stands in registrations and heartbeats, listing them gives an answer', async () => {
  const clients = await open();
  const members = fc.record(
    {
      address: fc.oneof(fc.constant('x'), fc.jsonValue()),
      app: fc.oneof(fc.constant(7), fc.jsonValue()),
      lane: fc.jsonValue(),
      startTime: fc.jsonValue(),
      loadedVersion: fc.jsonValue(),
      lastHeartbeat: fc.oneof(fc.integer(), fc.jsonValue()),
      leafNodes: fc.oneof(fc.array(fc.jsonValue()), fc.jsonValue()),
    },
    { requiredKeys: [] },
  );
  const text = fc.oneof(
    members.map((value) => JSON.stringify(value)),
    fc.json(),
    fc.string(),
    fc.constant('{"lastHeartbeat":1e400,"loadedVersion":-1e400}'),
  );
  await fc.assert(
    fc.asyncProperty(text, text, async (registration, heartbeat) => {
      await files.write(registration, 'clients/7/m_x.json');
      await files.write(heartbeat, 'clients/7/b_x.json');
      expect((await clients.roster(7, { fresh: true })).clients.length).toBeLessThan(2);
    }),
    { numRuns: 200 },
  );
});

test('while a listing is being made again, the last one answers', async () => {
  await register('a');
  let elapsedMs = 0;
  const clients = await open(() => elapsedMs);
  const addresses = async () => (await clients.list(7)).map(({ address }) => address).toSorted();
  expect(await addresses()).toEqual(['a']);
  await register('b');
  elapsedMs = 999;
  expect(await addresses()).toEqual(['a']);
  elapsedMs = 2000;
  expect(await addresses()).toEqual(['a']);
  await eventually(async () => expect(await addresses()).toEqual(['a', 'b']));
  await register('c');
  elapsedMs = 6000;
  expect(await addresses()).toEqual(['a', 'b', 'c']);
});

test.each([
  ['no time is used for 3 s', 0, 3000],
  ['700 ms is used for 3 s', 700, 3000],
  ['2 s is used for four times as long', 2000, 8000],
  ['3.5 s is used for four times as long', 3500, 14_000],
  ['4 s is not used for longer than half of CLIENT_TIMEOUT_MS', 4000, CLIENT_TIMEOUT_MS / 2],
  ['20 s is not either', 20_000, CLIENT_TIMEOUT_MS / 2],
])('a listing that took %s, and then calls wait for a new one', async (_, tookMs, usedForMs) => {
  await register('a');
  const listedAfter = async (ageMs: number) => {
    await rm(files.pathOf('clients/7/m_b.json'), { force: true });
    let elapsedMs = 0;
    const clients = await open(() => elapsedMs);
    const first = clients.list(7);
    elapsedMs = tookMs;
    expect(await first).toHaveLength(1);
    await register('b');
    elapsedMs = ageMs;
    return (await clients.list(7)).length;
  };
  // Its age counts from its beginning: one that took longer than it may be used is too old when it is there.
  if (tookMs < usedForMs) expect(await listedAfter(usedForMs - 1)).toBe(1);
  expect(await listedAfter(Math.max(usedForMs, tookMs))).toBe(2);
});

test('what clients publish beyond the room there is for it is not known', async () => {
  const leavesOf = createPublishedLeaves({ maxCharacters: 20 });
  const kept = leavesOf('[{"clazz":"a"}]');
  expect(kept).toHaveLength(1);
  expect(leavesOf('[{"clazz":"b"}]')).toBeNull();
  expect(leavesOf('[{"clazz":"a"}]')).toBe(kept);
});

test('the directory of a client that has not beaten for a day is removed, unless somebody has something in it', async () => {
  const day = 24 * 60 * 60_000;
  for (const [name, ms] of Object.entries({ gone: day + 1000, used: day + 1000, away: day - 60_000, here: 0 })) {
    await register(name, { beat: { lastHeartbeat: Date.now() - ms } });
    await ageFile(files.pathOf('clients/7', `b_${name}.json`), ms);
    await mkdir(files.pathOf('mock/7', name), { recursive: true });
  }
  await files.write('', 'mock/7/used/notes.txt');
  await mkdir(files.pathOf('mock/7/shell'));
  const sweep = createSweepGoneClients({ sharedDir: files.sharedDir, clients: await open(), pickUps: pickUps() });
  expect(await sweep()).toBe(1);
  expect((await readdir(files.pathOf('mock/7'))).sort()).toEqual(['away', 'here', 'shell', 'used']);
  expect(await readdir(files.pathOf('clients/7'))).toContain('m_gone.json');
});
