import { readFileSync } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createRuleClient } from '../../src/client/client.ts';
import type { Data } from '../../src/client/engine/data/data.ts';
import type { Leaves } from '../../src/client/leaves/leaf.ts';
import { takeRequest } from '../../src/client/requests/take-request.ts';
import { createClientFiles, until } from './support/client-files.ts';
import { smallLeaves } from './support/small-leaves.ts';

let files: Awaited<ReturnType<typeof createClientFiles>>;
beforeEach(async () => {
  files = await createClientFiles();
});
afterEach(() => files.close());

const leaves: Leaves = {
  ...smallLeaves,
  Double: class {
    doResult(service: Data): boolean {
      service.put('double', service.long('n', 0n) * 2n);
      return true;
    }
  },
  NotANumber: class {
    doNone(service: Data): void {
      service.put('ok', 1);
      service.put('nan', Number.NaN);
    }
  },
  Block: class {
    ms = 0;
    doNone(): void {
      block(this.ms);
    }
  },
};

/** Keeps the event loop from going on, as a computation does, but leaves the processor to others. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

async function nodes(members: Record<number, string>): Promise<void> {
  for (const [id, text] of Object.entries(members)) await files.node(id, text);
}

describe('a client', () => {
  test('registers with what it is, and leaves nothing but the last registration when it closes', async () => {
    const began = Date.now();
    const client = await files.start({ leaves, address: 'host_1' });
    expect(await files.traces()).toEqual([
      'clients/7',
      'clients/7/_latest.json',
      'clients/7/b_host_1.json',
      'clients/7/m_host_1.json',
      'mock/7',
      'mock/7/host_1',
    ]);
    const registration = JSON.parse(await readFile(files.pathOf('clients', 7, 'm_host_1.json'), 'utf8'));
    expect(registration).toMatchObject({ address: 'host_1', app: 7, lane: null, dialect: 'rule', loadedVersion: 0 });
    const heartbeat = JSON.parse(await readFile(files.pathOf('clients', 7, 'b_host_1.json'), 'utf8'));
    expect(heartbeat.lastHeartbeat).toBeGreaterThanOrEqual(began);
    expect(heartbeat.lastHeartbeat).toBeLessThanOrEqual(Date.now());
    await Promise.all([client.close(), client.close()]);
    expect(await files.traces()).toEqual(['clients/7', 'clients/7/_latest.json', 'mock/7']);
  });

  test('in a lane registers there, its requests lie where everybody’s do', async () => {
    const { address } = await files.start({ leaves, lane: 'beta' });
    expect(await readdir(files.pathOf('clients', 7, 'lane', 'beta'))).toContain(`m_${address}.json`);
    expect(await readdir(files.pathOf('mock', 7))).toEqual([address]);
  });

  test.each([
    [{ app: 0 }, 'app must be a positive integer'],
    [{ address: 'a/b' }, 'address must be'],
    [{ address: '.hidden' }, 'address must be'],
    [{ address: 'a..b' }, 'address must be'],
    [{ lane: '' }, 'lane must be'],
    [{ lane: '../../7' }, 'lane must be'],
    [{ lane: 'x'.repeat(201) }, 'lane must be'],
  ])('that nobody could address does not start: %j', async (options, message) => {
    await expect(createRuleClient({ app: 7, sharedDir: files.sharedDir, leaves, ...options })).rejects.toThrow(message);
    expect(await files.traces()).toEqual([]);
  });

  test('beats while nothing happens, and registers again when its registration is gone', async () => {
    const { address } = await files.start({ leaves, heartbeatMs: 50 });
    const registration = files.pathOf('clients', 7, `m_${address}.json`);
    const before = await readFile(registration, 'utf8');
    await rm(files.pathOf('clients', 7), { recursive: true, maxRetries: 5 }); // it beats meanwhile
    expect(await until(() => readFile(registration, 'utf8').catch(() => undefined))).toBe(before);
    const beatAt = () => files.modifiedMs('clients', '7', `b_${address}.json`).catch(() => undefined);
    const first = await until(beatAt);
    await until(async () => ((await beatAt()) ?? 0) > first || undefined);
  });

  test('runs rules for the service it is part of', async () => {
    await nodes({ 1: '"type":6,"confName":"Double"' });
    await files.rule(1, '"confId":1');
    const client = await files.start({ leaves, ruleTimeoutMs: 150 });
    expect(await client.run({ ruleId: 1, data: { n: 2n ** 60n } })).toEqual({
      ...{ success: true, outcome: 'TRUE', error: undefined, warnings: [] },
      ...{ data: { n: 2n ** 60n, double: 2n ** 61n }, process: expect.stringMatching(/^\[1:Double:T:\d+\]$/) },
    });
    await nodes({ 2: '"type":5,"confName":"Never"' });
    await client.reload();
    expect(await client.run({ confId: 2 })).toMatchObject({
      error: new Error('the rule did not end within 150 ms'),
    });
    expect(await client.run({ ruleId: 5 })).toMatchObject({ success: false, error: new Error('there is no rule 5') });
  });
});

describe('a request', () => {
  test('is answered at once, with every number as it was written', async () => {
    await nodes({ 1: '"type":6,"confName":"Double"' });
    await files.rule(1, '"confId":1');
    const client = await files.start({ leaves, pollMs: 60_000 });
    const { text, mockId } = await files.ask(
      client,
      { ruleId: 1 },
      '{"n":9007199254740993,"cost":120.10,"a":{"b":-0}}',
    );
    const told = text.replace(/"digest":"[\w-]{22}"/, '"digest"');
    expect(told.replace(/:\d+\]|"(executeAt|ts|start|ms)":[\d.]+/g, '')).toBe(
      `{"mockId":"${mockId}","success":true,` +
        '"the service":{"n":9007199254740993,"cost":120.10,"a":{"b":-0},"double":18014398509481986},' +
        '"process":"[1:Double:T","error":null,,,"outcome":"TRUE","rules":{"version":0,"digest"},' +
        '"steps":[{"nodeId":1,"name":"Double","role":"root","parent":null,"outcome":"TRUE","inverted":false,,,' +
        '"reads":[{"key":"n","value":9007199254740993}],"writes":[{"key":"double","after":18014398509481986}]}]}',
    );
    expect(await readdir(files.pathIn(client))).toEqual([`${mockId}_result.json`]);
  });

  test('that was there before the client is found', async () => {
    await nodes({ 1: '"type":5,"confName":"Yes"' });
    await mkdir(files.pathOf('mock', 7, 'host_1'), { recursive: true });
    await writeFile(files.pathOf('mock', 7, 'host_1', 'early.json'), '{"mockId":"early","confId":1,"target":"all"}');
    const client = await files.start({ leaves, address: 'host_1', pollMs: 60_000 });
    expect(JSON.parse(await files.answerTo(client, 'early'))).toMatchObject({ success: true, outcome: 'TRUE' });
  });

  test('may ask for a rule, a node, both, and for another time', async () => {
    await nodes({
      1: '"type":1,"sonIds":"2,3"',
      2: '"type":4,"sonIds":"3"',
      3: '"type":5,"confName":"Yes","timeType":6,"end":1000',
    });
    await files.rule(1, '"confId":1');
    const client = await files.start({ leaves });
    const processOf = async (request: Record<string, number>) => (await files.ask(client, request)).answer.process;
    expect(await processOf({ ruleId: 1 })).toMatch(/^\[3:Yes:O\]\[2:Any:N:\d+\]\[3:Yes:O\]\[1:And:N:\d+\]$/);
    expect(await processOf({ confId: 3, ts: 1000 })).toMatch(/^\[3:Yes:T:\d+\]$/);
    expect(await processOf({ ruleId: 1, confId: 2, ts: 999 })).toMatch(/^\[3:Yes:T:\d+\]\[2:Any:T:\d+\]$/);
  });

  test('is run by the rules that were released a moment ago', async () => {
    await nodes({ 1: '"type":5,"confName":"Yes"' });
    await files.write('1', 7, 'version.txt');
    const client = await files.start({ leaves, pollMs: 60_000 });
    await files.write(
      '{"insertOrUpdateConfs":[{"id":1,"type":5,"status":1,"confName":"No"}]}',
      7,
      'versions',
      '2_upd.json',
    );
    await files.write('2', 7, 'version.txt');
    expect((await files.ask(client, { confId: 1 })).answer.outcome).toBe('FALSE');
    expect(client.loadedVersion()).toBe(2n);
    const heartbeat = files.pathOf('clients', 7, `b_${client.address}.json`);
    await until(async () => (await readFile(heartbeat, 'utf8')).includes('"loadedVersion":2') || undefined);
  });

  test('that is written slowly is run when it is complete', async () => {
    await nodes({ 1: '"type":5,"confName":"Yes"' });
    const client = await files.start({ leaves, pollMs: 20 });
    const path = files.pathIn(client, 'slow.json');
    await writeFile(path, '{"mockId":"slow",');
    await sleep(100);
    expect(await readdir(files.pathIn(client))).toEqual(['slow.json']);
    await writeFile(path, '{"mockId":"slow","confId":1}');
    expect(JSON.parse(await files.answerTo(client, 'slow'))).toMatchObject({ success: true });
  });

  test.each([
    ['that never becomes JSON', '{"mockId":', 'it ends too early'],
    ['that is no object', '[]', 'is not a JSON object'],
    ['with an id that is none', '{"ruleId":"one"}', 'ruleId must be an integer of at most 64 bits, not "one"'],
    ['with data that is no object', '{"ruleId":1,"the service":[]}', '"the service" must be an object'],
    ['that names another execution', '{"mockId":"other","ruleId":1}', 'mockId differs from the name of the file'],
  ])('%s is taken away and answered with what is wrong', async (_title, text, message) => {
    const client = await files.start({ leaves, pollMs: 20 });
    const path = files.pathIn(client, '.bad.tmp');
    await writeFile(path, text);
    await utimes(path, new Date(0), new Date(0));
    await rename(path, files.pathIn(client, 'bad.json'));
    const answer = JSON.parse(await files.answerTo(client, 'bad'));
    expect(answer).toMatchObject({ mockId: 'bad', success: false, 'the service': {}, process: null });
    expect(answer.error).toContain(message);
  });

  test('for nothing, or for what is not there, fails and says so', async () => {
    const client = await files.start({ leaves });
    expect((await files.ask(client, {})).answer.error).toBe('neither a rule nor a node is asked for');
    expect((await files.ask(client, { ruleId: 7 }, '{"a":1}')).answer).toMatchObject({
      ...{ success: false, error: 'there is no rule 7', process: '', outcome: null, 'the service': { a: 1 } },
    });
  });

  test('is not followed through a link', async () => {
    const client = await files.start({ leaves, pollMs: 20 });
    await files.write('{"mockId":"link","ruleId":1}', 'outside.json');
    await symlink(files.pathOf('outside.json'), files.pathIn(client, 'link.json'));
    await sleep(150);
    expect(await readdir(files.pathIn(client))).toEqual(['link.json']);
    expect(files.errors).toEqual([]);
  });

  test('that two take at the same moment is taken once: whoever deletes it has it', async () => {
    for (let each = 0; each < 50; each++) await files.write('{"confId":1}', 'requests', `r${each}.json`);
    const directory = files.pathOf('requests');
    const takeAll = () => Promise.all(Array.from({ length: 50 }, (_, each) => takeRequest(directory, `r${each}.json`)));
    const [one, other] = await Promise.all([takeAll(), takeAll()]);
    for (const [each, { kind }] of one.entries()) expect([kind, other[each]?.kind].sort()).toEqual(['left', 'request']);
  });

  test.each([
    ['a fixed address', { address: 'fixed' }, true],
    ['an address of this start', {}, false],
  ])('that is taken at %s: its deletion is flushed before it runs: %j %j', async (_, options, isFlushed) => {
    await nodes({ 1: '"type":5,"confName":"Seen"' });
    const happened: string[] = [];
    const handle = await open(files.pathOf('.'));
    const { constructor: FileHandle } = handle;
    await handle.close();
    const sync = vi.spyOn(FileHandle.prototype, 'sync').mockImplementation(async () => void happened.push('flushed'));
    onTestFinished(() => sync.mockRestore());
    class Seen {
      doFlow(): boolean {
        happened.push('runs');
        return true;
      }
    }
    const client = await files.start({ leaves: { Seen }, ...options });
    expect((await files.ask(client, { confId: 1 })).answer.success).toBe(true);
    expect(happened).toEqual(isFlushed ? ['flushed', 'runs'] : ['runs']);
  });

  test('whose answer cannot be put in place for a while is answered once it can', async () => {
    await nodes({ 1: '"type":5,"confName":"Held"' });
    const [began, free] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    class Held {
      async doFlow(): Promise<boolean> {
        began.resolve();
        await free.promise;
        return true;
      }
    }
    const client = await files.start({ leaves: { Held }, pollMs: 60_000 });
    const mockId = await files.put(client, '{"mockId":"request-1","confId":1,"target":"all"}');
    await began.promise;
    const [place, aside] = [files.pathIn(client), files.pathOf('aside')];
    await rename(place, aside);
    await writeFile(place, 'no directory');
    free.resolve();
    await until(async () => files.errors.find((error) => String(error).includes(`the answer to ${mockId}`)));
    expect(files.errors.filter((error) => String(error).includes('scandir')).length).toBeLessThan(2);
    await rm(place);
    await rename(aside, place);
    expect(JSON.parse(await files.answerTo(client, mockId))).toMatchObject({ success: true, outcome: 'TRUE' });
  });

  test('is noticed soon although somebody removed the directory and made it again between two looks', async () => {
    await nodes({ 1: '"type":5,"confName":"Yes"' });
    const client = await files.start({ leaves, pollMs: 4000 });
    await files.ask(client, { confId: 1 });
    await rm(files.pathIn(client), { recursive: true });
    await sleep(300); // the watch has noticed that it is gone
    await mkdir(files.pathIn(client), { recursive: true }); // unless the client was quicker
    await files.ask(client, { confId: 1 }); // found by a look
    const began = performance.now();
    await files.ask(client, { confId: 1 });
    expect(performance.now() - began).toBeLessThan(1500);
  });

  test('finds its client although somebody removed the directory', async () => {
    await nodes({ 1: '"type":5,"confName":"Yes"' });
    const client = await files.start({ leaves, pollMs: 30 });
    await rm(files.pathIn(client), { recursive: true });
    await until(async () => (await readdir(files.pathIn(client)).catch(() => undefined)) && true);
    expect((await files.ask(client, { confId: 1 })).answer.success).toBe(true);
  });
});

describe('several requests', () => {
  test('run at once', async () => {
    let begun = 0;
    const allBegan = Promise.withResolvers<void>();
    const waiting: Leaves = {
      Wait: class {
        async doNone(): Promise<void> {
          if (++begun === 10) allBegan.resolve();
          await allBegan.promise;
        }
      },
    };
    await nodes({ 1: '"type":7,"confName":"Wait"' });
    const client = await files.start({ leaves: waiting });
    const answers = await Promise.all(Array.from({ length: 10 }, () => files.ask(client, { confId: 1 })));
    expect(answers.map(({ answer }) => answer.success)).not.toContain(false);
  });

  test('beyond what the client takes stay where their sender can take them back', async () => {
    const released = Promise.withResolvers<void>();
    const waiting: Leaves = {
      Wait: class {
        doNone = () => released.promise;
      },
    };
    await nodes({ 1: '"type":7,"confName":"Wait"' });
    const client = await files.start({ leaves: waiting, maxRunning: 2 });
    const ids = await Promise.all([1, 2, 3, 4, 5].map(() => files.put(client, '{"confId":1}')));
    const left = async () => (await readdir(files.pathIn(client))).filter((name) => !name.includes('_result'));
    await vi.waitFor(async () => expect(await left()).toHaveLength(3), { timeout: 60_000, interval: 10 });
    await sleep(75);
    expect(await left()).toHaveLength(3);
    released.resolve();
    for (const id of ids) expect(JSON.parse(await files.answerTo(client, id)).success).toBe(true);
  });
});

describe('a rule that', () => {
  test('throws ends in a failed result with its trace and its data so far', async () => {
    await nodes({ 1: '"type":1,"sonIds":"2,3"', 2: '"type":6,"confName":"Double"', 3: '"type":5,"confName":"Boom"' });
    const client = await files.start({ leaves });
    const { answer } = await files.ask(client, { confId: 1 }, '{"n":1}');
    expect(answer).toMatchObject({ success: false, error: 'kaboom', 'the service': { n: 1, double: 2 } });
    expect(answer.process).toMatch(/^\[2:Double:T:\d+\]\[3:Boom:S:\d+\]\[1:And:S:\d+\]$/);
    expect(answer.steps).toMatchObject([
      { outcome: 'ERROR' },
      { outcome: 'TRUE' },
      { outcome: 'ERROR', error: 'kaboom' },
    ]);
  });

  test('puts what JSON cannot hold ends in a failed result with its trace', async () => {
    await nodes({ 1: '"type":7,"confName":"NotANumber"' });
    const client = await files.start({ leaves });
    const { answer } = await files.ask(client, { confId: 1 });
    expect(answer).toMatchObject({ success: false, error: 'JSON cannot hold NaN (nan)', 'the service': { ok: 1 } });
    expect(answer.process).toMatch(/^\[1:NotANumber:S:\d+\]$/);
  });

  test('never ends is answered for when its time is up, and the answer names the leaf', async () => {
    await nodes({ 1: '"type":1,"sonIds":"2,3"', 2: '"type":5,"confName":"Yes"', 3: '"type":5,"confName":"Never"' });
    const client = await files.start({ leaves, ruleTimeoutMs: 200 });
    const { answer } = await files.ask(client, { confId: 1 });
    expect(answer).toMatchObject({
      success: false,
      error: 'the rule did not end within 200 ms: still in Never (node 3)',
      process: expect.stringMatching(/^\[2:Yes:T:\d+\]$/),
      steps: [{ outcome: 'UNFINISHED' }, { outcome: 'TRUE' }, { outcome: 'UNFINISHED' }],
    });
    expect((await files.ask(client, { confId: 2 })).answer.success).toBe(true);
  });

  test('blocks the event loop is answered for by the thread, and its client lives on', async () => {
    await nodes({
      1: '"type":1,"sonIds":"2,3"',
      2: '"type":5,"confName":"Yes"',
      3: '"type":7,"confName":"Block","confField":"{\\"ms\\":4000}"',
    });
    const client = await files.start({ leaves, ruleTimeoutMs: 200, heartbeatMs: 50, pollMs: 50 });
    const { answer, text } = await files.ask(client, { confId: 1 }, '{"uid":9007199254740993}');
    expect(text).toContain('"the service":{"uid":9007199254740993}');
    expect(answer).toMatchObject({
      success: false,
      error: 'the rule did not end within 200 ms and blocks its client: node 3 ran last',
      process: expect.stringMatching(/^\[2:Yes:T:\d+\]$/),
    });
    expect((await files.ask(client, { confId: 2 })).answer.success).toBe(true);
    expect(String(files.errors)).toMatch(/the answer to request-\d+ came after \d+ ms, too late/);
  });

  test.each([
    ['for a while, its client beats on', { ruleTimeoutMs: 9000, ms: 2000, beats: true }],
    ['past its time, its client stops to look alive', { ruleTimeoutMs: 100, ms: 2500, beats: false }],
  ])('blocks the event loop %s', async (_title, { ruleTimeoutMs, ms, beats }) => {
    let ageMs = 0;
    const blocking: Leaves = {
      Block: class {
        doNone(): void {
          block(ms);
          const heartbeat = readFileSync(files.pathOf('clients', 7, 'b_blocked.json'), 'utf8');
          ageMs = Date.now() - JSON.parse(heartbeat).lastHeartbeat;
        }
      },
    };
    await nodes({ 1: '"type":7,"confName":"Block"' });
    const client = await files.start({ leaves: blocking, address: 'blocked', ruleTimeoutMs, heartbeatMs: 50 });
    await files.ask(client, { confId: 1 });
    await until(async () => ageMs > 0 || undefined);
    if (beats) expect(ageMs).toBeLessThan(ms);
    else expect(ageMs).toBeGreaterThan(1500);
    // Once it is free again, it beats again.
    const beatenAt = await files.modifiedMs('clients', '7', 'b_blocked.json');
    await until(async () => (await files.modifiedMs('clients', '7', 'b_blocked.json')) > beatenAt || undefined);
  });

  test('has nodes its client cannot run says so in its answer', async () => {
    await nodes({ 1: '"type":1,"sonIds":"2,3"', 2: '"type":5,"confName":"Yes"', 3: '"type":5,"confName":"Nobody"' });
    const client = await files.start({ leaves });
    expect((await files.ask(client, { confId: 1 })).answer).toMatchObject({
      success: true,
      warnings: ['the child 3 of node 1 is left out: the class Nobody is not registered'],
    });
  });
});

test('a client that closes lets what it runs end, and its answer be read', async () => {
  await nodes({ 1: '"type":5,"confName":"Later","confField":"{\\"ms\\":200}"' });
  const client = await files.start({ leaves });
  const mockId = await files.put(client, '{"confId":1}');
  await until(async () => !(await readdir(files.pathIn(client))).includes(`${mockId}.json`) || undefined);
  let closed = false;
  const closing = client.close().then(() => {
    closed = true;
  });
  expect(JSON.parse(await files.answerTo(client, mockId)).success).toBe(true);
  expect(closed).toBe(false);
  await rm(files.pathIn(client, `${mockId}_result.json`));
  await closing;
  expect(await files.traces()).toEqual(['clients/7', 'clients/7/_latest.json', 'mock/7']);
});

test('a client that closes while its directory cannot be read closes all the same', async () => {
  const client = await files.start();
  await rm(files.pathIn(client), { recursive: true });
  await writeFile(files.pathIn(client), 'no directory');
  await client.close();
  expect(await files.traces()).not.toContain(`clients/7/m_${client.address}.json`);
});
