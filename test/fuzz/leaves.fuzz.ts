import { setTimeout } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Data } from '../../src/client/engine/data/data.ts';
import { type AccessedKey, createStore } from '../../src/client/engine/data/keys.ts';
import { keysOf } from '../client/analyzer/found.ts';
import { leafCode, type RandomLeaf } from './leaf-code.ts';
import { tryCases } from './try-cases.ts';

it('a key that a leaf reads is published, or it is said that the leaf may read more', () =>
  tryCases(
    'leaves',
    leafCode,
    async ({ make }) => {
      // The one field that a rule can configure has its default.
      const found = keysOf({ leaf: make() }).map((key) => key.replaceAll('{name}', 'name'));
      if (found.some((key) => /[?<]/.test(key))) return;
      for (const ts of [0, 1, 2]) expect(found).toEqual(expect.arrayContaining(await readBy(make(), ts)));
    },
    { served: false, runs: 3000 },
  ));

/** The keys that a run reads, without those that have an empty or undefined part: nobody means them. */
async function readBy(leaf: RandomLeaf, ts: number): Promise<string[]> {
  const keys = new Set<string>();
  const log = { read: ({ key }: AccessedKey) => keys.add(key), wrote: () => {} };
  const data = new Data({ store: createStore({ a: 'read' }), ts, signal: () => AbortSignal.abort() }, log);
  await new leaf().doNone(data).catch(() => {});
  await setTimeout(1);
  return [...keys].filter((key) => !/undefined|null|NaN|\[object|(^|\.)(\.|$)/i.test(key));
}
