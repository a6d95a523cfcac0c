import { orderOf } from '../cases/judging/decimal.ts';
import type { Json } from '../json-tree/read-json.ts';
import { valueAt } from '../json-tree/value-at.ts';
import { holdsBy, opposites } from './comparison.ts';
import { pathOfKey } from './key-path.ts';
import type { NodeTrace, Read } from './trace/node-trace.ts';
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
  const compared = comparison ? node.settings.filter(({ field }) => field === comparison.field) : [];
  const settings = compared.length > 0 ? compared : node.settings;
  const traced = nodeTrace?.reads ?? [];
  const reads = traced.length > 0 ? traced : readsFromInput(node.keys, input);
  const [setting] = compared;
  // A node with a stub stays as it is, whatever it would have read.
  const counts = nodeTrace?.outcome === 'FALSE' && nodeTrace.error === null && nodeTrace.instead === null;
  const wanted =
    comparison && setting && counts
      ? { key: comparison.key, is: nodeTrace.inverted ? opposites[comparison.is] : comparison.is, value: setting.value }
      : null;
  const from = traced.length > 0 ? 'trace' : 'input';
  const read = reads.find(({ key }) => key === comparison?.key)?.value ?? null;
  if (
    comparison &&
    setting &&
    nodeTrace &&
    from === 'trace' &&
    contradicts(nodeTrace, comparison.is, { read, setting: setting.value })
  )
    return { reads, from, settings: [], areOthers: true, wanted: null };
  return { reads, from, settings, areOthers: false, wanted };
}

/**
 * Whether a leaf came out otherwise than its declared comparison of two numbers says, also where its client keeps numbers as 64-bit
 * floats.
 */
function contradicts(
  nodeTrace: NodeTrace,
  is: Comparison['is'],
  { read, setting }: { read: Json | null; setting: string },
): boolean {
  if (
    nodeTrace.error !== null ||
    (nodeTrace.outcome !== 'TRUE' && nodeTrace.outcome !== 'FALSE') ||
    read?.kind !== 'number'
  )
    return false;
  const [holds, exact] = [holdsBy[is], orderOf(read.text, setting)];
  if (holds === undefined || exact === null) return false;
  const cameTo = (nodeTrace.outcome === 'TRUE') !== nodeTrace.inverted;
  return [exact, Number(read.text) - Number(setting)].every((order) => holds(order) !== cameTo);
}

function readsFromInput(keys: Occurrence['node']['keys'], input: Json | null): Read[] {
  if (input === null) return [];
  return keys
    .filter(({ direction, dynamic }) => direction !== 'write' && !dynamic)
    .map(({ key, nested }) => ({ key, value: valueAt(input, pathOfKey(key, nested)) ?? null, size: null }));
}
