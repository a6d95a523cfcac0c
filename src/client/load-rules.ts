import { statSync } from 'node:fs';
import { stringifyExact } from '../shared/contract/raw-number.ts';
import { checkLoadOptions, checkTestOptions } from './check-options.ts';
import type { HandleError } from './engine/node.ts';
import { isExactObject, noOrigins, toExact } from './engine/values.ts';
import type { DataSchema } from './leaves/data-schema.ts';
import type { AnyLeaves, LeafClasses, Leaves } from './leaves/leaf.ts';
import { createRegistry } from './leaves/registry.ts';
import { insteadOf, type Mocks, stubsOfResults } from './leaves/stand-ins.ts';
import { readNode } from './rules/node-file.ts';
import { type Released, readReleased } from './rules/released-files.ts';
import { readRule } from './rules/rule-file.ts';
import { createRuleSet } from './rules/rule-set.ts';
import {
  type RunRequest,
  type RunResult,
  runInProcess,
  runSceneInProcess,
  type SceneRequest,
  type SceneResult,
} from './run-in-process.ts';
import { watchStrayErrors } from './stray-errors.ts';

/** Rules and nodes with the members of their files. `status` may be left out, `confField` may be an object. */
export type RuleObjects = {
  rules: readonly Readonly<Record<string, unknown>>[];
  nodes: readonly Readonly<Record<string, unknown>>[];
};

export type LoadOptions<D = unknown, L extends LeafClasses<D> = LeafClasses<D>> = {
  /** What the data of the app is: gives `run` its types, as `loadRules<Shop>` does. */
  schema?: DataSchema<D>;
  leaves: Leaves<L>;
  /** Refuses to run a rule of which a node is left out. */
  strict?: boolean;
  ruleTimeoutMs?: number;
  errorHandle?: HandleError;
  onError?: (error: unknown) => void;
};

/** A run in which no consequence happened. `stubbed`: what would have happened, the classes in order. */
export type DryRunResult<D = unknown> = RunResult<D> & { stubbed: readonly string[] };

export type LoadedRules<D = unknown> = {
  /** What is wrong with the rules, one sentence each. */
  problems(): readonly string[];
  run(request: RunRequest<D>): Promise<RunResult<D>>;
  /** Runs the rules of a scene, each on data of its own. Empty when no rule has it. */
  runScene(request: SceneRequest<D>): Promise<readonly SceneResult<D>[]>;
  /** Runs with every result leaf replaced by one that does nothing and says true. */
  dryRun(request: RunRequest<D>): Promise<DryRunResult<D>>;
};

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

type Loading = Omit<LoadOptions, 'leaves'> & { leaves: AnyLeaves };

async function load(source: string | RuleObjects, options: Loading): Promise<LoadedRules> {
  checkLoadOptions(options);
  const { leaves, strict = false, ruleTimeoutMs = 55_000, errorHandle, onError = console.warn } = options;
  // For good: what a leaf leaves behind may fail long after its run.
  watchStrayErrors();
  const around = { ruleTimeoutMs, handleError: errorHandle, onError };
  const released = typeof source === 'string' ? await readFolder(source) : releasedOf(source);
  const rules = createRuleSet(released, createRegistry(leaves), { strict });
  return {
    problems: () => rules.problems,
    run: (request) => runInProcess(rules, request, around),
    runScene: (request) => runSceneInProcess(rules, request, around),
    async dryRun(request) {
      const stubbed: string[] = [];
      const stubs = stubsOfResults(createRegistry(leaves), (name) => stubbed.push(name));
      const dry = createRuleSet(released, createRegistry(stubs), { strict });
      const result = await runInProcess(dry, request, around);
      return { ...result, stubbed };
    },
  };
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

function releasedOf({ rules, nodes }: RuleObjects): Released {
  const read = <T extends { id: bigint }>(kind: string, objects: RuleObjects['rules'], reader: (object: Exact) => T) =>
    new Map(
      objects.map((object, index) => {
        try {
          const file = reader(exactOf(object));
          return [file.id, file];
        } catch (error) {
          throw new TypeError(`${kind}[${index}]: ${error instanceof Error ? error.message : error}`, { cause: error });
        }
      }),
    );
  return { version: 0n, rules: read('rules', rules, readRule), nodes: read('nodes', nodes, readNode), problems: [] };
}

type Exact = Parameters<typeof readNode>[0];

function exactOf(object: Readonly<Record<string, unknown>>): Exact {
  const exact = toExact(object, noOrigins, 'it');
  if (!isExactObject(exact)) throw new TypeError('is not an object');
  const { confField } = exact;
  return isExactObject(confField) ? { ...exact, confField: stringifyExact(confField) } : exact;
}
