import { checkLoadOptions } from './check-options.ts';
import type { LeafClasses } from './leaves/leaf.ts';
import {
  type LoadedRules,
  type Loading,
  type LoadOptions,
  loadReleased,
  type RuleObjects,
  releasedOf,
} from './runs/load-objects.ts';

/*
 * `rule-server-client/anywhere`: rules of objects, run wherever there is JavaScript. Nothing of Node is imported, so a browser, an edge
 * runtime or a worker can load it.
 */

export type { Data } from './engine/data/data.ts';
export type { Value } from './engine/data/values.ts';
export type { State } from './engine/state.ts';
export type { Leaf, LeafClass, LeafDefinition, Leaves } from './leaves/leaf.ts';
// biome-ignore lint/performance/noBarrelFile: this file is a door of the package.
export { describeLeaf } from './leaves/leaf.ts';
export { leavesFor } from './leaves/leaves-for.ts';
export type { DryRunResult, LoadedRules, LoadOptions, RuleObjects } from './runs/load-objects.ts';
export type { RunRequest, RunResult, RunStep, SceneRequest, SceneResult } from './runs/run-in-process.ts';

/**
 * Rules to run here.
 *
 * @param source Rules and nodes as objects with the members of their files.
 * @param options The leaves, and how to run them.
 * @throws TypeError where an object is no rule or node, or an option cannot be used.
 * @example
 * ```ts
 * import { leavesFor, loadRules } from 'rule-server-client/anywhere';
 *
 * const { flow } = leavesFor<{ cost: number }>();
 * const rules = loadRules(
 *   { rules: [{ id: 1, confId: 1 }], nodes: [{ id: 1, type: 5, confName: 'SpentAtLeast' }] },
 *   { leaves: { SpentAtLeast: flow({ min: 100 }, (service, { min }) => service.double('cost', 0) >= min) } },
 * );
 * console.log((await rules.run({ ruleId: 1, data: { cost: 100 } })).outcome); // TRUE
 * ```
 */
export function loadRules<D = unknown, const L extends LeafClasses<D> = LeafClasses<D>>(
  source: RuleObjects,
  options: LoadOptions<D, L>,
): LoadedRules<D>;
export function loadRules(source: RuleObjects, options: Loading): LoadedRules {
  checkLoadOptions(options);
  return loadReleased(releasedOf(source), options);
}
