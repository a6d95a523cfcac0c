import type { Data } from '../../../../src/client/engine/data/data.ts';
import type { LeafClass, LeafDefinition } from '../../../../src/client/leaves/leaf.ts';

/** A way to write a leaf, and the keys it reads or writes. `?`: keys that the code alone does not tell. */
export type Style = { style: string; leaf: LeafClass | LeafDefinition; keys: readonly string[] };

/** A leaf of one method, for styles that need no more. */
export const quick = (style: string, keys: readonly string[], doNone: (service: Data) => void): Style => ({
  ...{ style, keys },
  leaf: class {
    doNone = doNone;
  },
});
