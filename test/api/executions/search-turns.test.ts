import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createSearchTurns } from '../../../src/api/executions/search/search-turns.ts';

/** A search that lasts until it is ended. */
function createSearches() {
  const inTurn = createSearchTurns();
  const running: string[] = [];
  const ends = new Map<string, () => void>();
  const begin = (label: string, name: string | null = label) =>
    inTurn(name, async () => {
      const end = Promise.withResolvers<void>();
      running.push(label);
      ends.set(label, end.resolve);
      await end.promise;
      running.splice(running.indexOf(label), 1);
      return label;
    });
  const end = async (label: string) => {
    ends.get(label)?.();
    await setImmediate();
  };
  return { begin, end, running };
}

describe('searches in one API', () => {
  it('run two at once, the others when it is their turn', async () => {
    const { begin, end, running } = createSearches();
    const all = ['ann', 'bob', 'cid'].map((name) => begin(name));
    await setImmediate();
    expect(running).toEqual(['ann', 'bob']);
    await end('bob');
    expect(running).toEqual(['ann', 'cid']);
    await Promise.all([end('ann'), end('cid')]);
    expect(await Promise.all(all)).toEqual(['ann', 'bob', 'cid']);
  });

  it('of one caller run one after the other, and do not keep the next caller waiting', async () => {
    const { begin, end, running } = createSearches();
    const all = [begin('ann 1', 'ann'), begin('ann 2', 'ann'), begin('bob')];
    await setImmediate();
    expect(running).toEqual(['ann 1', 'bob']);
    await end('ann 1');
    expect(running).toEqual(['bob', 'ann 2']);
    await Promise.all([end('bob'), end('ann 2')]);
    await Promise.all(all);
  });

  it('are refused when twenty wait, and taken again once one has its turn', async () => {
    const { begin, end } = createSearches();
    const all = Array.from({ length: 22 }, (_, n) => begin(`${n}`, null));
    expect(await begin('one more', null)).toBe('crowded');
    await setImmediate();
    await end('0');
    const late = begin('late', null);
    for (let n = 1; n < 22; n++) await end(`${n}`);
    await end('late');
    expect(await late).toBe('late');
    await Promise.all(all);
  });

  it('of one caller wait in fives: one more is refused, and others still get in', async () => {
    const { begin, end, running } = createSearches();
    const ann = Array.from({ length: 6 }, (_, n) => begin(`ann ${n}`, 'ann'));
    expect(await begin('ann 6', 'ann')).toBe('crowded');
    const others = Array.from({ length: 5 }, (_, n) => begin(`bob ${n}`, 'bob'));
    const nobody = Array.from({ length: 6 }, (_, n) => begin(`nobody ${n}`, null));
    await setImmediate();
    expect(running).toEqual(['ann 0', 'bob 0']);
    await end('ann 0');
    const next = begin('ann 7', 'ann'); // one has left the line
    const all = [...ann, ...others, ...nobody, next];
    for (let turn = 0; turn < all.length; turn++) await end(running[0] ?? '');
    const done = await Promise.all(all);
    expect(done).not.toContain('crowded');
    expect(done.at(-1)).toBe('ann 7');
  });

  it('that fail leave their place to the next', async () => {
    const inTurn = createSearchTurns();
    const fail = () => inTurn('ann', () => Promise.reject(new Error('no store')));
    await expect(fail()).rejects.toThrow('no store');
    expect(await inTurn('ann', async () => 'done')).toBe('done');
  });
});
