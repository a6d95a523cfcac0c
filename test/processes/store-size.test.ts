import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, readdir, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import type { Batch } from '../../src/shared/cases/batch.ts';
import { openStore } from '../../src/shared/store/embedded/file/embedded-store.ts';
import { embeddedStores } from '../../src/shared/store/embedded/stores/stores.ts';

const MIB = 1024 * 1024;
/** HISTORY_BYTES and BATCH_BYTES, each: only on demand, because it writes for half a minute (STORE_SIZE_MB=4) or five (256, the defaults). */
const LIMIT_MB = Number(process.env.STORE_SIZE_MB ?? 0);
const BOUND_MB = 2 * (LIMIT_MB + LIMIT_MB) + 150;
/** So much is written in all that it would not fit if what is removed stayed. */
const WRITTEN_MB = BOUND_MB * 1.3;
/** As much as a row holds at most, and random, so that it cannot be compressed. */
const textOf = (bytes: number) => randomBytes(bytes / 2).toString('hex');

let root = '';
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'durable-'));
});

async function megabytes(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(
    files.map(({ parentPath, name }) =>
      stat(join(parentPath, name)).then(
        ({ blocks }) => blocks * 512,
        () => 0, // removed since
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0) / MIB;
}

it(`with history and batches of ${LIMIT_MB} MB each, the store takes at most ${BOUND_MB} MB however much passes through it`, async () => {
  const folder = join(root, '.rule-server/store');
  const { openTable, close } = await openStore({ folder, tell: () => {} });
  const { openHistory, openBatches } = embeddedStores(openTable);
  const history = openHistory({ count: 1_000_000, seconds: 3600, bytes: LIMIT_MB * MIB });
  const batches = openBatches({ seconds: 3600, bytes: LIMIT_MB * MIB, running: 5 });
  let written = 0;
  let largest = 0;
  const text = (bytes: number) => {
    written += bytes;
    return textOf(bytes);
  };

  async function addExecution(): Promise<void> {
    const mockId = randomUUID();
    const ended = {
      state: 'succeeded',
      ending: { status: 200, code: null, reason: null, params: {}, mayHaveRun: true },
    } as const;
    const record = {
      ...{ mockId, app: 7, ruleId: '1', confId: null, ts: null, target: 'all', keyName: null, batchId: null },
      ...{ address: 'a', history: [{ state: 'succeeded' as const, at: 1 }], warnings: [] },
      ...{ ...ended, outcome: 'TRUE' as const, answeredAt: 1, lateResult: false, rules: null },
      ...{ lane: null, error: null, written: null, dryRun: false, comparisonId: null, derivedFrom: null },
    };
    await history.add({ record, input: text(15_000), result: { body: text(15_000) } });
  }

  async function runBatch(): Promise<void> {
    const batchId = randomUUID();
    const cases = Array.from({ length: 20 }, (_, n) => ({
      ...{ name: `case ${n}`, input: text(10_000), ts: null, tags: [], skip: false, line: n, expect: null },
    }));
    const batch: Batch = {
      ...{ v: 1, batchId, app: 7, ruleId: '1', confId: null, targets: ['all'], cases: cases.length, concurrency: 1 },
      ...{ stopAfterFailures: null, keyName: null, createdAt: Date.now() },
      ...{ file: null, etag: null, from: null, dryRun: false, ignore: [] },
    };
    expect(await batches.create(batch, cases)).toBe('created');
    const head = { verdict: 'passed', mayHaveRun: true, differences: 0, outcome: null, address: null } as const;
    const rest = {
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
    for (let n = 0; n < cases.length; n++) {
      await batches.begin(batchId, n, 1);
      const detail = { differences: [], notChecked: [], data: text(15_000), cut: false, nodes: null };
      await batches.settle(batchId, { n, targetIndex: 0, head: { ...head, ...rest }, detail });
    }
    expect(await batches.change(batchId, ['running'], 'finished')).toBe(true);
  }

  try {
    for (let round = 0; written < WRITTEN_MB * MIB; round++) {
      for (let count = 0; count < 20; count++) await addExecution();
      await runBatch();
      if (round % 10 === 0) largest = Math.max(largest, await megabytes(folder));
    }
    largest = Math.max(largest, await megabytes(folder));
    console.log(`${Math.round(written / MIB)} MB written, at most ${Math.round(largest)} of ${BOUND_MB} MB taken`);
    expect(await batches.bytes()).toBeGreaterThan((LIMIT_MB * MIB) / 2);
    expect(largest).toBeLessThan(BOUND_MB);
  } finally {
    await close();
  }
}, 600_000);
