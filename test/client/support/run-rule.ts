import { messageOf } from '../../../src/client/engine/evaluate.ts';
import { execute } from '../../../src/client/engine/execution.ts';
import { printSteps } from '../../../src/client/engine/print-steps.ts';
import type { ExecutionOptions } from '../../../src/client/engine/run.ts';
import type { Leaves } from '../../../src/client/leaves/leaf.ts';
import { createRegistry } from '../../../src/client/leaves/registry.ts';
import { readStubs } from '../../../src/client/requests/read-stubs.ts';
import { createRuleSet, type RuleSet } from '../../../src/client/rules/rule-set.ts';
import { releasedOf } from '../../../src/client/runs/load-objects.ts';
import { type ExactObject, stringifyExact } from '../../../src/shared/contract/json/raw-number.ts';
import { objectOf } from '../../../src/shared/rules/members.ts';

/** What a node's file says, as plain members; `id` is its key. */
export type Nodes = Record<number, Record<string, unknown>>;

/** Rules made of nodes given in a test. Rule 1 has the root 1. */
export function rulesOf(nodes: Nodes, leaves: Leaves): RuleSet {
  const files = Object.entries(nodes).map(([id, members]) => ({ id: Number(id), ...members }));
  return createRuleSet(releasedOf({ rules: [{ id: 1, confId: 1 }], nodes: files }), createRegistry(leaves));
}

/** `stubs`, as JSON text: a run without effects. */
type Asked = {
  ruleId?: number;
  confId?: number;
  ts?: number;
  input?: string;
  stubs?: string;
} & Partial<ExecutionOptions>;

/** Runs rule 1 (or what is asked for) and tells everything about how it ended. */
export async function run(rules: RuleSet, { ruleId, confId, ts, input = '{}', stubs, ...options }: Asked = {}) {
  const idOf = (id: number | undefined) => (id === undefined ? null : BigInt(id));
  const data: ExactObject = objectOf(input);
  const execution = execute(
    rules,
    {
      ruleId: confId === undefined ? idOf(ruleId ?? 1) : idOf(ruleId),
      ...{ confId: idOf(confId), ts: idOf(ts), data },
      ...(stubs !== undefined && { stubs: readStubs(objectOf(stubs)) }),
    },
    { withSteps: true, timeoutMs: 240_000, ...options },
  );
  const ending = await execution.ended;
  const steps = execution.run.steps?.list ?? [];
  return {
    ending,
    outcome: ending.kind === 'done' ? ending.outcome : messageOf(ending.error),
    process: withoutTimes(execution.run.process()),
    data: stringifyExact(data),
    leftOut: execution.leftOut,
    steps,
    printedSteps: printSteps(steps),
    execution,
  };
}

/** A process text with every duration 0: what is compared is what ran, not how long it took. */
export const withoutTimes = (process: string) => process.replace(/:\d+\]/g, ':0]');
