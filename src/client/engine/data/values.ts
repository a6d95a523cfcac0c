import { MAX_DEPTH } from '../../../shared/contract/json/json-scan.ts';
import {
  type ExactObject,
  type ExactValue,
  isExactObject,
  RawNumber,
} from '../../../shared/contract/json/raw-number.ts';

/** A JSON value as leaf code sees it: integers beyond 2^53 are bigint, every other number is a number. */
export type Value = null | boolean | string | number | bigint | Value[] | { [key: string]: Value };

/** Which exact value a plain one was made from, so that what is put back unchanged keeps its numbers' spelling. */
export type Origins = { get(plain: object): ExactValue | undefined; set(plain: object, exact: ExactValue): void };

/** For values that are not put back. */
export const noOrigins: Origins = { get: () => undefined, set() {} };

/** The map is made with its first entry: one for every run would keep the garbage collector busier than the rule does. */
export function createOrigins(): Origins {
  let kept: WeakMap<object, ExactValue> | undefined;
  return {
    get: (plain) => kept?.get(plain),
    set(plain, exact) {
      kept ??= new WeakMap();
      kept.set(plain, exact);
    },
  };
}

/** The depth that a rule's data may have: an answer wraps it once more and must stay below the depth everybody accepts. */
const MAX_VALUE_DEPTH = MAX_DEPTH - 2;

/** A number as leaf code sees it. Written as an integer and beyond 2^53 it is a bigint, else the nearest double. */
function plainNumber(text: string): number | bigint {
  const number = Number(text);
  if (Number.isSafeInteger(number)) return number;
  return /^-?\d+$/.test(text) ? BigInt(text) : number;
}

/** A copy for leaf code, which may do with it what it likes. */
export function toPlain(value: ExactValue, origins: Origins): Value {
  if (value instanceof RawNumber) return plainNumber(value.text);
  if (typeof value !== 'object' || value === null) return value;
  const plain = Array.isArray(value) ? value.map((item) => toPlain(item, origins)) : toPlainObject(value, origins);
  origins.set(plain, value);
  return plain;
}

export function toPlainObject(exact: ExactObject, origins: Origins): { [key: string]: Value } {
  const plain: { [key: string]: Value } = {};
  for (const key of Object.keys(exact)) {
    const value = toPlain(exact[key] ?? null, origins);
    // A member of this name is one like any other, and an assignment would not make it.
    if (key === '__proto__')
      Object.defineProperty(plain, key, { value, enumerable: true, configurable: true, writable: true });
    else plain[key] = value;
  }
  return plain;
}

/** The JSON value of what leaf code gives. Throws a `TypeError` saying what JSON cannot hold, and where. */
export function toExact(value: unknown, origins: Origins, path = 'the value'): ExactValue {
  return exactOf(value, { origins, key: path, above: null, depth: 0, origin: undefined });
}

/** The place of a member within a value. The path is put together only for an error. */
type MemberPlace = {
  origins: Origins;
  key: string | number;
  above: MemberPlace | null;
  depth: number;
  origin: ExactValue | undefined;
};

function exactOf(value: unknown, place: MemberPlace): ExactValue {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      return exactNumber(value, place);
    case 'bigint':
      return keptNumber(value, place) ?? new RawNumber(value.toString());
    case 'object':
      return value === null || value instanceof RawNumber ? value : exactContainer(value, place);
    default:
      throw cannotHold(value === undefined ? 'undefined' : `a ${typeof value}`, place);
  }
}

function exactNumber(value: number, place: MemberPlace): ExactValue {
  const kept = keptNumber(value, place);
  if (kept) return kept;
  if (!Number.isFinite(value)) throw cannotHold(String(value), place);
  return new RawNumber(Object.is(value, -0) ? '-0' : String(value));
}

function keptNumber(value: number | bigint, { origin }: MemberPlace): RawNumber | undefined {
  return origin instanceof RawNumber && Object.is(plainNumber(origin.text), value) ? origin : undefined;
}

function exactContainer(value: object, place: MemberPlace): ExactValue {
  if (place.depth >= MAX_VALUE_DEPTH) throw cannotHold(`more than ${MAX_VALUE_DEPTH} levels, or a circle,`, place);
  const origin = place.origins.get(value) ?? place.origin;
  const inside = (key: string | number, from: ExactValue | undefined): MemberPlace => ({
    origins: place.origins,
    key,
    above: place,
    depth: place.depth + 1,
    origin: from,
  });
  if (Array.isArray(value)) {
    const from = Array.isArray(origin) ? origin : [];
    return Array.from(value, (item, index) => exactOf(item === undefined ? null : item, inside(index, from[index])));
  }
  if ('toJSON' in value && typeof value.toJSON === 'function')
    return exactOf(value.toJSON(), inside('toJSON()', origin));
  const kind = Object.prototype.toString.call(value);
  if (kind !== '[object Object]') throw cannotHold(foreign(kind.slice('[object '.length, -1)), place);
  const from = isExactObject(origin) ? origin : undefined;
  const exact: ExactObject = Object.create(null);
  for (const [key, member] of Object.entries(value)) {
    if (member !== undefined) exact[key] = exactOf(member, inside(key, from?.[key]));
  }
  return exact;
}

const foreign = (kind: string): string => `a ${kind}${kind === 'Promise' ? ' (is an await missing?)' : ''}`;

function cannotHold(what: string, place: MemberPlace): TypeError {
  return new TypeError(`JSON cannot hold ${what} (${pathOf(place)})`);
}

function pathOf({ key, above }: MemberPlace): string {
  if (above === null) return String(key);
  return typeof key === 'number' ? `${pathOf(above)}[${key}]` : `${pathOf(above)}.${key}`;
}
