import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { checkNode } from '../../src/client/check-options.ts';
import { createRuleClient, type RuleClientOptions } from '../../src/client/client.ts';
import type { Data } from '../../src/client/engine/data/data.ts';
import { createClientFiles } from './support/client-files.ts';
import { smallLeaves } from './support/small-leaves.ts';

let files: Awaited<ReturnType<typeof createClientFiles>>;
beforeEach(async () => {
  files = await createClientFiles();
});
afterEach(() => files.close());

class SpentAtLeast {
  min = 100;
  _kept = 1;
  doFlow(service: Data): boolean {
    return service.double('cost', 0) >= this.min;
  }
}

/** The options of a program that nobody type-checks. */
const start = (options: object) => {
  const all = { app: 7, sharedDir: files.sharedDir, leaves: smallLeaves, ...options };
  return createRuleClient(Object.assign({ app: 7, sharedDir: '', leaves: smallLeaves }, all));
};

describe('options that make no sense are refused before anything is written', () => {
  test.each<[object, string]>([
    [{ heartbeatMs: 0 }, 'heartbeatMs must be 10 to 2147483647 ms, not 0'],
    [{ heartbeatMs: Number.NaN }, 'heartbeatMs must be 10 to 2147483647 ms, not NaN'],
    [{ heartbeatMs: -1 }, 'heartbeatMs must be 10 to 2147483647 ms, not -1'],
    [{ heartbeatMs: '10000' }, 'heartbeatMs must be 10 to 2147483647 ms, not "10000"'],
    [{ pollMs: 0 }, 'pollMs must be'],
    [{ pollMs: 2 ** 31 }, 'pollMs must be'],
    [{ ruleTimeoutMs: 0.5 }, 'ruleTimeoutMs must be'],
    [{ ruleTimeoutMs: Number.POSITIVE_INFINITY }, 'ruleTimeoutMs must be'],
    [{ maxRunning: 0 }, 'maxRunning must be 1 to 1000000, not 0'],
    [{ strict: 'yes' }, 'strict must be true or false, not "yes"'],
    [{ onError: 'log' }, 'onError must be a function'],
    [{ app: undefined }, 'app is missing'],
    [{ app: '7' }, 'app must be a positive integer, not "7"'],
    [{ sharedDir: '' }, 'sharedDir must be a directory, not ""'],
    [{ heartBeatMs: 10 }, 'there is no option heartBeatMs; did you mean heartbeatMs?'],
    [{ leafs: {} }, 'there is no option leafs; did you mean leaves?'],
    [{ colour: 1, app: 0 }, 'there is no option colour'],
    [
      { leaves: { A: { leaf: SpentAtLeast, fields: { mim: {} } } } },
      'A has no field mim to describe; did you mean min?',
    ],
    [{ leaves: { A: { leaf: SpentAtLeast, alais: 'B' } } }, "A: a leaf's definition has no alais; did you mean alias?"],
  ])('%j', async (options, sentence) => {
    await expect(start(options)).rejects.toThrow(sentence);
    expect(await files.traces()).toEqual([]);
  });

  test('every one that is wrong is named', async () => {
    await expect(start({ app: 0, pollMs: 0, nothing: 1 })).rejects.toThrow(
      /app must be a positive integer.*pollMs must be.*there is no option nothing/,
    );
  });

  test('a mistyped directory is not made; the one meant is named', async () => {
    await mkdir(files.pathOf('rule-data'));
    const sharedDir = files.pathOf('rule-dta');
    await expect(start({ sharedDir })).rejects.toThrow(`there is no directory ${sharedDir}; did you mean rule-data?`);
    await expect(start({ sharedDir: files.pathOf('elsewhere/rule-data') })).rejects.toThrow('make it first');
    await writeFile(files.pathOf('file'), '');
    await expect(start({ sharedDir: files.pathOf('file') })).rejects.toThrow('must be a directory, and');
  });

  test('a misspelt field does not compile either', () => {
    const leaves = { A: SpentAtLeast };
    const options: RuleClientOptions<unknown, typeof leaves> = {
      ...{ app: 7, sharedDir: files.sharedDir },
      // @ts-expect-error: the class has no such field
      leaves: { A: { leaf: SpentAtLeast, fields: { mim: {} } } },
    };
    const common = { app: 7, sharedDir: '' };
    // @ts-expect-error: as little when the classes are inferred
    const infer = () => createRuleClient({ ...common, leaves: { A: { leaf: SpentAtLeast, fields: { mim: {} } } } });
    const fine: RuleClientOptions<unknown, typeof leaves> = {
      ...options,
      leaves: { A: { leaf: SpentAtLeast, fields: { min: {} } } },
    };
    expect([fine.app, typeof infer]).toEqual([7, 'function']);
  });
});

describe('an address', () => {
  test('that a living client has is refused to a second one, which is told who the first is', async () => {
    await files.start({ address: 'shop_1' });
    const refusal = `the address shop_1 is in use by process ${process.pid} on ${hostname()}, started at `;
    await expect(start({ address: 'shop_1' })).rejects.toThrow(refusal);
    await expect(start({ address: 'shop_1', lane: 'beta' })).rejects.toThrow(refusal);
    expect(JSON.parse(await readFile(files.pathOf('clients', 7, 'm_shop_1.json'), 'utf8')).lane).toBeNull();
  });

  test('of two that start at the same moment, one gets it', async () => {
    const started = await Promise.allSettled([files.start({ address: 'shop_1' }), files.start({ address: 'shop_1' })]);
    expect(started.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  test.each<[string, object]>([
    ['closed in order', {}],
    ['was killed', { host: hostname(), pid: 999_999_999, startedAt: 1 }],
    ['was the same process id of an earlier container', { host: hostname(), pid: process.pid, startedAt: 1 }],
  ])('is free again when its client %s', async (_title, identity) => {
    const first = await files.start({ address: 'shop_1' });
    await first.close();
    if ('pid' in identity) {
      const registration = { address: 'shop_1', app: 7, process: identity };
      await files.write(JSON.stringify(registration), 'clients', 7, 'm_shop_1.json');
      await files.write(JSON.stringify({ lastHeartbeat: Date.now() }), 'clients', 7, 'b_shop_1.json');
    }
    expect((await files.start({ address: 'shop_1' })).address).toBe('shop_1');
  });

  test('is free once its client on another machine has been silent for 30 s, not before', async () => {
    const registration = { address: 'shop_1', app: 7, process: { host: 'elsewhere', pid: 1, startedAt: 1 } };
    const beatAgo = (ms: number) =>
      files.write(JSON.stringify({ lastHeartbeat: Date.now() - ms }), 'clients', 7, 'b_shop_1.json');
    await files.write(JSON.stringify(registration), 'clients', 7, 'm_shop_1.json');
    await beatAgo(20_000);
    await expect(start({ address: 'shop_1' })).rejects.toThrow('in use by process 1 on elsewhere');
    await beatAgo(31_000);
    expect((await files.start({ address: 'shop_1' })).address).toBe('shop_1');
  });
});

test.each([['20.20.2'], ['22.21.9']])('Node %s is too old, and the error names it', (version) => {
  expect(() => checkNode(version)).toThrow(`needs Node 22.22 or newer and found ${version}`);
});
