import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { describe, expect, inject, it } from 'vitest';
import { createListExecutions } from '../../../src/api/executions/list-executions.ts';
import { readCondition } from '../../../src/api/executions/search/search-conditions.ts';
import { type ExecutionRecord, recordSchema } from '../../../src/shared/contract/execution-record.ts';
import { createPrivacy, maskSetting } from '../../../src/shared/privacy/privacy.ts';
import type { QueueBackend } from '../../../src/shared/queue/queue-backend.ts';
import { embeddedStores } from '../../../src/shared/store/embedded/stores/stores.ts';
import { treeKey } from '../../../src/shared/store/history/trees.ts';
import { redisStores } from '../../../src/shared/store/redis/redis-stores.ts';
import { withEmptyRedis } from '../../support/empty-redis.ts';
import { memoryTables } from '../../support/memory-stores.ts';

const AMPLE = { count: 1000, seconds: 60, bytes: 1_000_000 };
const [OLD, NEW] = ['a'.repeat(22), 'b'.repeat(22)];
const [MASKED, OFF] = [8, 9];
const PRIVATE = createPrivacy({ MASK: maskSetting.parse(`${MASKED}:name`), HISTORY_OFF: new Set([OFF]) });

type Stores = Pick<QueueBackend, 'store' | 'openHistory' | 'openTrees'>;
type Open = () => Stores;

describe('the history of one process', () => {
  keepsItsPromises(() => embeddedStores(memoryTables()));
});

const choice = inject('redis');
describe.skipIf(choice.kind === 'unavailable')('the history of all processes, in Redis', () => {
  let redis: Redis;
  withEmptyRedis(choice, (own) => {
    redis = own;
  });
  keepsItsPromises(() => redisStores(redis, { prefix: '{rule-server}', openForRecords: () => redis }));
});

/** A history, and runs on a tree of so many characters in it. */
function createWorld(open: Open, { limits = AMPLE, privacy = PRIVATE } = {}) {
  const { store, openHistory, openTrees } = open();
  const trees = openTrees(limits.bytes);
  const history = openHistory(limits, { privacy, trees });
  const { pins } = history;
  const lists = createListExecutions({ history, privacy, open: async () => [] });
  async function ran({ size = 100, input = '{}', body = '{}', ...more }: Run = {}): Promise<ExecutionRecord> {
    const record = recordOn(more);
    if (record.rules?.digest)
      await trees.keep(treeKey(record.app, record.rules.digest), treeOf(record.rules.digest, size), 60);
    await history.add({ record, input, result: { body } });
    return record;
  }
  /** Neither the history nor the room of trees has anything of it any more: `treeOf` is what the pins keep. */
  async function treeOfPins(record: ExecutionRecord): Promise<string | null> {
    for (const n of Array(3).keys()) await trees.keep(`${n}`, 'x'.repeat(limits.bytes / 2), 60);
    expect(await trees.get(treeKey(record.app, record.rules?.digest ?? ''))).toBeNull();
    return pins.treeOf(record);
  }
  const search = async (filter: Partial<Parameters<typeof lists.search>[0]>) =>
    (await lists.search({ limit: 100, where: [], ...filter })).records.map(({ mockId }) => mockId);
  return { store, history, pins, ran, treeOfPins, search };
}

const treeOf = (digest: string, size = 100) => JSON.stringify({ digest, root: 'x'.repeat(size) });

type Run = Partial<Pick<ExecutionRecord, 'app' | 'batchId' | 'error' | 'ruleId'>> & {
  digest?: string;
  size?: number;
  input?: string;
  body?: string;
};

function recordOn({ digest = OLD, ...more }: Run): ExecutionRecord {
  const history = [
    { state: 'queued', at: 1 },
    { state: 'timed-out', at: 2 },
  ];
  const asked = { mockId: randomUUID(), app: 7, ruleId: '1', confId: null, ts: null, target: 'all', keyName: null };
  const ended = { address: 'one', state: 'timed-out', history, warnings: [] };
  const ending = { status: 504, code: 'no-answer', reason: null, params: {}, mayHaveRun: true };
  const none = { batchId: null, lane: null, outcome: null, answeredAt: null, error: null, written: null };
  const plain = { ...none, lateResult: false, dryRun: false, comparisonId: null, derivedFrom: null };
  return recordSchema.parse({
    ...asked,
    ...ended,
    ...plain,
    ending,
    rules: { released: '1', loaded: '1', digest },
    ...more,
  });
}

function keepsItsPromises(open: Open): void {
  it('has calls and items of batches apart, and finds either by its id', async () => {
    const { history, ran, search } = createWorld(open);
    const [call, item] = [await ran({ body: '"call"' }), await ran({ batchId: 'b1', body: '"item"' })];
    expect(await search({})).toEqual([call.mockId]);
    expect(await search({ batchId: 'b1' })).toEqual([item.mockId]);
    expect([await history.result(call.mockId), await history.result(item.mockId)]).toEqual(['"call"', '"item"']);
    expect((await history.kept()).executions).toBe(1);
    await history.addLateResult(item.mockId, '"late"');
    expect(await history.get(item.mockId)).toMatchObject({ batchId: 'b1', lateResult: true });
    expect(await history.lateResult(item.mockId)).toBe('"late"');
  });

  it('any number of items of batches evicts no call', async () => {
    const { history, ran } = createWorld(open, { limits: { ...AMPLE, bytes: 20_000 } });
    const call = await ran();
    for (let n = 0; n < 30; n++) await ran({ batchId: 'b1', body: 'x'.repeat(1000) });
    expect(await history.get(call.mockId)).toMatchObject({ mockId: call.mockId });
  });

  it('searches inputs, words and members, also among what is pinned alone', async () => {
    const { pins, ran, search } = createWorld(open);
    const runs = [await ran({ input: '{"uid":1}' }), await ran({ input: '{"uid":2}', error: 'no contract' })];
    const [first, second] = runs.map(({ mockId }) => mockId);
    const where = [readCondition('uid>=2')].filter((condition) => 'path' in condition);
    expect(await search({ app: 7, where })).toEqual([second]);
    expect(await search({ text: 'contract' })).toEqual([second]);
    expect((await search({ app: 7 })).toSorted()).toEqual([first, second].toSorted());
    expect(await search({ app: 6 })).toEqual([]);
    await pins.pin(first ?? '');
    expect(await search({ pinned: true })).toEqual([first]);
    expect(await search({ app: 7, where, pinned: true })).toEqual([]);
  });

  it('keeps no hidden field of a masked app: input, answer, error, late answer and pin', async () => {
    const { history, pins, ran, search } = createWorld(open);
    const text = '{"name":"secret"}';
    const { mockId } = await ran({ app: MASKED, input: text, body: `{"the service":${text}}`, error: 'no secret' });
    await history.addLateResult(mockId, `{"the service":${text}}`);
    await pins.pin(mockId);
    for (const kept of [history, pins]) {
      const texts = [await kept.input(mockId), await kept.result(mockId), await kept.lateResult(mockId)];
      expect(JSON.stringify([...texts, await kept.get(mockId)])).not.toContain('secret');
      expect(texts).toEqual(texts.map(() => expect.stringContaining('***')));
    }
    expect(await search({ text: 'secret' })).toEqual([]);
  });

  it('keeps of a private app that an execution was there and how it ended, and no list has it', async () => {
    const { history, ran, search } = createWorld(open);
    const { mockId } = await ran({ app: OFF, input: '{"name":1}', body: '"answer"', error: 'sentence' });
    await history.addLateResult(mockId, '"late"');
    expect(await history.get(mockId)).toMatchObject({ app: OFF, error: null, ending: { code: 'no-answer' } });
    const texts = [await history.input(mockId), await history.result(mockId), await history.lateResult(mockId)];
    expect(texts.filter(Boolean)).toEqual([]);
    expect([await search({}), await search({ app: OFF })]).toEqual([[], []]);
  });

  it('erases an execution with its texts, its pin and the tree of that', async () => {
    const { history, pins, ran, search, treeOfPins } = createWorld(open);
    const [gone, stays] = [await ran(), await ran({ digest: NEW, batchId: 'b1' })];
    for (const { mockId } of [gone, stays]) await pins.pin(mockId);
    await history.erase(gone.mockId);
    const { mockId } = gone;
    for (const kept of [history, pins])
      expect([await kept.get(mockId), await kept.input(mockId), await kept.result(mockId)]).toEqual([null, null, null]);
    expect([await search({ pinned: true }), await treeOfPins(gone)]).toEqual([[stays.mockId], null]);
    expect(await pins.get(stays.mockId)).toMatchObject({ batchId: 'b1' });
    await history.erase(stays.mockId);
    expect([await history.get(stays.mockId), await pins.get(stays.mockId)]).toEqual([null, null]);
  });

  it('keeps the tree of pinned executions when nothing else has it: once for all that ran on it, until the last of them', async () => {
    const { history, pins, treeOfPins, ran } = createWorld(open);
    const [first, second] = [await ran(), await ran()];
    for (const { mockId } of [first, second]) expect(await pins.pin(mockId)).toBe('pinned');
    await history.addLateResult(first.mockId, '{}');
    expect(await treeOfPins(first)).toBe(treeOf(OLD));
    await pins.unpin(first.mockId);
    expect(await treeOfPins(second)).toBe(treeOf(OLD));
    await pins.unpin(second.mockId);
    expect(await treeOfPins(second)).toBeNull();
  });

  it('keeps the pinned tree of its own app and rules: unpinning another one takes nothing of it', async () => {
    const { pins, treeOfPins, ran } = createWorld(open);
    const runs = [await ran(), await ran({ app: 6 }), await ran({ digest: NEW })];
    for (const { mockId } of runs) await pins.pin(mockId);
    await pins.unpin(runs[0]?.mockId ?? '');
    expect(await Promise.all(runs.map(treeOfPins))).toEqual([null, treeOf(OLD), treeOf(NEW)]);
  });

  it('refuses a pin whose tree does not fit, until another one is unpinned', async () => {
    const { pins, ran } = createWorld(open, { limits: { ...AMPLE, bytes: 20_000 } });
    const [small, large] = [await ran(), await ran({ digest: NEW, size: 9600 })];
    expect(await pins.pin(small.mockId)).toBe('pinned');
    expect(await pins.pin(large.mockId)).toBe('full');
    await pins.unpin(small.mockId);
    expect(await pins.pin(large.mockId)).toBe('pinned');
  });

  it('counts the trees that were pinned before', async () => {
    const { pins, ran } = createWorld(open, { limits: { ...AMPLE, bytes: 20_000 } });
    const runs = [await ran({ size: 6000 }), await ran({ digest: NEW, size: 6000 })];
    expect(await pins.pin(runs[0]?.mockId ?? '')).toBe('pinned');
    expect(await pins.pin(runs[1]?.mockId ?? '')).toBe('full');
  });

  it('pins nothing that it does not have', async () => {
    const { pins } = createWorld(open);
    expect(await pins.pin(randomUUID())).toBe('unknown');
  });
}
