import { ALWAYS, bareNode } from '../../shared/reasoning/tree.ts';
import type { Tree } from '../api/browse.ts';
import type { ExecutionRecord, RulesOfRun } from '../api/executions.ts';

/**
 * The rules of a run beside those of now. `same`: also where there is no run, and where nothing was sent. `other`: another digest. What its
 * client ran on is not known in the others. `unrecorded`: it was kept before rules were. `unread`: the files could not be read when it was sent.
 * `lagging`, `ahead`: its client had told an earlier version than was released, or a later one, and its answer does not say which one ran.
 * `unsure`: the files had changed without a new version. `about`: another version was released before the answer came.
 */
export type RulesOfRunNow = 'same' | 'other' | 'unrecorded' | 'unread' | 'unsure' | 'about' | 'lagging' | 'ahead';

export function compareRules(record: ExecutionRecord | null, digestNow: string | null): RulesOfRunNow {
  if (record === null || !record.history.some(({ state }) => state === 'dispatched')) return 'same';
  if (record.rules === null) return 'unrecorded';
  if (record.rules.digest === null) return digestNow === null ? 'same' : 'unread';
  const { released, loaded, digest, told, unsure, about } = record.rules;
  if (unsure) return 'unsure';
  if (about) return 'about';
  if (!told && released !== null && loaded !== null && loaded !== released)
    return BigInt(loaded) < BigInt(released) ? 'lagging' : 'ahead';
  return digest === digestNow ? 'same' : 'other';
}

/** The version that a run ran on: as its client told, else what was released when it was sent. Null where the app has none. */
export function versionRan(rules: RulesOfRun): string | null {
  if (rules?.told && rules.loaded !== '0') return rules.loaded;
  return rules?.released ?? null;
}

/** The same tree without what it decides by: of a run on rules that nobody knows, only its shape helps a reader. */
export function withoutSettings(tree: Tree): Tree {
  const rule = tree.rule && { ...tree.rule, timeWindow: ALWAYS };
  return { ...tree, rule, keys: [], root: tree.root && bareNode(tree.root) };
}
