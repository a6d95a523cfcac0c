import type { ExactValue } from '../../shared/contract/exact-json.ts';
import { type ExactObject, isExactObject } from './values.ts';

/** What a dotted key leads to: `vip.level` through objects, `items.0` into lists. Undefined when it leads nowhere. */
export function readDeep(root: ExactObject, key: string): ExactValue | undefined {
  let value: ExactValue | undefined = root;
  for (const step of key.split('.')) value = memberOf(value, step);
  return value;
}

/**
 * Puts a value where a dotted key leads. Objects are made on the way; a list must have the entry. Containers on the way
 * are copied, never changed: whoever holds an older one keeps what it was. Throws a `RangeError` for an entry no list has.
 */
export function writeDeep(root: ExactObject, key: string, value: ExactValue): void {
  const [first = '', ...rest] = key.split('.');
  root[first] = replaced(root[first], { steps: rest, at: 0, value, key });
}

/** Takes the member away that a dotted key leads to. */
export function removeDeep(root: ExactObject, key: string): void {
  const dot = key.lastIndexOf('.');
  if (dot < 0) delete root[key];
  const parent = dot < 0 ? undefined : readDeep(root, key.slice(0, dot));
  if (!isExactObject(parent)) return;
  const { [key.slice(dot + 1)]: _removed, ...others } = parent;
  writeDeep(root, key.slice(0, dot), Object.assign(Object.create(null), others));
}

type Write = { steps: string[]; at: number; value: ExactValue; key: string };

function replaced(container: ExactValue | undefined, write: Write): ExactValue {
  const step = write.steps[write.at];
  if (step === undefined) return write.value;
  const member = replaced(memberOf(container, step), { ...write, at: write.at + 1 });
  if (!Array.isArray(container)) {
    return Object.assign(Object.create(null), isExactObject(container) ? container : {}, { [step]: member });
  }
  const index = indexOf(step, container);
  if (index === undefined) throw new RangeError(`"${write.key}": a list of ${container.length} has no entry ${step}`);
  return container.with(index, member);
}

function memberOf(container: ExactValue | undefined, step: string): ExactValue | undefined {
  if (isExactObject(container)) return Object.hasOwn(container, step) ? container[step] : undefined;
  if (!Array.isArray(container)) return undefined;
  const index = indexOf(step, container);
  return index === undefined ? undefined : container[index];
}

function indexOf(step: string, list: ExactValue[]): number | undefined {
  const index = /^\d{1,9}$/.test(step) ? Number(step) : list.length;
  return index < list.length ? index : undefined;
}
