import { isProxy } from 'node:util/types';
import type { AnyNode } from 'acorn';
import type { FunctionNode } from '../code/syntax.ts';
import type { Field } from '../leaves/fields.ts';
import type { LeafClass, ValueType } from '../leaves/leaf.ts';
import { isModule, memberSafely, type OuterNames } from './outer-names.ts';

/** One piece of a key as it is published: written in the code, configured, read from another key, or all of these. */
export type KeyPart =
  | { type: 'literal'; value: string }
  | { type: 'field'; ref: string }
  | { type: 'roamDerived'; fromKey: string }
  | { type: 'composite'; parts: KeyPart[] };

/** What an expression may be when the leaf runs, as far as its code tells. An expression has a list of these alternatives. */
export type Value =
  /** The data of the run, or a method of it before it is called: `service.get`. */
  | { kind: 'data'; deep: boolean; method: string | null }
  /** A value of this process: a literal, a constant, function or object of the module, the leaf itself. */
  | { kind: 'known'; value: unknown }
  /** What a key may be made of: a configured field (`sample`: its default), the value of a key (`site`: the call that read it), a text. */
  | { kind: 'part'; part: KeyPart; type?: ValueType | undefined; site?: string; sample?: unknown }
  | Made
  | Closure
  | { kind: 'unknown'; type?: ValueType };

/** A function in the code. */
export type Closure = { kind: 'closure'; node: FunctionNode; scope: Scope };

/**
 * A list, a set, a map (a list of pairs) or an object. `others`: what may stand under any name; the places of a list without others are
 * known. `of`: the object of the process that it stands for. `isWhole`: it has no members but these. `shared`: code that is not seen may
 * read it.
 */
export type Made = {
  kind: 'made';
  shape: 'list' | 'set' | 'map' | 'object';
  members: Map<unknown, Value[]>;
  others: Value[];
  of: object | null;
  isWhole: boolean;
  shared: boolean;
};

export const unknown: Value = { kind: 'unknown' };
export const known = (value: unknown): Value => ({ kind: 'known', value });
export const absent = known(undefined);
export const ofType = (type: ValueType | undefined): Value => (type ? { kind: 'unknown', type } : unknown);
export const sole = (values: readonly Value[]): Value | undefined => (values.length === 1 ? values[0] : undefined);
export const everythingIn = ({ members, others }: Made): Value[] => [...[...members.values()].flat(), ...others];
/** The entry of a list at a place. */
export const entryAt = ({ members, others }: Made, index: number): Value[] => {
  const values = [...(members.get(String(index)) ?? []), ...others];
  return members.has(String(index)) ? values : [...values, absent];
};

const isPlain = (value: unknown): boolean =>
  value == null || ['string', 'number', 'bigint', 'boolean'].includes(typeof value);
export const isNothing = (value: Value): boolean => value.kind === 'known' && value.value == null;
/** Undefined: the code does not tell. */
export function isTruthy(value: Value): boolean | undefined {
  if (value.kind === 'known') return Boolean(value.value);
  return value.kind === 'part' || value.kind === 'unknown' ? undefined : true;
}

/** Whether a value is the data of the run, or leads to it. A function may have it. */
export function carriesData(value: Value, seen = new Set<Value>()): boolean {
  if (value.kind !== 'made') return value.kind === 'data' || value.kind === 'closure';
  const isNew = !seen.has(value);
  seen.add(value);
  return isNew && everythingIn(value).some((each) => carriesData(each, seen));
}

const numbers = new WeakMap<object, number>();
let last = 0;
export function numberOf(object: object): number {
  const number = numbers.get(object) ?? ++last;
  numbers.set(object, number);
  return number;
}

/** Two values with one id are the same. */
export function idOf(value: Value): string {
  switch (value.kind) {
    case 'known': {
      const isObject = !isPlain(value.value) && typeof value.value !== 'symbol';
      return `${typeof value.value} ${isObject ? numberOf(Object(value.value)) : String(value.value)}`;
    }
    case 'made':
      return `made ${numberOf(value)}`;
    case 'closure':
      return `closure ${numberOf(value.node)} ${value.scope.key}`;
    case 'part':
      return JSON.stringify([value.part, value.site]);
    default:
      return JSON.stringify(value);
  }
}

const MAX_COMBINATIONS = 100;
const derivedFromSomething: KeyPart = { type: 'roamDerived', fromKey: '?' };

/** A value as (a part of) a key. A list or an object is no key. */
export function keyPartOf(value: Value): KeyPart {
  if (value.kind === 'part' && isPlain(value.sample)) return value.part;
  if (value.kind !== 'known' || value.value == null || !isPlain(value.value)) return derivedFromSomething;
  return { type: 'literal', value: String(value.value) };
}

export const isUnknownKey = (part: KeyPart): boolean =>
  part.type === 'composite' ? part.parts.some(isUnknownKey) : part.type === 'roamDerived' && part.fromKey === '?';

/** The possible keys, each once. An empty key or none counts only where nothing else is possible: nobody means it. */
export function keysOf(values: readonly Value[]): KeyPart[] {
  const there = values.filter((value) => value.kind !== 'known' || (value.value != null && value.value !== ''));
  const parts = (there.length > 0 ? there : values).map(keyPartOf);
  return [...new Map(parts.map((part) => [JSON.stringify(part), part])).values()];
}

/** Texts that are put together of parts which may each be several values: every combination, up to a few. */
export function textsOf(parts: readonly Value[][]): Value[] {
  let texts: KeyPart[][] = [[]];
  for (const alternatives of parts) {
    const there = alternatives.filter((value) => !isNothing(value));
    const keyParts = (there.length > 0 ? there : alternatives).map(keyPartOf);
    if (texts.length * keyParts.length > MAX_COMBINATIONS) return [unknown];
    texts = texts.flatMap((text) => keyParts.map((part) => [...text, part]));
  }
  return texts.map((text) => {
    const part = joined(text);
    return part.type === 'literal' ? known(part.value) : { kind: 'part', part, type: 'String' };
  });
}

/** Parts one after the other; neighbours that are known become one. */
function joined(parts: readonly KeyPart[]): KeyPart {
  const flat: KeyPart[] = [];
  for (const part of parts.flatMap((each) => (each.type === 'composite' ? each.parts : [each]))) {
    const previous = flat.at(-1);
    if (part.type === 'literal' && previous?.type === 'literal')
      flat[flat.length - 1] = { type: 'literal', value: previous.value + part.value };
    else if (part.type !== 'literal' || part.value !== '') flat.push(part);
  }
  const [only = { type: 'literal', value: '' }] = flat;
  return flat.length > 1 ? { type: 'composite', parts: flat } : only;
}

/** A key in one line, configured parts as `${field}`. */
export function describe(part: KeyPart): string {
  if (part.type === 'composite') return part.parts.map(describe).join('');
  return part.type === 'literal' ? part.value : part.type === 'field' ? `\${${part.ref}}` : '?';
}

const types = { string: 'String', boolean: 'Boolean', number: 'Double', bigint: 'Long', object: 'Map' } as const;
const isTypeName = (name: string): name is keyof typeof types => Object.hasOwn(types, name);
/** The type by the word that `typeof` gives. */
export const typeNamed = (name: string): ValueType | undefined => (isTypeName(name) ? types[name] : undefined);
const typeOfSample = (value: unknown): ValueType | undefined =>
  value === null ? undefined : Array.isArray(value) ? 'List' : typeNamed(typeof value);

/** The type of the first value that tells one. */
export function typeOf(values: readonly Value[]): ValueType | undefined {
  for (const value of values) {
    if (value.kind === 'made') return value.shape === 'list' ? 'List' : 'Map';
    const told = value.kind === 'known' ? typeOfSample(value.value) : 'type' in value ? value.type : undefined;
    if (told) return told;
  }
  return undefined;
}

/** A configured field of the leaf, or a member of a configured object: `config.key`. */
export const configured = (ref: string, sample: unknown): Value => ({
  ...{ kind: 'part', part: { type: 'field', ref }, type: typeOfSample(sample), sample },
});

/** The leaf whose code is looked at. */
export type Subject = { leaf: LeafClass; sample: object; fields: readonly Field[]; outerNames: OuterNames };

/** A call that reads or writes the data. `keys`: the key it names, in every way it may turn out. */
export type Access = {
  direction: 'read' | 'write';
  method: 'get' | 'getDeep' | 'put' | 'putDeep';
  union: boolean;
  keys: KeyPart[];
  type: ValueType | undefined;
  site: string;
};

/** What one walk through the code finds. */
export const newWalk = () => ({
  accesses: [] as Access[],
  /** Keys may be missed: the data went where it is not seen, or something is not understood. */
  incomplete: false,
  /** Something has a new value: the code has to be walked once more. */
  changed: false,
  created: new Map<string, Closure>(),
  invoked: new Set<string>(),
  lost: new Set<string>(),
  /** Functions that are being walked. */
  running: new Map<string, Scope>(),
});

/** What the code does to values only grows, from one walk through it to the next. */
export type Scan = ReturnType<typeof newWalk> & {
  subject: Subject;
  walks: number;
  steps: number;
  types: Map<string, ValueType>;
  scopes: Map<string, Scope>;
  made: Map<string, Made>;
  /** Names of modules that the code changes. */
  changes: Set<string>;
  evaluate(node: AnyNode, scope: Scope): Value[];
  /** The values that a call may return. */
  apply(called: Value, self: Value[], given: Made, site: Site): Value[];
  /** Values go where they are not seen: into code that cannot be read, or into an object that anybody may have. */
  lose(values: readonly Value[]): void;
};

/** A place in the code, and the calls that led to it. `code`: the function of the process in whose text it stands. */
export type Site = { scan: Scan; key: string; code: object };

/** The names of a block or a function, with all values that they are given anywhere. */
export type Scope = Site & {
  parent: Scope | null;
  names: Map<string, Value[]>;
  /** The names of the function around it, where a `var` is declared. */
  vars: Map<string, Value[]>;
  self: Value[];
  returned: Value[];
};

export const inside = ({ scan, key, code }: Site, part: string | number): Site => ({
  ...{ scan, key: `${key}.${part}`, code },
});
export const siteOf = (node: AnyNode, scope: Scope): Site => inside(scope, numberOf(node));

export function functionScope(site: Site, parent: Scope | null): Scope {
  const names = new Map<string, Value[]>();
  return keptScope({ ...site, parent, names, vars: names, self: [], returned: [] });
}

export const blockScope = (node: AnyNode, scope: Scope): Scope =>
  keptScope({ ...scope, ...siteOf(node, scope), parent: scope, names: new Map() });

/** The scope that was first made under this key. It gets a number as its key: keys of what is inside would grow with each call that led here. */
function keptScope(scope: Scope): Scope {
  const { scopes } = scope.scan;
  const kept = scopes.get(scope.key) ?? { ...scope, key: `#${scopes.size}` };
  scopes.set(scope.key, kept);
  return kept;
}

export function notUnderstood(scan: Scan): Value[] {
  scan.incomplete = true;
  return [unknown];
}

const MAX_ALTERNATIVES = 150;
/** A text that is still new after so many walks is made of what it was before: it would grow for ever. */
const MAX_WALKS_WITH_NEW_TEXTS = 3;

/** Each value once; in the place of too many, one that may be anything. */
export function unlessTooMany(values: Value[], scan: Scan): Value[] {
  if (values.length <= MAX_ALTERNATIVES) return values;
  const each = [...new Map(values.map((value) => [idOf(value), value])).values()];
  if (each.length <= MAX_ALTERNATIVES) return each;
  scan.lose(each);
  return [unknown];
}

/** Adds values to those that something may have. */
export function add(scan: Scan, to: Value[], values: readonly Value[]): void {
  const ids = new Set(to.map(idOf));
  for (const value of values) {
    if (ids.has(idOf(value))) continue;
    const isText = value.kind === 'part' || (value.kind === 'known' && isPlain(value.value));
    const isTooMuch = to.length >= MAX_ALTERNATIVES || (isText && scan.walks > MAX_WALKS_WITH_NEW_TEXTS);
    if (isTooMuch) scan.lose([value]);
    const added = isTooMuch ? unknown : value;
    if (ids.has(idOf(added))) continue;
    ids.add(idOf(added));
    to.push(added);
    scan.changed = true;
  }
}

export function addUnder<K>(scan: Scan, table: Map<K, Value[]>, name: K, values: readonly Value[]): void {
  if (!table.has(name)) scan.changed = true;
  const all = table.get(name) ?? [];
  table.set(name, all);
  add(scan, all, values);
}

/** The first use of a value that tells its type counts. */
export function use({ types }: Scan, values: readonly Value[], type: ValueType | undefined): void {
  for (const value of values)
    if (type && value.kind === 'part' && value.site && !value.type && !types.has(value.site))
      types.set(value.site, type);
}

/** The list or object that an expression makes: at one place always the same. */
export function madeAt({ scan, key }: Site, shape: Made['shape']): Made {
  const kept = scan.made.get(key);
  if (kept) return kept;
  const made: Made = { kind: 'made', shape, members: new Map(), others: [], of: null, isWhole: true, shared: false };
  scan.made.set(key, made);
  scan.changed = true;
  return made;
}

/** A list that begins with these entries in their places; behind them `others`, in any order and any number of times. */
export function listAt(
  site: Site,
  places: readonly Value[][],
  others: readonly Value[] = [],
  shape: 'list' | 'set' = 'list',
): Made {
  const made = madeAt(site, shape);
  const isOther = made.members.size > 0 && made.members.size !== places.length;
  for (const [index, values] of places.entries()) addUnder(site.scan, made.members, String(index), values);
  add(site.scan, made.others, isOther ? [...places.flat(), ...others] : others);
  return made;
}

/** A list of these entries in any order. */
export const bagOf = (values: readonly Value[], site: Site): Value[] => [listAt(inside(site, 'bag'), [], values)];
/** A list of values of the process. */
export const knownList = (values: readonly unknown[], site: Site): Made =>
  listAt(
    inside(site, 'known'),
    values.map((each) => [known(each)]),
  );

const MAX_MEMBERS = 1000;

/** A list, a map or an object whose members are seen. One of the process is read without running anybody's code. */
export function opened(value: Value, scan: Scan): Made | undefined {
  if (value.kind === 'made') return value;
  const held = value.kind === 'known' ? value.value : null;
  if ((typeof held !== 'object' && typeof held !== 'function') || held === null || isProxy(held)) return undefined;
  const key = `of ${numberOf(held)}`;
  const kept = scan.made.get(key);
  if (kept) return kept;
  const prototype: unknown = Object.getPrototypeOf(held);
  // A class that extends one of these may have other ways to read it.
  const shape = (['list', 'set', 'map'] as const).find((each) => prototypes[each] === prototype) ?? 'object';
  const made = madeAt({ scan, key, code: Object }, shape);
  const isLeaf = held === scan.subject.sample;
  const isPlainObject = shape === 'object' && (prototype === null || prototype === Object.prototype) && !isModule(held);
  const isWhole = shape === 'object' ? isPlainObject && !hasSymbols(held) : Object.keys(held).every(isPlace);
  Object.assign(made, { of: held, isWhole, shared: !isLeaf });
  for (const [name, value] of membersOf(held, shape).slice(0, MAX_MEMBERS)) {
    const isField = isLeaf && scan.subject.fields.some(({ field }) => field === name);
    made.members.set(name, [isField && value.kind === 'known' ? configured(name, value.value) : value]);
  }
  if (made.members.size === MAX_MEMBERS) made.others.push(unknown);
  return made;
}

export const prototypes: Readonly<Record<Made['shape'], object>> = {
  ...{ list: Array.prototype, set: Set.prototype, map: Map.prototype, object: Object.prototype },
};
const hasSymbols = (held: object): boolean => Object.getOwnPropertySymbols(held).length > 0;
const isPlace = (name: string): boolean => /^\d+$/.test(name);
const isIterable = (held: object): held is Iterable<unknown> => Symbol.iterator in held;

function membersOf(held: object, shape: Made['shape']): [string, Value][] {
  if (shape !== 'object' && isIterable(held)) return Array.from(held, (each, index) => [String(index), known(each)]);
  return Object.getOwnPropertyNames(held).map((name) => {
    const found = memberSafely(held, name);
    return [name, found ? known(found.value) : unknown];
  });
}

/** The entries of a list, place by place; undefined where a place may hold something else when it is read. */
export function placesOf(values: readonly Value[], scan: Scan): Value[][] | undefined {
  const value = sole(values);
  const made = value && opened(value, scan);
  return made && made.shape !== 'object' && made.others.length === 0 ? [...made.members.values()] : undefined;
}

const isComputable = (value: unknown): boolean => isPlain(value) || value instanceof RegExp;

/** A text, a number or a list of these that can be computed with now. */
export function plainValue(values: readonly Value[], scan: Scan): { value: unknown } | undefined {
  const value = sole(values);
  if (value?.kind === 'known' && isComputable(value.value)) return value;
  const places = placesOf(values, scan)?.map(sole);
  const held = places?.flatMap((each) => (each?.kind === 'known' && isComputable(each.value) ? [each.value] : []));
  return held && held.length === places?.length ? { value: held } : undefined;
}

/** The entries that a loop over a value sees. */
export function itemsOf(value: Value, site: Site): Value[] {
  const made = opened(value, site.scan);
  if (made && made.shape !== 'object') return everythingIn(made);
  if (made || carriesData(value)) site.scan.lose([value]);
  return isNothing(value) ? [] : [unknown];
}

/** The names of an object's members or the keys of a map, and the values under them. */
export function entriesOf(value: Value, { scan }: Site): { name: Value[]; values: Value[] }[] {
  const made = opened(value, scan);
  if (!made?.isWhole) {
    if (carriesData(value)) scan.lose([value]);
    return value.kind === 'known' && isPlain(value.value) ? [] : [{ name: [unknown], values: [unknown] }];
  }
  const entries = [...made.members].map(([name, values]) => ({ name: [known(name)], values }));
  return made.others.length > 0 ? [...entries, { name: [unknown], values: made.others }] : entries;
}
