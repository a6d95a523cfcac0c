import { orderOf } from '../cases/judging/decimal.ts';
import type { Json } from '../json-tree/read-json.ts';
import { valueAt } from '../json-tree/value-at.ts';
import { holdsBy, opposites } from './comparison.ts';
import { pathOfKey } from './key-path.ts';
import { type NodeTrace, ownOf, type Read } from './trace/node-trace.ts';
import type { Comparison, Occurrence, Setting } from './tree.ts';

/**
 * What a leaf decided by: the values it read and the settings it compared them with. `from`: the trace says what was read; of a
 * trace that does not, only what the input had is known. `wanted`: which value would have made it TRUE, where its client declares
 * how it decides.
 */
export type Facts = {
  reads: Read[];
  from: 'trace' | 'input';
  settings: Setting[];
  /** By these settings it would have come out otherwise: they were others when it ran, and are left out. */
  areOthers: boolean;
  wanted: { key: string; is: Comparison['is']; value: string } | null;
};

/** The facts of one leaf in one run. `input`: what the run was given. */
export function factsOf({ node }: Occurrence, nodeTrace: NodeTrace | undefined, input: Json | null): Facts {
  const { comparison } = node;
  const compared = node.settings.filter(({ field }) => field === comparison?.field);
  const [setting] = compared;
  const traced = nodeTrace?.reads ?? [];
  const facts: Facts = {
    ...(traced.length > 0
      ? { reads: traced, from: 'trace' }
      : { reads: readsFromInput(node.keys, input), from: 'input' }),
    ...{ settings: setting ? compared : node.settings, areOthers: false, wanted: null },
  };
  if (!comparison || !setting || !nodeTrace) return facts;
  const { key, is } = comparison;
  const read = traced.find((each) => each.key === key)?.value;
  if (contradicts(nodeTrace, is, { read, setting: setting.value })) return { ...facts, settings: [], areOthers: true };
  // A node with a stub stays as it is, whatever it would have read.
  if (nodeTrace.outcome !== 'FALSE' || nodeTrace.error !== null || nodeTrace.instead !== null) return facts;
  return { ...facts, wanted: { key, is: nodeTrace.inverted ? opposites[is] : is, value: setting.value } };
}

/**
 * Whether a leaf came out otherwise than its declared comparison of two numbers says, also where its client keeps numbers as 64-bit
 * floats.
 */
function contradicts(
  nodeTrace: NodeTrace,
  is: Comparison['is'],
  { read, setting }: { read: Json | null | undefined; setting: string },
): boolean {
  const own = ownOf(nodeTrace);
  if (nodeTrace.error !== null || own === null || own === 'NONE' || read?.kind !== 'number') return false;
  const [holds, exact] = [holdsBy[is], orderOf(read.text, setting)];
  if (holds === undefined || exact === null) return false;
  return [exact, Number(read.text) - Number(setting)].every((order) => holds(order) !== (own === 'TRUE'));
}

function readsFromInput(keys: Occurrence['node']['keys'], input: Json | null): Read[] {
  if (input === null) return [];
  return keys
    .filter(({ direction, dynamic }) => direction !== 'write' && !dynamic)
    .map(({ key, nested }) => ({ key, value: valueAt(input, pathOfKey(key, nested)) ?? null, size: null }));
}
