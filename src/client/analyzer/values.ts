import type { AnyNode, Pattern } from 'acorn';
import { childrenOf, type FunctionNode, isFunctionNode } from '../code/syntax.ts';
import type { Field } from '../leaves/fields.ts';
import type { LeafClass, ValueType } from '../leaves/leaf.ts';
import { isModule, type OuterNames } from './outer-names.ts';

/** One piece of a key as it is published: written in the code, configured, read from another key, or all of these. */
export type KeyPart =
  | { type: 'literal'; value: string }
  | { type: 'field'; ref: string }
  | { type: 'roamDerived'; fromKey: string }
  | { type: 'composite'; parts: KeyPart[] };

/** What an expression may be when the leaf runs, as far as its code tells. An expression has a list of these alternatives. */
export type Value =
  | { kind: 'data'; deep: boolean }
  /** A method of the data before it is called: `service.get`. */
  | { kind: 'method'; name: string; deep: boolean }
  | { kind: 'leaf' }
  /** A value of this process: a literal, a constant or a function of the module. Lists and plain objects count as made. */
  | { kind: 'known'; value: unknown }
  /** A configured field, or a member of a configured object: `config.key`. */
  | { kind: 'field'; path: string; sample: unknown }
  | { kind: 'text'; parts: KeyPart[] }
  /** The value of a key. `site`: the call that read it. */
  | { kind: 'read'; key: KeyPart; site: string; type: ValueType | undefined }
  | Made
  | Closure
  | { kind: 'bound'; target: Value; self: Value[]; given: Value[][] }
  | { kind: 'unknown'; type?: ValueType };

/** A function in the code. `self`: the `this` of an arrow function. */
export type Closure = { kind: 'closure'; node: FunctionNode; scope: Scope; self: Value[] | null };

/**
 * A list (or set), a map or an object. `others`: what may stand under any name; of a list without others the places are known. `lost`: code
 * that is not seen may read and change it. `outside`: it is there before the leaf runs, so such code may read it.
 */
export type Made = {
  kind: 'made';
  shape: 'list' | 'map' | 'object';
  members: Map<unknown, Value[]>;
  others: Value[];
  lost: boolean;
  outside: boolean;
};

/** The arguments of a call; `more`: what any argument behind those may be. */
export type Given = { places: Value[][]; more: Value[] | null };

export const unknown: Value = { kind: 'unknown' };
export const known = (value: unknown): Value => ({ kind: 'known', value });
export const absent = known(undefined);
export const ofType = (type: ValueType | undefined): Value => (type ? { kind: 'unknown', type } : unknown);
export const anything: Given = { places: [], more: [unknown] };
export const given = (...places: Value[][]): Given => ({ places, more: null });
export const argument = ({ places, more }: Given, index: number): Value[] =>
  places[index] ?? (more ? [...more, absent] : [absent]);
export const everyArgument = ({ places, more }: Given): Value[] => [...places.flat(), ...(more ?? [])];
export const everythingIn = ({ members, others }: Made): Value[] => [...[...members.values()].flat(), ...others];
export const sole = (values: readonly Value[]): Value | undefined => (values.length === 1 ? values[0] : undefined);

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
      const isPlainValue = isPlain(value.value) || typeof value.value === 'symbol';
      return `${typeof value.value} ${isPlainValue ? String(value.value) : numberOf(Object(value.value))}`;
    }
    case 'made':
      return `made ${numberOf(value)}`;
    case 'closure':
      return `closure ${numberOf(value.node)} ${numberOf(value.scope)}`;
    case 'bound':
      return `bound ${idOf(value.target)} ${value.self.map(idOf)} ${value.given.map((each) => each.map(idOf).join())}`;
    case 'field':
      return `field ${value.path}`;
    default:
      return JSON.stringify(value);
  }
}

/** The entries of a list, place by place; undefined where a place may hold something else when it is read. */
export function placesOf(value: Value | undefined): Value[][] | undefined {
  return value?.kind === 'made' && value.shape === 'list' && value.others.length === 0
    ? [...value.members.values()]
    : undefined;
}

/** A value that can be computed with now. */
export function plainValue(values: readonly Value[]): { value: unknown } | undefined {
  const value = sole(values);
  return value?.kind === 'known' && (isPlain(value.value) || value.value instanceof RegExp) ? value : undefined;
}

export const isPlain = (value: unknown): boolean =>
  value == null || ['string', 'number', 'bigint', 'boolean'].includes(typeof value);
export const isNothing = (value: Value): boolean => value.kind === 'known' && value.value == null;
/** Undefined: the code does not tell. */
export function isTruthy(value: Value): boolean | undefined {
  if (value.kind === 'known') return Boolean(value.value);
  return ['data', 'method', 'leaf', 'made', 'closure', 'bound'].includes(value.kind) ? true : undefined;
}

const MAX_COMBINATIONS = 100;
const derivedFromSomething: KeyPart = { type: 'roamDerived', fromKey: '?' };

/** A value as (a part of) a key. */
export function keyPartOf(value: Value): KeyPart {
  switch (value.kind) {
    case 'known':
      if (value.value == null || !isPlain(value.value)) return derivedFromSomething;
      return { type: 'literal', value: String(value.value) };
    case 'field':
      // A list or an object is no key: only what is in it may be.
      return isPlain(value.sample) ? { type: 'field', ref: value.path } : derivedFromSomething;
    case 'text':
      return joined(value.parts);
    case 'read':
      return { type: 'roamDerived', fromKey: describe(value.key) };
    default:
      return derivedFromSomething;
  }
}

export const isUnknownKey = (part: KeyPart): boolean =>
  part.type === 'composite' ? part.parts.some(isUnknownKey) : part.type === 'roamDerived' && part.fromKey === '?';

/** The possible keys, each once. Nobody means a key without a name, where another value may be there. */
export function keysOf(values: readonly Value[]): KeyPart[] {
  const there = values.filter((value) => !isNothing(value) && !(value.kind === 'known' && value.value === ''));
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
    return part.type === 'literal' ? known(part.value) : { kind: 'text', parts: [part] };
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
function describe(part: KeyPart): string {
  if (part.type === 'composite') return part.parts.map(describe).join('');
  return part.type === 'literal' ? part.value : part.type === 'field' ? `\${${part.ref}}` : '?';
}

const types = { string: 'String', boolean: 'Boolean', number: 'Double', bigint: 'Long', object: 'Map' } as const;
const isTypeName = (name: string): name is keyof typeof types => Object.hasOwn(types, name);
/** The type by the word that `typeof` gives. */
export const typeNamed = (name: string): ValueType | undefined => (isTypeName(name) ? types[name] : undefined);

/** The type of the first value that tells one. */
export function typeOf(values: readonly Value[]): ValueType | undefined {
  for (const value of values) {
    const isSample = value.kind === 'known' || value.kind === 'field';
    const sample = value.kind === 'known' ? value.value : value.kind === 'field' ? value.sample : null;
    if (isSample && sample !== null) return Array.isArray(sample) ? 'List' : typeNamed(typeof sample);
    if (value.kind === 'text') return 'String';
    if (value.kind === 'made') return value.shape === 'list' ? 'List' : 'Map';
    if ('type' in value && value.type) return value.type;
  }
  return undefined;
}

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
type Walk = {
  accesses: Access[];
  /** Keys may be missed: the data went where it is not seen, or something is not understood. */
  incomplete: boolean;
  /** Something has a new value: the code has to be walked once more. */
  changed: boolean;
  created: Map<string, Closure>;
  invoked: Set<string>;
  lost: Set<string>;
  /** Functions that are being walked. */
  running: Map<string, Frame>;
  steps: number;
  /** Functions of the process that were walked although they are given nothing that leads to the data. */
  errands: number;
};

/** What the code does to values only grows, from one walk through it to the next. */
export type Scan = Walk & {
  subject: Subject;
  /** The walk before found nothing new: a variable without a value will not get one any more. */
  settled: boolean;
  types: Map<string, ValueType>;
  frames: Map<string, Frame>;
  made: Map<string, Made>;
  /** Assigned to members of the leaf, by name. */
  leafMembers: Map<unknown, Value[]>;
  leafLost: boolean;
  /** Objects of the process and names of modules that the code changes. */
  changes: Set<unknown>;
  evaluate(node: AnyNode, scope: Scope): Value[];
  /** What calling a value gives. */
  apply(called: Value, self: Value[], given: Given, site: Site): Value[];
  /** Values go where they are not seen: into code that cannot be read, or into an object that anybody may have. */
  lose(values: readonly Value[]): void;
};

/** A call of a function, from one place in the code. `code`: the function of the process in whose text it stands. `home`: for `super`. */
type Frame = {
  id: number;
  self: Value[];
  code: object;
  home: object | null;
  isGenerator: boolean;
  returned: Value[];
  yielded: Value[];
  scopes: Map<AnyNode, Scope>;
};

/** The names that a block declares, with all values that they are given anywhere. */
export type Scope = { scan: Scan; frame: Frame; parent: Scope | null; names: Map<string, Value[]> };

/** A place in the code, in one frame. */
export type Site = { scan: Scan; frame: Frame; key: string };

export const siteOf = (node: AnyNode, { scan, frame }: Scope): Site => ({
  scan,
  frame,
  key: `${numberOf(node)} ${frame.id}`,
});
export const inside = (site: Site, part: string | number): Site => ({ ...site, key: `${site.key}.${part}` });

export const newWalk = (): Walk => ({
  ...{ accesses: [], incomplete: false, changed: false, steps: 0, errands: 0 },
  ...{ created: new Map(), invoked: new Set(), lost: new Set(), running: new Map() },
});

export function frameAt(key: string, scan: Scan, given: Pick<Frame, 'code' | 'home' | 'isGenerator'>): Frame {
  const kept = scan.frames.get(key);
  if (kept) return kept;
  const frame = { id: scan.frames.size, self: [], ...given, returned: [], yielded: [], scopes: new Map() };
  scan.frames.set(key, frame);
  return frame;
}

const MAX_ALTERNATIVES = 150;

/** Adds values to those that something may have. */
export function add(scan: Scan, to: Value[], values: readonly Value[]): void {
  const ids = new Set(to.map(idOf));
  for (const value of values) {
    if (ids.has(idOf(value))) continue;
    ids.add(idOf(value));
    const isFull = to.length >= MAX_ALTERNATIVES;
    if (isFull) scan.lose([value]);
    if (isFull && ids.has(idOf(unknown))) continue;
    to.push(isFull ? unknown : value);
    scan.changed = true;
  }
}

export function addUnder<K>(scan: Scan, table: Map<K, Value[]>, name: K, values: readonly Value[]): void {
  const before = table.get(name);
  if (!before) scan.changed = true;
  const all = before ?? [];
  table.set(name, all);
  add(scan, all, values);
}

export function note<T>(scan: Scan, notes: Set<T>, what: T): void {
  if (!notes.has(what)) scan.changed = true;
  notes.add(what);
}

/** The first use of a value that tells its type counts. */
export function use(scan: Scan, values: readonly Value[], type: ValueType | undefined): void {
  for (const value of values)
    if (type && value.kind === 'read' && !value.type && !scan.types.has(value.site)) scan.types.set(value.site, type);
}

/** Whether a value is the data of the run, or leads to it. A function may have it. */
export function carriesData(value: Value, seen: readonly Value[] = []): boolean {
  const carries = (each: Value) => carriesData(each, [...seen, value]);
  if (value.kind === 'bound') return [value.target, ...value.self, ...value.given.flat()].some(carries);
  if (value.kind === 'made') return !seen.includes(value) && everythingIn(value).some(carries);
  return value.kind === 'data' || value.kind === 'method' || value.kind === 'closure';
}

/** The list or object that an expression makes: in one frame always the same. */
export function madeAt({ scan, key }: Site, shape: Made['shape']): Made {
  const kept = scan.made.get(key);
  if (kept) return kept;
  const made: Made = { kind: 'made', shape, members: new Map(), others: [], lost: false, outside: false };
  scan.made.set(key, made);
  scan.changed = true;
  return made;
}

/** A list of these entries, in their places; null: in any order and any number of times. */
export function listOf(site: Site, places: readonly Value[][] | null, items: readonly Value[] = []): Value[] {
  const made = madeAt(site, 'list');
  const isOther = made.members.size > 0 && places !== null && made.members.size !== places.length;
  for (const [index, values] of places?.entries() ?? []) addUnder(site.scan, made.members, String(index), values);
  if (!places) add(site.scan, made.others, items);
  else if (isOther) add(site.scan, made.others, places.flat());
  return [made];
}

const MAX_COPIED = 1000;
/** What a module holds may lead to everything that the process holds. */
const MAX_MADE = 5000;

/** A value of this process. A list, a map or a plain object is looked at member by member, without running anybody's code. */
export function valueIn(value: unknown, scan: Scan): Value {
  if (typeof value !== 'object' || value === null) return known(value);
  const isMap = value instanceof Map;
  const isList = Array.isArray(value) || value instanceof Set;
  const isTable = [null, Object.prototype].includes(Object.getPrototypeOf(value)) && !isModule(value);
  if (!isMap && !isList && !isTable) return known(value);
  const key = `of ${numberOf(value)}`;
  const before = scan.made.get(key);
  if (before) return before;
  if (scan.made.size > MAX_MADE) return unknown;
  const made = madeAt({ scan, key, frame: noFrame }, isMap ? 'map' : isList ? 'list' : 'object');
  made.outside = true;
  const members: [unknown, unknown][] = isMap
    ? [...value]
    : isList
      ? Array.from(value, (each, index) => [String(index), each])
      : Object.entries(Object.getOwnPropertyDescriptors(value)).map(([name, each]) => [
          name,
          each.get ? noValue : each.value,
        ]);
  if (members.length > MAX_COPIED) made.others.push(unknown);
  for (const [name, each] of members.slice(0, MAX_COPIED))
    made.members.set(name, [each === noValue ? unknown : valueIn(each, scan)]);
  return made;
}
const noValue = Symbol('computed');
const noFrame: Frame = {
  ...{ id: -1, self: [], code: Object, home: null, isGenerator: false },
  ...{ returned: [], yielded: [], scopes: new Map() },
};

/** The scope of a block, of a loop, or of a function. */
export function scopeFor(block: AnyNode, { scan, frame, parent }: Omit<Scope, 'names'>): Scope {
  const kept = frame.scopes.get(block);
  if (kept) return kept;
  const scope = { scan, frame, parent, names: new Map(namesIn(block).map((name): [string, Value[]] => [name, []])) };
  frame.scopes.set(block, scope);
  return scope;
}

export const inner = (block: AnyNode, scope: Scope): Scope => scopeFor(block, { ...scope, parent: scope });

/** The names that a block declares itself; of a function those of its `var`s, too. */
function namesIn(block: AnyNode): string[] {
  const below = (node: AnyNode): string[] =>
    childrenOf(node).flatMap((child) => [...declaredBy(child, true), ...(isFunctionNode(child) ? [] : below(child))]);
  if (isFunctionNode(block))
    return [
      ...block.params.flatMap(namesOf),
      ...(block.type === 'ArrowFunctionExpression' ? [] : ['arguments']),
      ...(block.id ? [block.id.name] : []),
      ...below(block),
    ];
  const parts = block.type === 'SwitchStatement' ? block.cases.flatMap(childrenOf) : childrenOf(block);
  return [
    ...parts.flatMap((part) => declaredBy(part, false)),
    ...(block.type === 'CatchClause' ? namesOf(block.param) : []),
  ];
}

function declaredBy(part: AnyNode, isVar: boolean): string[] {
  if (part.type === 'VariableDeclaration')
    return isVar === (part.kind === 'var') ? part.declarations.flatMap(({ id }) => namesOf(id)) : [];
  return !isVar && (part.type === 'FunctionDeclaration' || part.type === 'ClassDeclaration') && part.id
    ? [part.id.name]
    : [];
}

/** The names that a pattern declares. */
function namesOf(pattern: Pattern | null | undefined): string[] {
  switch (pattern?.type) {
    case 'Identifier':
      return [pattern.name];
    case 'AssignmentPattern':
      return namesOf(pattern.left);
    case 'RestElement':
      return namesOf(pattern.argument);
    case 'ArrayPattern':
      return pattern.elements.flatMap(namesOf);
    case 'ObjectPattern':
      return pattern.properties.flatMap((each) => namesOf(each.type === 'Property' ? each.value : each.argument));
    default:
      return [];
  }
}
