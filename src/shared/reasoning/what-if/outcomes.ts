import { constantOf, kindOf } from '../constant.ts';
import { type Decision, inverted } from '../trace/node-trace.ts';

/** Everything that a node may come to, one bit each: several where it cannot be told. */
export type Outcomes = number;

const bits = { TRUE: 1, FALSE: 2, NONE: 4 } as const satisfies Record<Decision, Outcomes>;
const decisions: readonly Decision[] = ['TRUE', 'FALSE', 'NONE'];
export const FAILS: Outcomes = 8;
export const ANYTHING: Outcomes = 15;
export const EITHER: Outcomes = bits.TRUE | bits.FALSE;

export const only = (decision: Decision): Outcomes => bits[decision];
export const may = (outcomes: Outcomes, decision: Decision): boolean => (outcomes & bits[decision]) !== 0;
export const mayFail = (outcomes: Outcomes): boolean => (outcomes & FAILS) !== 0;

/** The decision, where it can be told. */
export const decisionIn = (outcomes: Outcomes): Decision | null =>
  decisions.find((decision) => bits[decision] === outcomes) ?? null;

export function inverseOf(outcomes: Outcomes): Outcomes {
  return mapped(outcomes, inverted);
}

/** A node without a decision of its own takes that of a condition that is TRUE. */
export function behind(condition: Outcomes, own: Outcomes): Outcomes {
  if (!may(condition, 'TRUE')) return own;
  const taken = mapped(own, (decision) => (decision === 'NONE' ? 'TRUE' : decision));
  return may(condition, 'NONE') ? own | taken : taken;
}

/** The decision of a child with which a relation ends at once. */
export function settling(type: string): Decision | null {
  const kind = kindOf(type);
  return kind === 'And' ? 'FALSE' : kind === 'Any' ? 'TRUE' : null;
}

/** The verdict of a relation while its children are counted: `open` as long as it goes on, `ended` where it does not. */
export type Tally = { open: Outcomes; ended: Outcomes };

export function counted(type: string, { open, ended }: Tally, child: Outcomes): Tally {
  const settles = settling(type);
  const [strong, weak]: Decision[] = kindOf(type) === 'And' ? ['FALSE', 'TRUE'] : ['TRUE', 'FALSE'];
  let next = 0;
  for (const before of decisions.filter((decision) => may(open, decision)))
    for (const decision of decisions.filter((each) => may(child, each)))
      next |= only([strong, weak].find((each) => each === before || each === decision) ?? 'NONE');
  const settled = settles === null ? 0 : next & only(settles);
  return { open: next & ~settled, ended: ended | settled | (child & FAILS) };
}

export function verdictOf(type: string, { open, ended }: Tally): Outcomes {
  const constant = constantOf(type);
  return constant === null ? open | ended : mapped(open | ended, () => constant);
}

function mapped(outcomes: Outcomes, to: (decision: Decision) => Decision): Outcomes {
  return decisions.reduce(
    (all, decision) => (may(outcomes, decision) ? all | only(to(decision)) : all),
    outcomes & FAILS,
  );
}
