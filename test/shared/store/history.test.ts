import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { describe, expect, inject, it } from 'vitest';
import type { ExecutionRecord } from '../../../src/shared/contract/execution-record.ts';
import { createEmbeddedHistory } from '../../../src/shared/store/embedded/stores/history.ts';
import type { Entry } from '../../../src/shared/store/embedded/stores/tables.ts';
import {
  BadCursor,
  cursorOf,
  type HistoryLimits,
  type HistoryPart,
  resultKey,
} from '../../../src/shared/store/history/history.ts';
import { createRedisHistory } from '../../../src/shared/store/history/redis-history.ts';
import { createRedisStore, type Store } from '../../../src/shared/store/key-value-store.ts';
import { withEmptyRedis } from '../../support/empty-redis.ts';
import { memoryStore, memoryTables } from '../../support/memory-stores.ts';
import { createOwnTimers } from '../../support/own-time.ts';

type Open = (limits: HistoryLimits) => { history: HistoryPart; store: Store };
const OWN = { prefix: '{rule-server}', name: 'history' } as const;
const AMPLE = { count: 1000, seconds: 60, bytes: 10_000_000 };

describe('the history in memory', () => {
  keepsItsPromises((limits) => {
    const store = memoryStore();
    return { store, history: createEmbeddedHistory(store, limits, memoryTables()('history')) };
  });
});

describe('the history in memory, on a clock of its own', () => {
  const begin = () => {
    const { run, standStill: pass } = createOwnTimers();
    const history = run(() => createEmbeddedHistory(memoryStore(), AMPLE, memoryTables()('history')));
    const add = async (count: number, more: Partial<ExecutionRecord> = {}) => {
      const records = Array.from({ length: count }, () => ({ ...recordOf(), ...more }));
      for (const record of records) await run(() => history.add({ record, input: '', result: { body: '' } }));
      return records.map(({ mockId }) => mockId);
    };
    const list = (limit: number, cursor?: string | null) =>
      run(() => history.list({ limit, ...(cursor && { cursor }) })).then(({ records, nextCursor }) => ({
        ids: records.map(({ mockId }) => mockId),
        nextCursor,
      }));
    return { run, pass, history, add, list };
  };

  it('misses none of one millisecond after the one that the cursor names was erased', async () => {
    const { run, pass, history, add, list } = begin();
    const old = await add(2);
    pass(1);
    const together = await add(6);
    pass(1);
    const young = await add(1);
    const { ids, nextCursor } = await list(4);
    expect(ids).toEqual([...young, ...together.slice(3).reverse()]);
    await run(() => history.erase(ids.at(-1) ?? ''));
    const rest = await list(20, nextCursor);
    expect(rest.ids).toEqual(expect.arrayContaining([...together.slice(0, 3), ...old]));
    expect(rest.ids).not.toContain(young[0]);
    expect(rest.nextCursor).toBeNull();
  });

  it('is walked whole, each once, after its clock was put back', async () => {
    const { pass, add, list } = begin();
    const before = await add(5);
    pass(-30_000);
    const after = await add(5);
    const walked: string[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await list(2, cursor);
      walked.push(...page.ids);
      cursor = page.nextCursor;
    }
    expect(walked).toEqual([...before, ...after].reverse());
  });
});

describe('the history on a table that cannot be written once', () => {
  const tight = { ...AMPLE, count: 3 };

  it('an execution that was not kept is in no list, and is kept by the next try', async () => {
    const { history, table } = openFailing(tight);
    const before = await settled(history);
    const bytes = (await history.kept()).bytes;
    const lost = recordOf();
    const add = () => history.add({ record: lost, input: '{"a":1}', result: { body: '{"b":2}' } });
    table.failsOnce();
    await expect(add()).rejects.toThrow('no room');
    expect(await history.get(lost.mockId)).toBeNull();
    expect((await history.list({ limit: 5 })).records).toEqual([before]);
    expect((await history.kept()).bytes).toBe(bytes);

    await add();
    expect(await history.get(lost.mockId)).toEqual(lost);
    expect((await history.list({ limit: 5 })).records).toEqual([lost, before]);
    expect([await history.input(lost.mockId), await history.result(lost.mockId)]).toEqual(['{"a":1}', '{"b":2}']);
    const again = createEmbeddedHistory(memoryStore(), tight, table);
    expect(await again.get(lost.mockId)).toEqual(lost);
  });
});

/** A history whose table can be told to refuse what is put next. */
function openFailing(limits: HistoryLimits) {
  const own = memoryTables()('history');
  let fails = false;
  const table = {
    ...own,
    async put(entries: readonly Entry[]): Promise<void> {
      if (!fails) return own.put(entries);
      fails = false;
      throw new Error('no room');
    },
    failsOnce: () => {
      fails = true;
    },
  };
  return { history: createEmbeddedHistory(memoryStore(), limits, table), table };
}

const choice = inject('redis');
describe.skipIf(choice.kind === 'unavailable')('the history in Redis', () => {
  let redis: Redis;
  withEmptyRedis(choice, (own) => {
    redis = own;
  });
  keepsItsPromises((limits) => ({
    store: createRedisStore(redis, OWN.prefix),
    history: createRedisHistory(redis, OWN, limits),
  }));

  it('says how many bytes it holds, late answers included, and gives them back', async () => {
    const history = createRedisHistory(redis, OWN, { ...AMPLE, count: 1 });
    const bytes = async () => Number(await redis.get('{rule-server}:history:bytes'));
    const first = await settled(history, { body: 'x'.repeat(1000) });
    const before = await bytes();
    await history.addLateResult(first.mockId, 'y'.repeat(500));
    await history.addLateResult(first.mockId, 'z'.repeat(500)); // only the first one counts
    expect(await bytes()).toBe(before + 500);
    await new Promise((resolve) => setTimeout(resolve, 2)); // so that it is known which one is older
    await settled(history, { body: 'x'.repeat(1000) });
    expect(await bytes()).toBe(before);
  });

  it('adds those that come together in one step, but no more than it can remove, nor very much text', async () => {
    const history = createRedisHistory(redis, OWN, { ...AMPLE, count: 60 });
    const steps = () => stepsOf(redis);
    await settled(history);
    const before = await steps();
    const all = await Promise.all(Array.from({ length: 120 }, (_, count) => settled(history, { body: `${count}` })));
    expect((await steps()) - before).toBe(3); // 50, 50 and 20
    const { records } = await history.list({ limit: 200 });
    expect(records).toHaveLength(60);
    const kept = records[0]?.mockId ?? ''; // of those of one millisecond it may be any
    const number = all.findIndex(({ mockId }) => mockId === kept);
    expect(await history.get(kept)).toEqual(all[number]);
    expect(await history.result(kept)).toBe(`${number}`);

    const afterMany = await steps();
    const body = 'x'.repeat(600_000);
    const large = await Promise.all([1, 2, 3].map(() => settled(history, { body })));
    expect((await steps()) - afterMany).toBe(3);
    expect(await Promise.all(large.map(({ mockId }) => history.result(mockId)))).toEqual([body, body, body]);
  });

  it('tells each of those that came together that they could not be added', async () => {
    const history = createRedisHistory(redis, OWN, AMPLE);
    await redis.set('{rule-server}:history:index', 'of another kind');
    const both = await Promise.allSettled([settled(history), settled(history)]);
    expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });

  it('a late answer leaves what a later version wrote about the execution', async () => {
    const history = createRedisHistory(redis, OWN, AMPLE);
    const record = await settled(history);
    const key = `{rule-server}:history:record:${record.mockId}`;
    await redis.set(key, JSON.stringify({ ...record, later: { known: 1 } }), 'KEEPTTL');
    await history.addLateResult(record.mockId, '{}');
    expect(JSON.parse((await redis.get(key)) ?? '')).toMatchObject({ lateResult: true, later: { known: 1 } });
  });

  it('keeps nothing longer than its time, even when nothing is added any more', async () => {
    const history = createRedisHistory(redis, OWN, { ...AMPLE, seconds: 2 });
    const { mockId } = await settled(history, { body: '{}', input: '{"a":1}' });
    await history.addLateResult(mockId, '{}');
    const texts = async () => (await redis.keys(`*${mockId}`)).length;
    expect(await texts()).toBe(4);
    await expect.poll(texts, { timeout: 60_000 }).toBe(0);
  });

  describe('a large result that there is no room for', () => {
    const tight = { ...AMPLE, bytes: 1000 };
    const large = 'x'.repeat(5000);

    async function added(history: HistoryPart): Promise<string> {
      const record = recordOf();
      await createRedisStore(redis, OWN.prefix).setIfAbsent(resultKey(record.mockId), large, 60);
      await history.add({ record, input: '{}', result: { stored: resultKey(record.mockId) } });
      return record.mockId;
    }

    it('can be read for a while by who waits for it, and not any more once that one has it', async () => {
      const history = createRedisHistory(redis, OWN, tight);
      const mockId = await added(history);
      expect(await history.get(mockId)).toBeNull();
      expect(await history.result(mockId)).toBe(large);
      await history.delivered(mockId);
      expect(await history.result(mockId)).toBeNull();
    });

    it('goes at once when that one was quicker than the history', async () => {
      const history = createRedisHistory(redis, OWN, tight);
      const record = recordOf();
      await createRedisStore(redis, OWN.prefix).setIfAbsent(resultKey(record.mockId), large, 60);
      await history.delivered(record.mockId);
      await history.add({ record, input: '{}', result: { stored: resultKey(record.mockId) } });
      expect(await history.result(record.mockId)).toBeNull();
    });

    it('stays, when there is room for it after all', async () => {
      const history = createRedisHistory(redis, OWN, AMPLE);
      const mockId = await added(history);
      await history.delivered(mockId);
      expect(await history.result(mockId)).toBe(large);
    });
  });

  it('a list reads records and no results', async () => {
    const history = createRedisHistory(redis, OWN, AMPLE);
    for (let count = 0; count < 5; count++) await settled(history, { body: `{"secret":"${'x'.repeat(100_000)}"}` });
    const before = await sentBytes();
    expect((await history.list({ limit: 5 })).records).toHaveLength(5);
    expect((await sentBytes()) - before).toBeLessThan(20_000);
  });

  async function sentBytes(): Promise<number> {
    return Number(/total_net_output_bytes:(\d+)/.exec(await redis.info('stats'))?.[1]);
  }
});

function keepsItsPromises(open: Open): void {
  it('an execution comes back with its texts; of a second one with the same id nothing is kept', async () => {
    const { history } = open(AMPLE);
    const record = await settled(history, { body: '{"n":1e400}', input: '{"uid":9007199254740993}' });
    await history.add({ record: { ...record, state: 'failed' }, input: 'other', result: { body: 'other' } });
    expect(await history.get(record.mockId)).toEqual(record);
    expect(await history.result(record.mockId)).toBe('{"n":1e400}');
    expect(await history.input(record.mockId)).toBe('{"uid":9007199254740993}');
    expect(await history.lateResult(record.mockId)).toBeNull();
  });

  it('takes a result over that was put into the store', async () => {
    const { history, store } = open(AMPLE);
    await store.setIfAbsent('result:1', '{"large":true}', 60);
    const record = recordOf();
    await history.add({ record, input: '{}', result: { stored: 'result:1' } });
    expect(await history.result(record.mockId)).toBe('{"large":true}');
  });

  it('an input beyond 64 KiB is not kept', async () => {
    const { history } = open(AMPLE);
    const { mockId } = await settled(history, { input: `"${'x'.repeat(70_000)}"` });
    expect(await history.input(mockId)).toBeNull();
  });

  it('keeps a late answer once, and the record says so', async () => {
    const { history } = open(AMPLE);
    const { mockId } = await settled(history);
    await history.addLateResult(mockId, 'first');
    await history.addLateResult(mockId, 'second');
    await history.addLateResult(randomUUID(), 'of nobody');
    expect(await history.lateResult(mockId)).toBe('first');
    expect((await history.get(mockId))?.lateResult).toBe(true);
  });

  it('beyond its count the oldest leave', async () => {
    const { history } = open({ ...AMPLE, count: 3 });
    const records = await many(5, history);
    expect(await known(history, records)).toEqual([false, false, true, true, true]);
  });

  it('beyond its bytes the oldest leave, one that is larger than all of them included', async () => {
    const { history } = open({ ...AMPLE, bytes: 5000 });
    const records = await many(4, history, { body: 'x'.repeat(1500) });
    expect(await known(history, records)).toEqual([false, false, true, true]);
    const giant = await settled(history, { body: 'x'.repeat(6000) });
    expect(await known(history, [...records, giant])).toEqual([false, false, false, false, false]);
    expect((await history.list({ limit: 10 })).records).toEqual([]);
  });

  it('late answers count as well: beyond the bytes the oldest leave', async () => {
    const { history } = open({ ...AMPLE, bytes: 10_000 });
    const records = await many(3, history);
    for (const { mockId } of records) await history.addLateResult(mockId, 'x'.repeat(4000));
    expect(await known(history, records)).toEqual([false, true, true]);
    const [, second] = records;
    if (second) expect(await history.lateResult(second.mockId)).toHaveLength(4000);
  });

  it('a late answer that is larger than all of them may be leaves nothing', async () => {
    const { history } = open({ ...AMPLE, bytes: 10_000 });
    const records = await many(3, history);
    const [first] = records;
    if (first) await history.addLateResult(first.mockId, 'x'.repeat(20_000));
    expect((await known(history, records))[0]).toBe(false);
    if (first) expect(await history.lateResult(first.mockId)).toBeNull();
  });

  it('what is too old leaves', async () => {
    const { history } = open({ ...AMPLE, seconds: 1 });
    const old = await settled(history);
    await expect.poll(() => history.get(old.mockId), { timeout: 60_000 }).toBeNull();
    const young = await settled(history);
    expect((await history.list({ limit: 10 })).records.map(({ mockId }) => mockId)).toEqual([young.mockId]);
  });

  it('a page ends where the next begins, over many executions of one millisecond and of other apps', async () => {
    const { history } = open({ ...AMPLE, count: 5000 });
    const app = (count: number) => (count % 100 === 0 ? 7 : 8);
    const all = await Promise.all(Array.from({ length: 1300 }, (_, count) => settled(history, { app: app(count) })));
    const wanted = all.filter(({ app }) => app === 7).map(({ mockId }) => mockId);
    const walked: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await history.list({ app: 7, limit: 5, cursor });
      walked.push(...page.records.map(({ mockId }) => mockId));
      cursor = page.nextCursor ?? undefined;
    } while (cursor);
    // Those of one millisecond may stand in any order, but each once.
    expect(walked.toSorted()).toEqual(wanted.toSorted());
  });

  it('a cursor whose execution has left is the end: what follows it left before', async () => {
    const { history } = open({ ...AMPLE, count: 4 });
    await many(4, history);
    const { nextCursor } = await history.list({ limit: 2 });
    await many(4, history);
    const page = await history.list({ limit: 2, cursor: nextCursor ?? '' });
    expect(page).toEqual({ records: [], nextCursor: null });
  });

  it('goes on after an execution that was erased meanwhile, with those before it', async () => {
    const { history } = open(AMPLE);
    const records = (await many(6, history)).toReversed();
    const { nextCursor } = await history.list({ limit: 2 });
    await history.erase(records[1]?.mockId ?? '');
    const rest = await history.list({ limit: 9, cursor: nextCursor ?? '' });
    expect(rest.records.map(({ mockId }) => mockId)).toEqual(records.slice(2).map(({ mockId }) => mockId));
    expect(rest.nextCursor).toBeNull();
  });

  it('goes on right after the run that a search ended with, however soon the next ones came', async () => {
    const { history } = open(AMPLE);
    const end = Date.now();
    const records = Array.from({ length: 6 }, () => ({
      ...recordOf(),
      history: [{ state: 'succeeded' as const, at: end }],
    }));
    for (const record of records) {
      await history.add({ record, input: '', result: { body: '' } });
      await new Promise((resolve) => setTimeout(resolve, 2)); // so that their order is known
    }
    const [, , , found] = records; // the third that a list tells
    const rest = await history.list({ limit: 9, cursor: found ? cursorOf(found) : '' });
    expect(rest.records.map(({ mockId }) => mockId)).toEqual(
      records
        .slice(0, 3)
        .reverse()
        .map(({ mockId }) => mockId),
    );
  });

  it('one behind very many of another rule is found: a page comes empty, with a cursor to go on', async () => {
    const { history } = open({ count: 50_000, seconds: 3600, bytes: 1_000_000_000 });
    const [wanted] = await many(1, history);
    const others = async (count: number) => {
      const records = Array.from({ length: count }, () => ({ ...recordOf(), ruleId: '2' }));
      await Promise.all(records.map((record) => history.add({ record, input: '', result: { body: '' } })));
    };
    for (let added = 0; added < 45_000; added += 500) await others(500);
    const pages: string[][] = [];
    let cursor: string | null | undefined;
    while (cursor !== null) {
      const page = await history.list({ ruleId: wanted?.ruleId ?? '', limit: 5, cursor });
      pages.push(page.records.map(({ mockId }) => mockId));
      cursor = page.nextCursor;
    }
    expect(pages).toEqual([[], [], [wanted?.mockId]]);
    const { records, nextCursor } = await history.list({ limit: 3 });
    expect([records.length, nextCursor]).toEqual([3, expect.any(String)]);
  });

  it('says how much there is, and since when', async () => {
    const { history } = open({ ...AMPLE, count: 3 });
    expect(await history.kept()).toEqual({ executions: 0, bytes: 0, oldest: null });
    const before = Date.now();
    await many(5, history, { body: 'x'.repeat(1000) });
    const { executions, bytes, oldest } = await history.kept();
    expect(executions).toBe(3);
    expect(bytes).toBeGreaterThan(3000);
    expect(oldest).toBeGreaterThanOrEqual(before);
  });

  it('a cursor that is not one is refused', async () => {
    const { history } = open(AMPLE);
    await expect(history.list({ limit: 2, cursor: 'x y' })).rejects.toThrow(BadCursor);
  });
}

/** How many scripts Redis ran. */
async function stepsOf(redis: Redis): Promise<number> {
  const told = await redis.info('commandstats');
  return [...told.matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g)].reduce((sum, [, calls]) => sum + Number(calls), 0);
}

async function settled(
  history: HistoryPart,
  { body = '{}', input = '{}', app = 1 }: { body?: string; input?: string; app?: number } = {},
): Promise<ExecutionRecord> {
  const record = { ...recordOf(), app };
  await history.add({ record, input, result: { body } });
  return record;
}

async function many(count: number, history: HistoryPart, more: { body?: string } = {}): Promise<ExecutionRecord[]> {
  const records: ExecutionRecord[] = [];
  for (let made = 0; made < count; made++) {
    records.push(await settled(history, more));
    await new Promise((resolve) => setTimeout(resolve, 2)); // so that their order is known
  }
  return records;
}

async function known(history: HistoryPart, records: ExecutionRecord[]): Promise<boolean[]> {
  return Promise.all(records.map(async ({ mockId }) => (await history.get(mockId)) !== null));
}

function recordOf(): ExecutionRecord {
  return {
    mockId: randomUUID(),
    app: 1,
    ruleId: '9007199254740993',
    confId: null,
    ts: null,
    target: 'all',
    keyName: null,
    batchId: null,
    address: 'client_1',
    state: 'succeeded',
    history: [
      { state: 'queued', at: 1 },
      { state: 'succeeded', at: 2 },
    ],
    warnings: [],
    ending: { status: 200, code: null, reason: null, params: {}, mayHaveRun: true },
    outcome: null,
    answeredAt: null,
    lateResult: false,
    written: null,
    rules: null,
    ...{ lane: null, error: null, dryRun: false, comparisonId: null, derivedFrom: null },
  };
}
