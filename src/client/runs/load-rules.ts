import { statSync } from 'node:fs';
import { checkLoadOptions, checkTestOptions } from '../check-options.ts';
import type { LeafClasses } from '../leaves/leaf.ts';
import { createRegistry } from '../leaves/registry.ts';
import { insteadOf, type Mocks } from '../leaves/stand-ins.ts';
import { type Released, readReleased } from '../rules/released-files.ts';
import {
  type LoadedRules,
  type Loading,
  type LoadOptions,
  loadReleased,
  type RuleObjects,
  releasedOf,
} from './load-objects.ts';
import type { RunRequest, RunResult } from './run-in-process.ts';

/**
 * Rules to run in this process, of an app's folder or of objects: nothing is registered or written, no thread is started, so that
 * a read-only folder will do.
 *
 * @param source The folder of one app, with `bases` and `confs` in it, or rules and nodes as objects with the members of their files.
 * @param options The leaves, and how to run them.
 * @returns The rules as they are now: later changes of the files do not reach them.
 * @throws TypeError where there is no such folder, an object is no rule or node, or an option cannot be used.
 * @example
 * ```ts
 * import { leavesFor, loadRules } from 'rule-server-client';
 *
 * const { flow } = leavesFor<{ cost: number }>();
 * const rules = await loadRules(
 *   {
 *     rules: [{ id: 1, confId: 1 }],
 *     nodes: [{ id: 1, type: 5, confName: 'SpentAtLeast', confField: { min: 100 } }],
 *   },
 *   { leaves: { SpentAtLeast: flow({ min: 0 }, (service, { min }) => service.double('cost', 0) >= min) } },
 * );
 * console.log((await rules.run({ ruleId: 1, data: { cost: 99.99 } })).outcome); // FALSE
 * ```
 */
export async function loadRules<D = unknown, const L extends LeafClasses<D> = LeafClasses<D>>(
  source: string | RuleObjects,
  options: LoadOptions<D, L>,
): Promise<LoadedRules<D>>;
export async function loadRules(source: string | RuleObjects, options: LoadOptions): Promise<LoadedRules> {
  return load(source, options);
}

async function load(source: string | RuleObjects, options: Loading): Promise<LoadedRules> {
  checkLoadOptions(options);
  return loadReleased(typeof source === 'string' ? await readFolder(source) : releasedOf(source), options);
}

export type TestOptions<D = unknown, L extends LeafClasses<D> = LeafClasses<D>> = LoadOptions<D, L> &
  RunRequest<NoInfer<D>> & {
    /** Replacements for the code of leaves in this test, by class name. */
    mocks?: Mocks<NoInfer<D>>;
  };

/**
 * Runs a rule once, with some of its leaves replaced, and says the result of every node unless `withSteps` is false.
 *
 * @param source As of `loadRules`.
 * @param options The leaves, what to run, and `mocks`: what leaves do in this test instead of their own code, by class.
 * @returns How the run ended. What a rule throws is in `error`.
 * @throws TypeError as `loadRules` does, and for a mock of a class that is not among the leaves.
 * @example
 * ```ts
 * import { leavesFor, testRule } from 'rule-server-client';
 *
 * const { result } = leavesFor<{ uid: number; coupon?: number }>();
 * const leaves = {
 *   GiveCoupon: result({ amount: 10 }, async (service, { amount }) => {
 *     await fetch(`https://coupons.example.com/${service.int('uid', 0)}?amount=${amount}`, { method: 'POST' });
 *     return true;
 *   }),
 * };
 * const { outcome, data } = await testRule(
 *   { rules: [{ id: 1, confId: 1 }], nodes: [{ id: 1, type: 6, confName: 'GiveCoupon' }] },
 *   {
 *     ...{ leaves, ruleId: 1, data: { uid: 7 } },
 *     mocks: {
 *       GiveCoupon(service) {
 *         service.put('coupon', 10);
 *         return true;
 *       },
 *     },
 *   },
 * );
 * console.log(outcome, data.coupon); // TRUE 10
 * ```
 */
export async function testRule<D = unknown, const L extends LeafClasses<D> = LeafClasses<D>>(
  source: string | RuleObjects,
  options: TestOptions<D, L>,
): Promise<RunResult<D>>;
export async function testRule(source: string | RuleObjects, options: TestOptions): Promise<RunResult> {
  checkTestOptions(options);
  const { mocks = {}, ruleId, confId, ts, data, withSteps = true, ...loading } = options;
  const leaves = insteadOf(createRegistry(loading.leaves), mocks);
  const rules = await load(source, { ...loading, leaves });
  const asked = {
    ...(ruleId !== undefined && { ruleId }),
    ...(confId !== undefined && { confId }),
    ...(ts !== undefined && { ts }),
  };
  return rules.run({ ...asked, ...(data && { data }), withSteps });
}

async function readFolder(folder: string): Promise<Released> {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new TypeError(`there is no directory ${folder}: name the folder of one app, with bases and confs in it`);
  return readReleased(folder);
}
