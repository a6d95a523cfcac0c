import { statSync } from 'node:fs';
import { checkLoadOptions, checkTestOptions } from './check-options.ts';
import type { LeafClasses } from './leaves/leaf.ts';
import { createRegistry } from './leaves/registry.ts';
import { insteadOf, type Mocks } from './leaves/stand-ins.ts';
import {
  type LoadedRules,
  type Loading,
  type LoadOptions,
  loadReleased,
  type RuleObjects,
  releasedOf,
} from './load-objects.ts';
import { type Released, readReleased } from './rules/released-files.ts';
import type { RunRequest, RunResult } from './run-in-process.ts';

/**
 * Rules to run in this process, of an app's folder or of objects: nothing is registered or written, no thread is started, so that
 * a read-only folder will do. Rejects when there is no such folder, or an object is no rule or node.
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
    /** What leaves do in this test instead of their own code, by class name. */
    mocks?: Mocks<NoInfer<D>>;
  };

/** Runs a rule once, with some of its leaves replaced, and says what every node came to unless `withSteps` is false. Throws for a mock of a class that is not among the leaves. */
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
