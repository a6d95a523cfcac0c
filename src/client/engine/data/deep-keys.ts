import { type ExactObject, type ExactValue, isExactObject } from '../../../shared/contract/json/raw-number.ts';

/** The value at a dotted key: `vip.level` through objects, `items.0` into lists. Undefined when there is none. */
export function readDeep(root: ExactObject, key: string): ExactValue | undefined {
  let value: ExactValue | undefined = root;
  for (const step of stepsOf(key)) value = memberOf(value, step);
  return value;
}

/**
 * Puts a value where a dotted key leads. Objects are made on the way; a way through a scalar, or to an entry that a list does
 * not have, leads nowhere and nothing happens, as in the Java SDK. Containers on the way are copied, never changed: whoever
 * holds an older one keeps what it was.
 */
export function writeDeep(root: ExactObject, key: string, value: ExactValue): void {
  change(root, { steps: stepsOf(key), value });
}

/**
 * Takes the member away that a dotted key leads to. As in the Java SDK an entry of a list becomes null, and objects on the way
 * stay, also when they are empty or had to be made.
 */
export function removeDeep(root: ExactObject, key: string): void {
  change(root, { steps: stepsOf(key), value: undefined });
}

type Change = { steps: readonly string[]; value: ExactValue | undefined };
type Replaced = { kind: 'by'; value: ExactValue | undefined } | { kind: 'nothing' };

const nothing: Replaced = { kind: 'nothing' };

function change(root: ExactObject, { steps: [first = '', ...rest], value }: Change): void {
  const replaced = replace(memberOf(root, first) ?? undefined, { steps: rest, value });
  if (replaced.kind === 'by') put(root, first, replaced.value);
}

function put(object: ExactObject, name: string, value: ExactValue | undefined): void {
  if (value === undefined) delete object[name];
  else object[name] = value;
}

/** The new value of a member after a change was made in it. */
function replace(container: ExactValue | undefined, { steps: [step, ...rest], value }: Change): Replaced {
  if (step === undefined) return { kind: 'by', value };
  const inside = { steps: rest, value };
  if (Array.isArray(container)) return replaceEntry(container, step, inside);
  if (container !== undefined && !isExactObject(container)) return nothing;
  const replaced = replace(memberOf(container, step) ?? undefined, inside);
  if (replaced.kind === 'nothing') return nothing;
  const copy: ExactObject = Object.assign(Object.create(null), container);
  put(copy, step, replaced.value);
  return { kind: 'by', value: copy };
}

function replaceEntry(list: ExactValue[], step: string, change: Change): Replaced {
  const index = indexOf(step, list);
  if (index === undefined) return nothing;
  const replaced = replace(list[index], change);
  return replaced.kind === 'nothing' ? nothing : { kind: 'by', value: list.with(index, replaced.value ?? null) };
}

function memberOf(container: ExactValue | undefined, step: string): ExactValue | undefined {
  if (isExactObject(container)) return Object.hasOwn(container, step) ? container[step] : undefined;
  if (!Array.isArray(container)) return undefined;
  const index = indexOf(step, container);
  return index === undefined ? undefined : container[index];
}

/** The segments of a dotted key. As in the Java SDK empty ones at its end do not count. */
function stepsOf(key: string): string[] {
  const steps = key.split('.');
  while (steps.length > 1 && steps.at(-1) === '') steps.pop();
  return steps;
}

function indexOf(step: string, list: ExactValue[]): number | undefined {
  const index = /^[+-]?\d{1,10}$/.test(step) ? Number(step) : list.length;
  return index >= 0 && index < list.length ? index : undefined;
}
