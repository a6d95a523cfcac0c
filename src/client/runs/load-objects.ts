import { isExactObject, RawNumber, stringifyExact } from '../../shared/contract/json/raw-number.ts';
import { readNode } from '../../shared/rules/node-file.ts';
import { readRule } from '../../shared/rules/rule-file.ts';
import { noOrigins, toExact } from '../engine/data/values.ts';
import type { HandleError } from '../engine/node.ts';
import type { DataSchema } from '../leaves/data-schema.ts';
import type { AnyLeaves, LeafClasses, Leaves } from '../leaves/leaf.ts';
import { createRegistry } from '../leaves/registry.ts';
import { stubsOfResults } from '../leaves/stand-ins.ts';
import type { Released } from '../rules/released-files.ts';
import { createRuleSet } from '../rules/rule-set.ts';
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
  /** The type of the app's data: gives `run` its types, as `loadRules<Shop>` does. */
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
  /** The faults of the rules, one sentence each. */
  problems(): readonly string[];
  run(request: RunRequest<D>): Promise<RunResult<D>>;
  /** Runs the rules of a scene, each on data of its own. Empty when no rule has it. */
  runScene(request: SceneRequest<D>): Promise<readonly SceneResult<D>[]>;
  /** Runs with every result leaf replaced by one that does nothing and says true. */
  dryRun(request: RunRequest<D>): Promise<DryRunResult<D>>;
};

/** @internal */
export type Loading = Omit<LoadOptions, 'leaves'> & { leaves: AnyLeaves };

/** Rules that were read, ready to run. @internal */
export function loadReleased(released: Released, options: Loading): LoadedRules {
  const { leaves, strict = false, ruleTimeoutMs = 55_000, errorHandle, onError = console.warn } = options;
  // Never removed: a stray promise of a leaf may reject long after its run.
  watchStrayErrors();
  const around = { ruleTimeoutMs, handleError: errorHandle, onError };
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

/** Rules and nodes as objects, as if their files had been read. Throws where one is none. @internal */
export function releasedOf({ rules, nodes }: RuleObjects): Released {
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
  const released = { status: new RawNumber('1'), ...exact };
  return isExactObject(confField) ? { ...released, confField: stringifyExact(confField) } : released;
}
