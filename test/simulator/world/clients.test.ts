import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { parseHeartbeat, parseRegistration } from '../../../src/worker/clients/registration.ts';
import { dialects, sdks } from '../../../src/worker/files/dialects/dialects.ts';
import { judgeResult } from '../../../src/worker/files/results/result-file.ts';
import { answerOf, type Behaviour, bodyOf, type ClientDisk, createCleaner, createClient, type Sdk } from './clients.ts';
import { createDisk } from './disk.ts';
import type { Asked, Gate } from './gate.ts';
import { createScheduler } from './scheduler.ts';

const ID = '6f9619ff-8b86-4d01-b42d-00cf4fc964ff';
const SECOND = '7f9619ff-8b86-4d01-b42d-00cf4fc964ff';
const START = 1_800_000_000_000;
const ROOT = '/shared';
const HOME = `${ROOT}/clients/7`;
const every: Sdk[] = ['node', 'java', 'go', 'python'];

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

type Given = { address?: string; onRun?: (mockId: string) => void };

/** A world without faults, in which everything happens in the order it was asked for. */
function createWorld() {
  const scheduler = createScheduler(START);
  const whole = createDisk({ now: scheduler.epoch });
  const disk = whole.as('test');
  const asked: Asked[] = [];
  const runs: string[] = [];
  const texts: string[] = [];
  const interludes = new Map<string, (disk: ClientDisk, on: readonly string[]) => void>();
  const gate: Gate<ClientDisk> = async (what, act) => {
    asked.push(what);
    const interlude = interludes.get(what.name);
    interludes.delete(what.name);
    interlude?.(disk, what.on);
    return act(whole.as(what.process));
  };
  let ended: Promise<'left' | 'died'> | undefined;

  async function pass(ms: number, isOver = () => false): Promise<void> {
    const end = scheduler.now + ms;
    for (await scheduler.settle(); !isOver(); ) {
      const [next] = scheduler.ready();
      const at = scheduler.nextAt() ?? end;
      if (next) await scheduler.make(next);
      else if (scheduler.now >= end) return;
      else scheduler.passTo(Math.min(at, end));
    }
  }

  function makeDirectory(path: string): void {
    if (disk.exists(path)) return;
    makeDirectory(dirname(path));
    disk.mkdir(path);
  }

  const timeOf = (name: string) => {
    scheduler.start(name);
    return scheduler.timeOf(name);
  };

  return {
    ...{ disk, asked, runs, texts, makeDirectory, pass },
    until: (isSo: () => boolean) => pass(1_000_000, isSo),
    read: (path: string) => disk.readFile(path),
    /** Does something just before the next operation of this name. */
    before: (name: string, act: (disk: ClientDisk, on: readonly string[]) => void) => void interludes.set(name, act),
    get ended() {
      return ended;
    },
    client(sdk: Sdk, behaviour: Partial<Behaviour> = {}, { address = 'c', onRun }: Given = {}) {
      const client = createClient({
        ...{ name: address, address, sdk, registered: true, app: 7, lane: null, sharedDir: ROOT, behaviour, gate },
        time: timeOf(address),
        onRun(mockId, text) {
          runs.push(mockId);
          texts.push(text);
          onRun?.(mockId);
        },
      });
      ended = client.start();
      return client;
    },
    cleaner: () => createCleaner({ name: 'cleaner', sharedDir: ROOT, apps: [7], gate, time: timeOf('cleaner') }),
    /** A request as a worker puts it into a directory that it makes when it is missing. */
    request(directory: string, mockId: string): void {
      makeDirectory(directory);
      disk.writeFile(`${directory}/.tmp`, requestText(mockId, scheduler.epoch()));
      disk.rename(`${directory}/.tmp`, `${directory}/${mockId}.json`);
    },
  };
}

const requestText = (mockId: string, createAt = START + 1) =>
  `{"mockId":"${mockId}","app":7,"ruleId":1,"iceId":1,"createAt":${createAt}}`;

function judged(text: string, sdk: Sdk) {
  return judgeResult(Buffer.from(text), ID, dialects[sdk === 'node' ? 'rule' : 'ice']);
}
