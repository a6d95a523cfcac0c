import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, open, readdir, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Batch } from '../../../../src/shared/cases/batch.ts';
import type { ExecutionRecord } from '../../../../src/shared/contract/execution-record.ts';
import { openStore } from '../../../../src/shared/store/embedded/file/embedded-store.ts';
import { embeddedStores } from '../../../../src/shared/store/embedded/stores/stores.ts';
import { canMount, canMountNetwork, mountNetwork, mountTemporary } from '../../../support/mounts.ts';

const LIMITS = { count: 1000, seconds: 60, bytes: 10_000_000 };
const BATCHES = { seconds: 60, bytes: 10_000_000, running: 5 };

let root = '';
let folder = '';
let told: string[] = [];
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'durable-'));
  folder = join(root, '.rule-server/store');
  told = [];
});

/** What one process does with the store between its start and its end. */
async function once<T>(use: (stores: ReturnType<typeof embeddedStores>) => Promise<T>): Promise<T> {
  const { openTable, close } = await openStore({ folder, tell: (sentence) => told.push(sentence) });
  try {
    return await use(embeddedStores(openTable));
  } finally {
    await close();
  }
}

function recordOf(mockId: string): ExecutionRecord {
  return {
    ...{ mockId, app: 7, ruleId: '1', confId: null, ts: null, target: 'all', keyName: null, batchId: null },
    ...{ address: 'a', state: 'succeeded', history: [{ state: 'succeeded', at: 1 }], warnings: [] },
    ...{
      ending: { status: 200, code: null, reason: null, params: {}, mayHaveRun: true },
      outcome: 'TRUE',
      answeredAt: 1,
      lateResult: false,
      written: null,
      rules: null,
      lane: null,
      error: null,
      comparisonId: null,
      dryRun: false,
      derivedFrom: null,
    },
  };
}

describe('the next process finds', () => {
  it('executions in their order, with their inputs, answers and late answers; and forgets what is erased', async () => {
    const ids = [randomUUID(), randomUUID(), randomUUID()];
    const large = 'x'.repeat(50_000);
    await once(async ({ openHistory }) => {
      const history = openHistory(LIMITS);
      for (const id of ids) {
        const body = id === ids[1] ? large : '{"n":\u0000}';
        await history.add({ record: recordOf(id), input: '{"uid":1}', result: { body } });
      }
      await history.addLateResult(ids[0] ?? '', '"late"');
    });
    await once(async ({ openHistory }) => {
      const history = openHistory(LIMITS);
      const { records } = await history.list({ limit: 10 });
      expect(records.map(({ mockId }) => mockId)).toEqual(ids.toReversed());
      expect(await history.input(ids[0] ?? '')).toBe('{"uid":1}');
      expect(await history.result(ids[0] ?? '')).toBe('{"n":\u0000}');
      expect(await history.result(ids[1] ?? '')).toBe(large);
      expect(await history.lateResult(ids[0] ?? '')).toBe('"late"');
      expect(await history.get(ids[0] ?? '')).toMatchObject({ lateResult: true });
      await history.erase(ids[1] ?? '');
    });
    await once(async ({ openHistory }) => expect(await openHistory(LIMITS).get(ids[1] ?? '')).toBeNull());
  });

  it('records with their answers, and values until they expire', async () => {
    await once(async ({ openIdempotencyRecords, store }) => {
      const records = openIdempotencyRecords(10_000_000);
      await records.put('k1', '{"mockId":"one"}', Date.now() + 60_000);
      await records.change('k1', '{"mockId":"one"}', '{"mockId":"one","answeredBy":"a"}', { answer: '{"ok":true}' });
      await records.put('k2', '{"mockId":"two"}', Date.now() - 1);
      await store.hold('long', 'x'.repeat(20_000), 60);
      await store.setIfAbsent('short', 'y', 0);
    });
    await once(async ({ openIdempotencyRecords, store }) => {
      const records = openIdempotencyRecords(10_000_000);
      expect(await records.put('k1', 'another', 0)).toEqual({
        kind: 'there',
        text: '{"mockId":"one","answeredBy":"a"}',
      });
      expect(await records.answer('k1')).toBe('{"ok":true}');
      expect(await records.due(10, 1000)).toEqual(['k2']);
      expect(await store.setIfAbsent('long', 'other', 60)).toBe('x'.repeat(20_000));
      expect(await store.get('short')).toBeNull();
    });
  });

  it('a batch with its cases, and how far it is', async () => {
    const batch: Batch = {
      ...{ v: 1, batchId: 'b1', app: 7, ruleId: '1', confId: null, targets: ['all'], cases: 2, concurrency: 1 },
      ...{ stopAfterFailures: null, keyName: null, createdAt: Date.now() },
      ...{ file: null, etag: null, from: null, dryRun: false, ignore: [] },
    };
    const head = { verdict: 'passed', mayHaveRun: true, differences: 0 } as const;
    const nothing = {
      outcome: null,
      address: null,
      code: null,
      reason: null,
      params: {},
      error: null,
      tookMs: null,
      digest: null,
      rules: null,
      claimBy: 1,
      parting: null,
    };
    const detail = { differences: [], notChecked: [], data: '{"a":1}', cut: false, nodes: null };
    await once(async ({ openBatches }) => {
      const batches = openBatches(BATCHES);
      await batches.create(batch, []);
      await batches.begin('b1', 1, 5);
      await batches.begin('b1', 2, 6);
      await batches.settle('b1', { n: 1, targetIndex: 0, head: { ...head, ...nothing }, detail });
    });
    await once(async ({ openBatches }) => {
      const batches = openBatches(BATCHES);
      expect(await batches.running()).toEqual(['b1']);
      expect(await batches.read('b1')).toMatchObject({ batch, progress: { counts: [{ passed: 1, pending: 1 }] } });
      expect((await batches.heads('b1', 1, 2)).map(({ verdict, claimBy }) => [verdict, claimBy])).toEqual([
        ['passed', 1],
        ['pending', 6],
      ]);
      expect(await batches.detail('b1', 1)).toEqual(detail);
      expect(await batches.settle('b1', { n: 1, targetIndex: 0, head: { ...head, ...nothing }, detail })).toBe(false);
      expect(await batches.begin('b1', 2, 99)).toBe(6);
    });
  });
});

/** A start reads all pages when the run before was killed. */
async function zeroPage(number: number): Promise<void> {
  const database = new DatabaseSync(join(folder, 'store.db'));
  database.exec(`DELETE FROM run WHERE name = 'closed'`);
  database.close();
  const handle = await open(join(folder, 'store.db'), 'r+');
  await handle.write(Buffer.alloc(4096), 0, 4096, number * 4096);
  await handle.close();
}

it('nobody else on the machine can read the store', async () => {
  await once(async () => {});
  expect((await stat(folder)).mode & 0o077).toBe(0);
  // The folder it is in is shared with workers of other users.
  await mkdir(join(root, 'made'));
  expect((await stat(join(root, '.rule-server'))).mode).toBe((await stat(join(root, 'made'))).mode);
});

it('a file of a later version is refused, and stays as it is', async () => {
  await once(async () => {});
  const database = new DatabaseSync(join(folder, 'store.db'));
  database.exec('PRAGMA user_version=99');
  database.close();
  await expect(once(async () => {})).rejects.toThrow(
    /store is of no use to this version: it was written by a later version \(layout 99, .*\)\. Run the later version/,
  );
  expect(await readdir(folder)).toContain('store.db');
});

const file = () => join(folder, 'store.db');
it.each([
  ['a file of zeros', async () => writeFile(file(), Buffer.alloc((await stat(file())).size))],
  ['a page of zeros', () => zeroPage(2)],
  ['a file that was cut off', () => truncate(file(), 8192)],
  ['what the database said while it was used', () => writeFile(join(folder, 'damaged'), 'malformed')],
])('%s is a damage: the store is kept aside whole, and a new one begins', async (_, damage) => {
  const mockId = randomUUID();
  await once(async ({ openHistory }) => {
    await openHistory(LIMITS).add({ record: recordOf(mockId), input: '{}', result: { body: '{}' } });
  });
  await damage();
  await once(async ({ openHistory }) => {
    expect(await openHistory(LIMITS).get(mockId)).toBeNull();
    await openHistory(LIMITS).add({ record: recordOf(mockId), input: '{}', result: { body: '{}' } });
  });
  expect(told).toEqual([expect.stringMatching(/was damaged .*store\.damaged-.* What it kept is not known any more/)]);
  const aside = (await readdir(join(root, '.rule-server'))).filter((name) => name.startsWith('store.damaged-'));
  expect(await readdir(join(root, '.rule-server', aside[0] ?? ''))).toContain('store.db');
  await once(async ({ openHistory }) => expect(await openHistory(LIMITS).get(mockId)).not.toBeNull());
});

it('a folder that cannot be written stops the start, and says so', async () => {
  await writeFile(join(root, 'blocked'), '');
  await expect(openStore({ folder: join(root, 'blocked/.rule-server/store'), tell: () => {} })).rejects.toThrow(
    /cannot be written \(ENOTDIR\).*EMBEDDED_STORE=memory/,
  );
});

describe.skipIf(!canMount)('on a disk without enough room (needs root)', () => {
  it('the start says how much is missing: it takes nothing for a damage', async () => {
    await using disk = await mountTemporary('40m');
    const opening = openStore({
      folder: join(disk.path, '.rule-server/store'),
      tell: (line) => told.push(line),
    });
    await expect(opening).rejects.toThrow(
      /the disk of SHARED_DIR is full: 40 MB are left, and 64 are needed; make room/,
    );
    expect(told).toEqual([]);
  });
});

describe.skipIf(!canMountNetwork)('on a network file system (needs root and sshfs)', () => {
  it('no store is kept: the start says what to set', async () => {
    await using network = await mountNetwork();
    const opening = openStore({ folder: join(network.path, '.rule-server/store'), tell: () => {} });
    await expect(opening).rejects.toThrow(/lies on a network file system \(FUSE\).*set EMBEDDED_STORE=memory/);
  });
});

it('two stores are not opened on one folder', async () => {
  await once(async () => {
    await expect(openStore({ folder, tell: () => {} })).rejects.toThrow(`in use by process ${process.pid} on `);
  });
  await once(async () => {});
});
