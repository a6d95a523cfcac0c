import type { Step } from '../cases/path.ts';
import { elementsOf } from '../cases/split-array.ts';
import { joinMembers, scanJson } from '../contract/json/exact-json.ts';

/** A field to hide: its path as the operator wrote it, and the steps that lead there from the data of an execution. */
export type HiddenField = { path: string; steps: readonly Step[] };

/** The path without list positions. */
export function namesOf(steps: readonly Step[]): string[] {
  return steps.filter((step): step is string => typeof step === 'string' && !/^\d+$/.test(step));
}

/** The text in the place of a hidden value. */
export const HIDDEN = '"***"';

/**
 * Replaces the value at a path in JSON text and leaves all other text as it is. A name applies to every element of a list. `found` is
 * called with each hidden value.
 */
export function hideAt(raw: string, steps: readonly Step[], found: (raw: string) => void): string {
  const [step, ...rest] = steps;
  if (step === undefined) {
    found(raw);
    return HIDDEN;
  }
  if (raw === '') return raw;
  const scanned = scanJson(raw);
  if (scanned.kind !== 'complete') return HIDDEN; // cut somewhere: it may hold the value
  if (scanned.type === 'array') {
    const isHere = (index: number) => typeof step === 'string' || step === index;
    const inside = typeof step === 'string' ? steps : rest;
    const elements = elementsOf(scanned.raw);
    const hidden = elements.map((element, index) => (isHere(index) ? hideAt(element, inside, found) : element));
    return hidden.some((element, index) => element !== elements[index]) ? `[${hidden.join(',')}]` : raw;
  }
  const { members } = scanned;
  const hidden = members.map(({ key, raw: value }) => (key === step ? hideAt(value, rest, found) : value));
  if (!hidden.some((value, index) => value !== members[index]?.raw)) return raw;
  return joinMembers(members.map(({ key }, index) => [key, hidden[index] ?? HIDDEN]));
}

/** The texts and numbers in a JSON value, as a sentence would quote them. */
export function scalarsIn(raw: string): string[] {
  const scanned = scanJson(raw);
  if (scanned.kind !== 'complete') return [];
  switch (scanned.type) {
    case 'object':
      return scanned.members.flatMap((member) => scalarsIn(member.raw));
    case 'array':
      return elementsOf(scanned.raw).flatMap(scalarsIn);
    case 'string':
      return [String(JSON.parse(scanned.raw))];
    case 'number':
      return [scanned.raw];
    default:
      return [];
  }
}
