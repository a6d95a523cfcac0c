import { AssertionError } from 'node:assert';
import { isDeepStrictEqual } from 'node:util';
import { visibleLines } from '../shared/contract/json/visible-text.ts';
import type { State } from './engine/state.ts';
import type { StepOutcome } from './engine/steps.ts';
import type { RunStep } from './runs/run-in-process.ts';

/** As much of what a run gave back as is looked at. */
type Ran = {
  outcome: State | null;
  data: object;
  error: unknown;
  steps?: readonly RunStep[];
};

/**
 * The expected outcome of nodes, by name or id. One outcome holds for each time that the node ran; a list has one for each time, in order. `null`: it did not run.
 */
type ExpectedSteps = Readonly<Record<string, StepOutcome | readonly StepOutcome[] | null>>;

type Verdict = { pass: boolean; message: () => string };
/** The context in which vitest and Jest call a matcher: its equality knows `expect.any` and the like. */
type Context = { equals?: (one: unknown, other: unknown) => boolean };

/** The matchers that `expect` has after `expect.extend(ruleMatchers)`; declare it to be the `Matchers` of your test runner. */
export type RuleMatchers<R = unknown> = {
  /** The result of the rule; null where nothing ran. */
  toHaveOutcome(outcome: State | null): R;
  /** Keys of the data after the run; undefined for one that must be absent. */
  toHaveData(data: Readonly<Record<string, unknown>>): R;
  toHaveSteps(steps: ExpectedSteps): R;
};

/**
 * Matchers for vitest and Jest: `expect.extend(ruleMatchers)`. Each looks at what `testRule`, `run` or `loadRules(…).run` gave back.
 *
 * @example
 * ```ts
 * import { leavesFor, testRule } from 'rule-server-client';
 * import { ruleMatchers } from 'rule-server-client/testing';
 *
 * // With a test runner: `expect.extend(ruleMatchers)`, then `expect(run).toHaveOutcome('TRUE')`.
 * const { flow } = leavesFor<{ cost: number }>();
 * const run = await testRule(
 *   { rules: [{ id: 1, confId: 1 }], nodes: [{ id: 1, type: 5, confName: 'Never' }] },
 *   { leaves: { Never: flow({}, () => false) }, ruleId: 1, data: { cost: 1 } },
 * );
 * const { pass, message } = ruleMatchers.toHaveOutcome(run, 'TRUE');
 * console.log(pass, message().split('\n')[0]); // false the rule came to FALSE, expected was TRUE
 * ```
 */
export const ruleMatchers = {
  toHaveOutcome(ran: Ran, outcome: State | null): Verdict {
    return verdict(ran.error === undefined && ran.outcome === outcome, () => {
      const failed = ran.error === undefined ? '' : `: it failed with ${textOf(ran.error)}`;
      return `the rule came to ${ran.outcome ?? 'nothing'}, expected was ${outcome ?? 'nothing'}${failed}${ways(ran)}`;
    });
  },

  toHaveData(this: Context | undefined, ran: Ran, data: Readonly<Record<string, unknown>>): Verdict {
    const equals = this?.equals ?? isDeepStrictEqual;
    const wrong = Object.entries(data).filter(([key, value]) => !equals(Reflect.get(ran.data, key), value));
    return verdict(wrong.length === 0, () => {
      const each = wrong.map(([key, value]) => `${key} is ${shown(Reflect.get(ran.data, key))}, not ${shown(value)}`);
      return `the data differs: ${each.join('; ')}`;
    });
  },

  toHaveSteps(ran: Ran, expected: ExpectedSteps): Verdict {
    const { steps } = ran;
    if (steps === undefined) throw new TypeError('the run has no steps: ask for them with withSteps');
    const wrong = Object.entries(expected).flatMap(([node, wanted]) => {
      const outcomes = steps.filter((step) => isOf(step, node)).map(({ outcome }) => outcome);
      return isAsWanted(outcomes, wanted) ? [] : [`${node} came to ${listed(outcomes)}, not ${listed(wanted)}`];
    });
    return verdict(wrong.length === 0, () => `the steps differ: ${wrong.join('; ')}${ways(ran)}`);
  },
};

/**
 * The same for node:test, or any test.
 *
 * @throws AssertionError where the run is not as expected: each says what it came to instead, and what each node came to.
 * @example
 * ```ts
 * import { leavesFor, testRule } from 'rule-server-client';
 * import { assertRule } from 'rule-server-client/testing';
 *
 * const { flow } = leavesFor<{ cost: number }>();
 * const run = await testRule(
 *   { rules: [{ id: 1, confId: 1 }], nodes: [{ id: 1, type: 5, confName: 'SpentAtLeast' }] },
 *   {
 *     leaves: { SpentAtLeast: flow({ min: 100 }, (service, { min }) => service.double('cost', 0) >= min) },
 *     ruleId: 1,
 *     data: { cost: 120 },
 *   },
 * );
 * assertRule.outcome(run, 'TRUE');
 * assertRule.data(run, { cost: 120 });
 * assertRule.steps(run, { SpentAtLeast: 'TRUE' });
 * console.log('as expected'); // as expected
 * ```
 */
export const assertRule = {
  outcome: (ran: Ran, outcome: State | null): void => insist(ruleMatchers.toHaveOutcome(ran, outcome)),
  data: (ran: Ran, data: Readonly<Record<string, unknown>>): void =>
    insist(ruleMatchers.toHaveData.call(undefined, ran, data)),
  steps: (ran: Ran, steps: ExpectedSteps): void => insist(ruleMatchers.toHaveSteps(ran, steps)),
};

function insist({ pass, message }: Verdict): void {
  if (!pass) throw new AssertionError({ message: message() });
}

/** The sentence of a `not` is the other way round. */
function verdict(pass: boolean, difference: () => string): Verdict {
  return { pass, message: () => visibleLines(pass ? 'it is so, and was expected not to be' : difference()) };
}

function isOf({ nodeId, name }: RunStep, node: string): boolean {
  return name === node || String(nodeId) === node;
}

function isAsWanted(outcomes: readonly StepOutcome[], wanted: ExpectedSteps[string]): boolean {
  if (wanted == null) return outcomes.length === 0;
  if (typeof wanted !== 'string') return isDeepStrictEqual(outcomes, wanted);
  return outcomes.length > 0 && outcomes.every((outcome) => outcome === wanted);
}

function listed(outcomes: ExpectedSteps[string]): string {
  const list = outcomes == null ? [] : typeof outcomes === 'string' ? [outcomes] : outcomes;
  return list.length === 0 ? 'nothing (it did not run)' : list.join(', ');
}

/** The result of each node, when it was recorded: the next question when a test of a rule fails. */
function ways({ steps = [] }: Ran): string {
  return steps.map(({ nodeId, name, outcome }) => `\n  ${name || 'node'} (${nodeId}): ${outcome}`).join('');
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function shown(value: unknown): string {
  if (value === undefined) return 'absent';
  return JSON.stringify(value, (_key, each) => (typeof each === 'bigint' ? `${each}` : each)) ?? String(value);
}
