import { type ExactObject, type ExactValue, isExactObject } from '../../../shared/contract/json/raw-number.ts';

/** The value at a dotted key: `vip.level` through objects, `items.0` into lists. Undefined when there is none. */
export function readDeep(root: ExactObject, key: string): ExactValue | undefined {
  let value: ExactValue | undefined = root;
  for (const step of stepsOf(key)) value = memberOf(value, step);
  return value;
}

/**
 * Puts a value where a dotted key leads; undefined takes the member away, and makes an entry of a list null. Objects are made on the way,
 * and stay; a way through a scalar, or to an entry that a list does not have, leads nowhere and nothing happens, as in the Java SDK.
 * Containers on the way are copied, never changed: whoever holds an older one keeps what it was.
 */
export function writeDeep(root: ExactObject, key: string, value: ExactValue | undefined): void {
  const [first = '', ...steps] = stepsOf(key);
  const replaced = replace(memberOf(root, first) ?? undefined, { steps, value });
  if (replaced.kind === 'by') put(root, first, replaced.value);
}

type Change = { steps: readonly string[]; value: ExactValue | undefined };
type Replaced = { kind: 'by'; value: ExactValue | undefined } | { kind: 'nothing' };

const nothing: Replaced = { kind: 'nothing' };

/** Undefined removes the member. */
export function put(object: ExactObject, name: string, value: ExactValue | undefined): void {
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
