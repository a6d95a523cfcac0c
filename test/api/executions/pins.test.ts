import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { describe, expect, inject, it } from 'vitest';
import { createPins } from '../../../src/api/executions/pins.ts';
import { type ExecutionRecord, recordSchema } from '../../../src/shared/contract/execution-record.ts';
import { embeddedStores } from '../../../src/shared/store/embedded/stores/stores.ts';
import { type HistoryLimits, pinnedLimitsOf } from '../../../src/shared/store/history/history.ts';
import { createRedisHistory } from '../../../src/shared/store/history/redis-history.ts';
import { createRedisTrees, treeKey } from '../../../src/shared/store/history/trees.ts';
import { createRedisStore } from '../../../src/shared/store/key-value-store.ts';
import { withEmptyRedis } from '../../support/empty-redis.ts';
import { memoryShelves } from '../../support/memory-stores.ts';

const PREFIX = '{rule-server}';
const AMPLE = { count: 1000, seconds: 60, bytes: 1_000_000 };
const [OLD, NEW] = ['a'.repeat(22), 'b'.repeat(22)];

type Stores = Pick<Parameters<typeof createPins>[0], 'history' | 'pinned' | 'pinnedTrees' | 'trees'>;
type Open = (limits: HistoryLimits) => Stores;

describe('pinned executions in one process', () => {
  keepTheirPromises((limits) => {
    const { openHistory, openPinned, openTrees, pinnedTrees } = embeddedStores(memoryShelves());
    const pinned = openPinned(pinnedLimitsOf(limits));
    return { history: openHistory(limits), pinned, pinnedTrees, trees: openTrees(limits.bytes) };
  });
});

const choice = inject('redis');
describe.skipIf(choice.kind === 'unavailable')('pinned executions in Redis', () => {
  let redis: Redis;
  withEmptyRedis(choice, (own) => {
    redis = own;
  });
  keepTheirPromises((limits) => ({
    history: createRedisHistory(redis, { prefix: PREFIX, name: 'history' }, limits),
    pinned: createRedisHistory(redis, { prefix: PREFIX, name: 'pinned-history' }, pinnedLimitsOf(limits)),
    pinnedTrees: createRedisStore(redis, PREFIX),
    trees: createRedisTrees(redis, PREFIX, limits.bytes),
  }));
});

/** The stores with pins, and runs on a tree of so many characters in them. */
function createWorld(open: Open, limits = AMPLE) {
  const stores = open(limits);
  const pins = createPins({ ...stores, limits });
  const treeOfPins = (digest: string, app = 7) => stores.pinnedTrees.get(`tree-of-pinned:${treeKey(app, digest)}`);
  async function ran({ digest = OLD, app = 7, size = 100 } = {}): Promise<ExecutionRecord> {
    const record = recordOn(digest, app);
    await stores.trees.keep(treeKey(app, digest), treeOf(digest, size), 60);
    await stores.history.add({ record, input: '{}', result: { body: '{}' } });
    return record;
  }
  /** Neither the history nor the room of trees has anything of it any more. */
  async function leaves(record: ExecutionRecord): Promise<ExecutionRecord> {
    await stores.history.erase(record.mockId);
    for (const n of Array(3).keys()) await stores.trees.keep(`${n}`, 'x'.repeat(limits.bytes / 2), 60);
    expect(await stores.trees.get(treeKey(record.app, record.rules?.digest ?? ''))).toBeNull();
    const kept = await stores.pinned.get(record.mockId);
    if (kept === null) throw new Error(`${record.mockId} is not pinned`);
    return kept;
  }
  return { ...stores, pins, treeOfPins, ran, leaves };
}

const treeOf = (digest: string, size = 100) => JSON.stringify({ digest, root: 'x'.repeat(size) });

function recordOn(digest: string, app: number): ExecutionRecord {
  const history = [
    { state: 'queued', at: 1 },
    { state: 'timed-out', at: 2 },
  ];
  const asked = { mockId: randomUUID(), app, ruleId: '1', confId: null, ts: null, target: 'all', keyName: null };
  const ended = { address: 'one', state: 'timed-out', history, warnings: [] };
  const outcome = { status: 504, code: 'no-answer', mayHaveRun: true };
  return recordSchema.parse({ ...asked, ...ended, outcome, rules: { released: '1', loaded: '1', digest } });
}

function keepTheirPromises(open: Open): void {
  it('have their tree when nothing else has it any more: once for all that ran on it, gone with the last of them', async () => {
    const { pins, treeOfPins, ran, leaves } = createWorld(open);
    const [first, second] = [await ran(), await ran()];
    for (const { mockId } of [first, second]) expect(await pins.pin(mockId)).toBe('pinned');
    expect(await pins.treeOf(await leaves(first))).toBe(treeOf(OLD));
    await pins.unpin(first.mockId);
    expect(await pins.treeOf(await leaves(second))).toBe(treeOf(OLD));
    await pins.unpin(second.mockId);
    expect(await treeOfPins(OLD)).toBeNull();
  });

  it('keep the tree of their own app and rules: unpinning another one takes nothing of it', async () => {
    const { pins, treeOfPins, ran } = createWorld(open);
    const runs = [await ran(), await ran({ app: 8 }), await ran({ digest: NEW })];
    for (const { mockId } of runs) await pins.pin(mockId);
    await pins.unpin(runs[0]?.mockId ?? '');
    expect(await Promise.all([treeOfPins(OLD), treeOfPins(OLD, 8), treeOfPins(NEW)])).toEqual([
      null,
      treeOf(OLD),
      treeOf(NEW),
    ]);
  });

  it('are full when the tree of one does not fit any more, and can be pinned once another one is unpinned', async () => {
    const { pins, ran } = createWorld(open, { ...AMPLE, bytes: 20_000 });
    const [small, large] = [await ran(), await ran({ digest: NEW, size: 9600 })];
    expect(await pins.pin(small.mockId)).toBe('pinned');
    expect(await pins.pin(large.mockId)).toBe('full');
    await pins.unpin(small.mockId);
    expect(await pins.pin(large.mockId)).toBe('pinned');
  });

  it('count the trees that were pinned before', async () => {
    const { pins, ran } = createWorld(open, { ...AMPLE, bytes: 20_000 });
    const runs = [await ran({ size: 6000 }), await ran({ digest: NEW, size: 6000 })];
    expect(await pins.pin(runs[0]?.mockId ?? '')).toBe('pinned');
    expect(await pins.pin(runs[1]?.mockId ?? '')).toBe('full');
  });

  it('that the history does not have are unknown', async () => {
    const { pins } = createWorld(open);
    expect(await pins.pin(randomUUID())).toBe('unknown');
  });
}
