import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import type { Time } from '../../../src/shared/ports/time.ts';
import { parseHeartbeat, parseRegistration } from '../../../src/worker/clients/registration.ts';
import { dialects, sdks } from '../../../src/worker/files/dialects/dialects.ts';
import { judgeResult } from '../../../src/worker/files/results/result-file.ts';
import {
  answerOf,
  type Behaviour,
  bodyOf,
  type ClientDisk,
  createCleaner,
  createClient,
  garbageOf,
  type Sdk,
} from './clients.ts';
import { createDisk } from './disk.ts';
import { type Asked, type Gate, openGate } from './gate.ts';

const ID = '6f9619ff-8b86-4d01-b42d-00cf4fc964ff';
const SECOND = '7f9619ff-8b86-4d01-b42d-00cf4fc964ff';
const START = 1_800_000_000_000;
const ROOT = '/shared';
const HOME = `${ROOT}/clients/7`;
const MOCK = `${ROOT}/mock/7`;
const every: Sdk[] = ['node', 'java', 'go', 'python'];
const published: Sdk[] = ['java', 'go', 'python'];

test.each(every)('%s registers so that the service knows its SDK, and beats', async (sdk) => {
  const world = createWorld();
  const client = world.client(sdk, { scansEveryMs: 2000 });
  await world.pass(1);
  const registration = parseRegistration(world.read(`${HOME}/m_c.json`), () => []);
  expect(registration).toMatchObject({ app: 7, address: 'c', lane: null, sdk, dialect: sdks[sdk].dialect });
  expect(world.read(`${HOME}/_latest.json`)).toBe(world.read(`${HOME}/m_c.json`));
  expect(parseHeartbeat(world.read(client.heartbeatPath ?? ''))?.lastHeartbeat).toBe(START);
  await world.pass(12_500);
  const beatAt = parseHeartbeat(world.read(`${HOME}/b_c.json`))?.lastHeartbeat ?? 0;
  expect(beatAt - START).toBeGreaterThanOrEqual(8000);
});

test('registers in its lane', async () => {
  const world = createWorld();
  world.client('java', {}, { lane: 'blue' });
  await world.pass(1);
  expect(parseRegistration(world.read(`${HOME}/lane/blue/m_c.json`), () => [])?.lane).toBe('blue');
});

test('published SDKs make safe names of their addresses', async () => {
  const world = createWorld();
  expect(world.client('java', {}, { address: 'fe80::1/7' }).directory).toBe(`${MOCK}/fe80__1_7`);
  await world.pass(1);
  expect(parseRegistration(world.read(`${HOME}/m_fe80__1_7.json`), () => [])?.address).toBe('fe80::1/7');
});

test.each(every)('%s runs a request once, after it has deleted it, and answers with an answer', async (sdk) => {
  const world = createWorld();
  const client = world.client(sdk, { runsMs: 100 });
  await world.pass(1);
  world.request(client.directory, ID);
  await world.until(() => world.runs.length === 1);
  expect(world.disk.exists(`${client.directory}/${ID}.json`)).toBe(false);
  expect(world.disk.exists(`${client.directory}/${ID}_result.json`)).toBe(false);
  await world.pass(20_000);
  expect(world.runs).toEqual([ID]);
  expect(world.texts).toEqual([requestText(ID)]);
  expect(world.disk.readdir(client.directory)).toEqual([`${ID}_result.json`]);
  expect(world.read(`${client.directory}/${ID}_result.json`)).toBe(answerOf(ID, sdk));
  expect(judged(answerOf(ID, sdk), sdk)).toMatchObject({ kind: 'answer', success: true, body: bodyOf(ID, sdk) });
});

test.each(every)('%s writes its answer under a temporary name of its own', async (sdk) => {
  const world = createWorld();
  const client = world.client(sdk, { diesAt: 'finish' });
  await world.pass(1);
  world.request(client.directory, ID);
  await world.pass(20_000);
  const draft = sdk === 'node' ? /^\.6f9619ff-.*_result\.json\.[0-9a-f]{8}\.tmp$/ : /^6f9619ff-.*_result\.json\.tmp$/;
  expect(world.disk.readdir(client.directory)).toEqual([expect.stringMatching(draft)]);
});

test.each(every)('%s beats while it runs only if it is ours', async (sdk) => {
  const world = createWorld();
  const client = world.client(sdk, { runsMs: 60_000 });
  await world.pass(1);
  world.request(client.directory, ID);
  await world.until(() => world.runs.length === 1);
  const before = world.read(`${HOME}/b_c.json`);
  await world.pass(50_000);
  expect(world.read(`${HOME}/b_c.json`) !== before).toBe(sdk === 'node');
  expect(dialects[sdk === 'node' ? 'rule' : 'ice'].isSilentWhileRunning).toBe(sdk !== 'node');
});

test.each(every)('%s runs several requests at once only if it is ours', async (sdk) => {
  const world = createWorld();
  const client = world.client(sdk, { runsMs: 1000 });
  await world.pass(1);
  world.request(client.directory, SECOND);
  world.request(client.directory, ID);
  const listed = world.disk.readdir(client.directory).map((name) => name.replace('.json', ''));
  await world.until(() => world.runs.length > 0);
  await world.pass(1);
  const inOrder = sdk === 'go' ? [ID, SECOND] : listed; // by name, or as listed
  expect(world.runs).toEqual(sdk === 'node' ? inOrder : inOrder.slice(0, 1));
  await world.pass(5000);
  expect(world.runs.toSorted()).toEqual([ID, SECOND]);
});

test.each(every)('%s runs a request that was taken back after it was read only if it is Go', async (sdk) => {
  const world = createWorld();
  const client = world.client(sdk);
  world.before('unlink', (disk, [path = '']) => disk.rename(path, `${client.directory}/.${ID}.withdrawn.tmp`));
  await world.pass(1);
  world.request(client.directory, ID);
  await world.pass(20_000);
  expect(world.runs).toEqual(sdks[sdk].givesUp ? [] : [ID]);
  expect(sdks[sdk].givesUp).toBe(sdk !== 'go');
});

test.each(every)('%s makes its directory again only if it is ours', async (sdk) => {
  const world = createWorld();
  const client = world.client(sdk);
  await world.pass(5000);
  if (world.disk.exists(client.directory)) world.disk.rmdir(client.directory);
  await world.pass(5000);
  expect(world.disk.exists(client.directory)).toBe(sdk === 'node');
});

test.each(every)('%s loses an answer when its directory goes while it runs, unless it tries again', async (sdk) => {
  const world = createWorld();
  const client = world.client(sdk, { runsMs: 3000 });
  await world.pass(1);
  world.request(client.directory, ID);
  await world.until(() => world.runs.length === 1);
  world.disk.rmdir(client.directory);
  await world.pass(10_000);
  expect(world.disk.exists(`${client.directory}/${ID}_result.json`)).toBe(sdk === 'node');
  expect(world.runs).toEqual([ID]);
});

test.each(every)('%s registers again when its registration was removed', async (sdk) => {
  const world = createWorld();
  world.client(sdk);
  await world.pass(1);
  world.disk.unlink(`${HOME}/m_c.json`);
  world.disk.unlink(`${HOME}/_latest.json`);
  await world.pass(15_000);
  expect(world.disk.exists(`${HOME}/_latest.json`)).toBe(sdk !== 'node');
  expect(parseRegistration(world.read(`${HOME}/m_c.json`), () => [])?.sdk).toBe(sdk);
});

test.each(every)('%s leaves: its requests, its registration, its heartbeat', async (sdk) => {
  const world = createWorld();
  const client = world.client(sdk);
  await world.pass(1);
  world.request(client.directory, ID);
  client.leave();
  await world.pass(10_000);
  await expect(world.ended).resolves.toBe('left');
  expect(world.disk.exists(client.directory)).toBe(false);
  expect(world.disk.readdir(HOME)).toEqual(['_latest.json']);
  expect(world.runs).toEqual([]);
});

test.each(every)('%s that leaves while it runs', async (sdk) => {
  const world = createWorld();
  const client = world.client(sdk, { runsMs: 8000, leavesBefore: 'run' });
  await world.pass(1);
  world.request(client.directory, ID);
  await world.until(() => world.runs.length === 1);
  await world.pass(7000);
  // Java and Python do not wait for it that long.
  expect(world.disk.exists(`${HOME}/m_c.json`)).toBe(sdk === 'node' || sdk === 'go');
  await world.pass(10_000);
  expect(world.disk.exists(`${HOME}/m_c.json`)).toBe(false);
  expect(world.disk.exists(client.directory)).toBe(false);
  const wrote = world.asked.some(({ name, on }) => name === 'rename' && on[1]?.endsWith(`${ID}_result.json`));
  expect(wrote).toBe(sdk === 'node' || sdk === 'go');
});

const steps = ['register', 'scan', 'read', 'delete', 'run', 'write', 'finish', 'done', 'beat'] as const;

test.each(steps)('dies at the step %s: nothing follows', async (step) => {
  const world = createWorld();
  const client = world.client('python', { diesAt: step });
  world.makeDirectory(client.directory);
  world.request(client.directory, ID);
  await world.pass(15_000);
  await expect(world.ended).resolves.toBe('died');
  const count = world.asked.length;
  const at = (other: (typeof steps)[number]) => steps.indexOf(other);
  expect(world.runs).toEqual(at(step) > at('run') ? [ID] : []);
  expect(world.disk.exists(`${client.directory}/${ID}.json`)).toBe(at(step) <= at('delete'));
  expect(world.disk.exists(`${client.directory}/${ID}_result.json`)).toBe(at(step) >= at('done'));
  await world.pass(60_000);
  expect(world.asked.length).toBe(count);
});

test('a client that is killed while it runs asks for nothing more, whatever it was told by then', async () => {
  const world = createWorld();
  const client = world.client('go', { runsMs: 0 }, { onRun: () => client.die() });
  await world.pass(1);
  world.request(client.directory, ID);
  world.request(client.directory, SECOND);
  await world.pass(10_000);
  expect(world.runs).toEqual([ID]);
  expect(world.asked.at(-1)).toMatchObject({ name: 'unlink', on: [`${client.directory}/${ID}.json`] });
});

test('ours waits a little for its answers to be read before it leaves', async () => {
  const world = createWorld();
  const client = world.client('node', { leavesBefore: 'done' });
  const path = `${client.directory}/${ID}_result.json`;
  await world.pass(1);
  world.request(client.directory, ID);
  await world.until(() => world.disk.exists(path));
  await world.pass(1500);
  expect(world.disk.exists(path)).toBe(true);
  await world.pass(1000);
  expect(world.disk.exists(client.directory)).toBe(false);
});

test('ours removes the draft of an answer that it cannot put in place, and tries again', async () => {
  const world = createWorld();
  const client = world.client('node');
  await world.pass(1);
  world.before('rename', () => {
    throw Object.assign(new Error('no'), { code: 'EIO' });
  });
  world.disk.writeFile(`${client.directory}/${ID}.json`, requestText(ID));
  await world.pass(5000);
  expect(world.disk.readdir(client.directory)).toEqual([`${ID}_result.json`]);
  expect(world.read(`${client.directory}/${ID}_result.json`)).toBe(answerOf(ID, 'node'));
});

test('a request that is met again while it runs is not run again', async () => {
  const world = createWorld();
  const client = world.client('node', { deletes: 'last', runsMs: 5000 });
  await world.pass(1);
  world.request(client.directory, ID);
  await world.pass(20_000);
  expect(world.runs).toEqual([ID]);
});

test('deletes a request last', async () => {
  const world = createWorld();
  const client = world.client('node', { deletes: 'last', diesAt: 'done' });
  await world.pass(1);
  world.request(client.directory, ID);
  await world.until(() => world.disk.exists(`${client.directory}/${ID}_result.json`));
  await world.pass(5000);
  const changes = world.asked.filter(({ writes }) => writes).slice(-3);
  expect(changes.map(({ name }) => name)).toEqual(['writeFile', 'rename', 'unlink']);
  expect(world.disk.exists(`${client.directory}/${ID}.json`)).toBe(false);
  expect(world.runs).toEqual([ID]);
});

test('writes in place', async () => {
  const world = createWorld();
  const client = world.client('node', { writes: 'in-place' });
  await world.pass(1);
  world.request(client.directory, ID);
  await world.pass(5000);
  expect(world.read(`${client.directory}/${ID}_result.json`)).toBe(answerOf(ID, 'node'));
  expect(world.asked.filter(({ name, on }) => name === 'rename' && on[1]?.includes('_result'))).toEqual([]);
});

test.each(every)('%s writes in two parts, of which the first is the beginning of an answer', async (sdk) => {
  const world = createWorld();
  const client = world.client(sdk, { writes: 'in-two-parts', betweenMs: 1000 });
  const path = `${client.directory}/${ID}_result.json`;
  await world.pass(1);
  world.request(client.directory, ID);
  await world.until(() => world.disk.exists(path));
  expect(judged(world.read(path), sdk).kind).toBe('incomplete');
  await world.pass(1500);
  expect(world.read(path)).toBe(answerOf(ID, sdk));
});

test('answers twice', async () => {
  const world = createWorld();
  const client = world.client('java', { answers: 'twice', betweenMs: 3000 });
  const path = `${client.directory}/${ID}_result.json`;
  await world.pass(1);
  world.request(client.directory, ID);
  await world.until(() => world.disk.exists(path));
  world.disk.unlink(path);
  await world.pass(3500);
  expect(world.read(path)).toBe(answerOf(ID, 'java'));
  expect(world.runs).toEqual([ID]);
});

test('answers with garbage', async () => {
  const world = createWorld();
  const client = world.client('java', { answers: 'garbage' });
  await world.pass(1);
  world.request(client.directory, ID);
  await world.pass(5000);
  expect(world.read(`${client.directory}/${ID}_result.json`)).toBe(garbageOf(ID));
  expect(judged(garbageOf(ID), 'java').kind).toBe('wrong');
});

test.each(published)('%s answers with null, and only Go ends with it', async (sdk) => {
  const world = createWorld();
  const client = world.client(sdk, { answers: 'null' });
  await world.pass(1);
  world.request(client.directory, ID);
  await world.pass(5000);
  expect(judged(world.read(`${client.directory}/${ID}_result.json`), sdk)).toMatchObject({ clientDied: true });
  world.request(client.directory, SECOND);
  await world.pass(5000);
  expect(world.runs).toEqual(sdk === 'go' ? [ID] : [ID, SECOND]);
});

test('answers late, or never', async () => {
  const world = createWorld();
  const late = world.client('go', { answers: 'late', lateMs: 70_000 }, { address: 'late' });
  const never = world.client('go', { answers: 'never' }, { address: 'never' });
  await world.pass(1);
  for (const { directory } of [late, never]) world.request(directory, ID);
  await world.pass(65_000);
  expect(world.runs).toEqual([ID, ID]);
  expect(world.disk.exists(`${late.directory}/${ID}_result.json`)).toBe(false);
  await world.pass(20_000);
  expect(world.read(`${late.directory}/${ID}_result.json`)).toBe(answerOf(ID, 'go'));
  expect(world.disk.readdir(never.directory)).toEqual([]);
});

test.each(every)('%s can be there from the beginning', async (sdk) => {
  const [early, usual] = [createWorld(), createWorld()];
  usual.client(sdk);
  await usual.pass(1);
  const client = early.client(sdk, {}, { established: true });
  expect(early.read(`${HOME}/m_c.json`)).toBe(usual.read(`${HOME}/m_c.json`));
  expect(early.read(`${HOME}/b_c.json`)).toBe(usual.read(`${HOME}/b_c.json`));
  early.request(client.directory, ID);
  await early.pass(5000);
  expect(early.asked.filter(({ name, on }) => name === 'mkdir' || on.some((path) => path.includes('m_c')))).toEqual([]);
  expect(early.runs).toEqual([ID]);
});

test('a client without a registration is its directory and nothing else', async () => {
  const world = createWorld();
  const client = world.client('node', {}, { registered: false });
  await world.pass(15_000);
  expect(client.registrationPath).toBe(null);
  expect(world.disk.exists(HOME)).toBe(false);
  world.request(client.directory, ID);
  await world.pass(5000);
  expect(world.runs).toEqual([ID]);
});

test('a mistake in a test is not taken for an error of the disk', async () => {
  const world = createWorld();
  const client = world.client('go', {}, { onRun: () => expect.fail('ran twice') });
  await world.pass(1);
  world.request(client.directory, ID);
  const failure = expect(world.ended).rejects.toThrow('ran twice');
  await world.pass(5000);
  await failure;
});

test('the cleaner removes an empty directory under a running rule, but not one with a mark in it', async () => {
  const world = createWorld();
  const client = world.client('java', { runsMs: 5000 });
  await world.pass(1);
  world.request(client.directory, ID);
  await world.until(() => world.runs.length === 1);
  world.disk.writeFile(`${client.directory}/.${ID}.open`, '');
  await world.cleaner().clean();
  expect(world.disk.exists(client.directory)).toBe(true);
  world.disk.unlink(`${client.directory}/.${ID}.open`);
  await world.cleaner().clean();
  expect(world.disk.exists(client.directory)).toBe(false);
});

test('the cleaner takes a client that runs for long for dead, unless it is the last of the trunk', async () => {
  const world = createWorld();
  const busy = world.client('java', { runsMs: 60_000 }, { address: 'busy' });
  await world.pass(1);
  world.request(busy.directory, ID);
  await world.until(() => world.runs.length === 1);
  world.disk.writeFile(`${busy.directory}/.${ID}.open`, '');
  await world.pass(45_000);
  await world.cleaner().clean();
  expect(world.disk.exists(`${HOME}/m_busy.json`)).toBe(true);
  world.client('java', {}, { address: 'other' });
  await world.pass(1);
  await world.cleaner().clean();
  expect(world.disk.readdir(HOME).toSorted()).toEqual(['_latest.json', 'b_other.json', 'm_other.json']);
  expect(world.disk.exists(busy.directory)).toBe(false);
  await world.pass(25_000);
  expect(world.disk.exists(`${HOME}/m_busy.json`)).toBe(true); // it beats again, and registers with it
});

test('the cleaner removes old requests and results, and directories that no heartbeat belongs to', async () => {
  const world = createWorld();
  const client = world.client('java', { scansEveryMs: 10_000_000, beatsEveryMs: 10_000_000 });
  await world.pass(1);
  world.request(client.directory, ID);
  world.disk.writeFile(`${client.directory}/${SECOND}_result.json`, answerOf(SECOND, 'java'));
  world.disk.writeFile(`${client.directory}/broken.json`, '{');
  world.makeDirectory(`${MOCK}/stranger`);
  world.disk.writeFile(`${MOCK}/stranger/x.txt`, 'x');
  await world.pass(110_000);
  await world.cleaner().clean();
  expect(world.disk.readdir(client.directory)).toHaveLength(3);
  expect(world.disk.exists(`${MOCK}/stranger`)).toBe(false);
  await world.pass(15_000);
  await world.cleaner().clean();
  expect(world.disk.readdir(client.directory)).toEqual(['broken.json']);
});

test('the cleaner removes the last silent client of a lane', async () => {
  const world = createWorld();
  const client = world.client('java', {}, { lane: 'blue' });
  await world.pass(1);
  client.die();
  await world.pass(31_000);
  await world.cleaner().clean();
  expect(world.disk.readdir(`${HOME}/lane/blue`)).toEqual(['_latest.json']);
  world.disk.unlink(`${HOME}/lane/blue/_latest.json`);
  await world.cleaner().clean();
  expect(world.disk.exists(`${HOME}/lane/blue`)).toBe(false);
});

test('the cleaner comes round', async () => {
  const world = createWorld();
  world.makeDirectory(`${MOCK}/empty`);
  const cleaner = world.cleaner();
  const stopped = cleaner.start();
  await world.pass(29_000);
  expect(world.disk.exists(`${MOCK}/empty`)).toBe(true);
  await world.pass(2000);
  expect(world.disk.exists(`${MOCK}/empty`)).toBe(false);
  cleaner.stop();
  await stopped;
});

test('each operation passes the gate by itself, by its name and paths', async () => {
  const world = createWorld();
  const client = world.client('python');
  await world.pass(1);
  world.request(client.directory, ID);
  world.asked.length = 0;
  await world.pass(2500);
  const [request, result] = [`${client.directory}/${ID}.json`, `${client.directory}/${ID}_result.json`];
  const own = { process: 'c', port: 'client' };
  expect(world.asked.slice(0, 5)).toEqual([
    { ...own, name: 'readdir', on: [client.directory], writes: false },
    { ...own, name: 'readFile', on: [request], writes: false },
    { ...own, name: 'unlink', on: [request], writes: true },
    { ...own, name: 'writeFile', on: [`${result}.tmp`], writes: true },
    { ...own, name: 'rename', on: [`${result}.tmp`, result], writes: true },
  ]);
});

type Given = {
  lane?: string;
  address?: string;
  registered?: boolean;
  established?: boolean;
  onRun?: (mockId: string) => void;
};

function createWorld() {
  const clock = createClock();
  const whole = createDisk({ now: clock.time.now });
  const disk = whole.as('test');
  const open = openGate(whole);
  const asked: Asked[] = [];
  const runs: string[] = [];
  const texts: string[] = [];
  const interludes = new Map<string, (disk: ClientDisk, on: readonly string[]) => void>();
  const gate: Gate<ClientDisk> = async (what, act) => {
    asked.push(what);
    const interlude = interludes.get(what.name);
    interludes.delete(what.name);
    interlude?.(disk, what.on);
    return open(what, (world) => act(world.as(what.process)));
  };
  let ended: Promise<'left' | 'died'> | undefined;

  return {
    ...clock,
    ...{ disk, asked, runs, texts },
    read: (path: string) => disk.readFile(path),
    /** Does something just before the next operation of this name. */
    before: (name: string, act: (disk: ClientDisk, on: readonly string[]) => void) => void interludes.set(name, act),
    get ended() {
      return ended;
    },
    client(sdk: Sdk, behaviour: Partial<Behaviour> = {}, given: Given = {}) {
      const { lane = null, address = 'c', registered = true } = given;
      const client = createClient({
        ...{
          name: address,
          address,
          sdk,
          registered,
          app: 7,
          lane,
          sharedDir: ROOT,
          behaviour,
          gate,
          time: clock.time,
        },
        onRun(mockId, text) {
          runs.push(mockId);
          texts.push(text);
          given.onRun?.(mockId);
        },
      });
      if (given.established) client.establish(disk);
      ended = client.start();
      ended.catch(() => {});
      return client;
    },
    cleaner: () => createCleaner({ name: 'cleaner', sharedDir: ROOT, apps: [7], gate, time: clock.time }),
    makeDirectory,
    /** A request as a worker puts it into a directory that it makes when it is missing. */
    request(directory: string, mockId: string): void {
      makeDirectory(directory);
      disk.writeFile(`${directory}/.tmp`, requestText(mockId, clock.time.now()));
      disk.rename(`${directory}/.tmp`, `${directory}/${mockId}.json`);
    },
  };

  function makeDirectory(path: string): void {
    if (disk.exists(path)) return;
    makeDirectory(dirname(path));
    disk.mkdir(path);
  }
}

const requestText = (mockId: string, createAt = START + 1) =>
  `{"mockId":"${mockId}","app":7,"ruleId":1,"iceId":1,"createAt":${createAt}}`;

function judged(text: string, sdk: Sdk) {
  return judgeResult(Buffer.from(text), ID, dialects[sdk === 'node' ? 'rule' : 'ice']);
}

/** Time that passes only when it is told to. */
function createClock() {
  const timers = new Set<{ at: number; run: () => void }>();
  let now = 0;

  const time: Time = {
    now: () => START + now,
    monotonic: () => now,
    setTimeout(run, ms) {
      const timer = { at: now + ms, run };
      timers.add(timer);
      return timer;
    },
    clearTimeout: (timer) => void [...timers].filter((one) => one === timer).map((one) => timers.delete(one)),
    setImmediate: (run) => queueMicrotask(run),
  };

  const settled = () => new Promise((resolve) => setImmediate(resolve));

  async function pass(ms: number): Promise<void> {
    const end = now + ms;
    for (;;) {
      await settled();
      const next = nextTimer();
      if (!next || next.at > end) break;
      fire(next);
    }
    now = end;
  }

  async function until(isSo: () => boolean): Promise<void> {
    for (await settled(); !isSo(); await settled()) {
      const next = nextTimer();
      if (!next || next.at > 1_000_000) throw new Error('it never came to that');
      fire(next);
    }
  }

  function nextTimer() {
    return [...timers].toSorted((a, b) => a.at - b.at)[0];
  }

  function fire(timer: { at: number; run: () => void }): void {
    timers.delete(timer);
    now = timer.at;
    timer.run();
  }

  return { time, pass, until };
}
