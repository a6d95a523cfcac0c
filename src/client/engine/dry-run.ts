import type { ExactObject } from '../../shared/contract/json/raw-number.ts';
import type { Effects, Node } from './node.ts';
import type { State } from './state.ts';

/** The replacement of a node: its state, inversion included, and the keys it writes. */
export type Stub = { outcome: State; set: ExactObject };
export type Stubs = ReadonlyMap<bigint, Stub>;

/**
 * A run without effects. A stubbed node comes to its stub. A leaf with effects is not called: it counts as TRUE and writes nothing. A leaf
 * of which it is not known is called, and named.
 */
export function createDryRun(stubs: Stubs) {
  const stubbed = new Set<bigint>();
  const assumed = new Set<bigint>();
  const unsure = new Set<bigint>();

  return {
    /** The stub of a node; undefined for one that runs. */
    stubOf({ id }: Node): Stub | undefined {
      const stub = stubs.get(id);
      if (stub) stubbed.add(id);
      return stub;
    },
    /** Whether the code of a leaf may run. */
    mayCall(id: bigint, effects: Effects): boolean {
      if (effects === 'some') assumed.add(id);
      if (effects === 'unsure') unsure.add(id);
      return effects !== 'some';
    },
    /** The ids of the nodes that were stubbed, were assumed to be TRUE, and were called without knowing whether they have effects. */
    effects: () => ({ stubbed: [...stubbed], assumed: [...assumed], unsure: [...unsure] }),
  };
}
