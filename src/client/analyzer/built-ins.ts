import type { ValueType } from '../leaves/leaf.ts';
import { copyInto, member, restOf } from './evaluate.ts';
import {
  absent,
  add,
  bagOf,
  entriesOf,
  entryAt,
  everythingIn,
  inside,
  isTruthy,
  itemsOf,
  known,
  knownList,
  listAt,
  type Made,
  ofType,
  opened,
  placesOf,
  plainValue,
  type Site,
  textsOf,
  typeOf,
  unknown,
  use,
  type Value,
} from './values.ts';

const functionsOf = (object: object): object[] =>
  Object.values(Object.getOwnPropertyDescriptors(object)).flatMap(({ value }) =>
    typeof value === 'function' ? [value] : [],
  );
/** Functions of Node are not walked, though some are written in JavaScript: each of them leads to many others. */
export const isOfNode = (value: unknown): boolean => {
  ofNode ??= functionsOfNode();
  return ofNode.has(value);
};
let ofNode: ReadonlySet<unknown> | undefined;

function functionsOfNode(): ReadonlySet<unknown> {
  const loaded: unknown = Reflect.get(process, 'moduleLoadList');
  const names = Array.isArray(loaded) ? loaded.map((each) => String(each).replace(/^NativeModule /, '')) : [];
  const modules = names.flatMap((name) => process.getBuiltinModule(name) ?? []);
  const all = [globalThis, process, ...modules].flatMap((each) => [each, ...functionsOf(each)]).flatMap(functionsOf);
  const prototypes = all.flatMap((each) => (typeof each === 'function' ? Reflect.get(each, 'prototype') : []));
  return new Set([...all, ...prototypes.filter((each) => Object(each) === each).flatMap(functionsOf)]);
}

/** The types that functions of the language take, and those that they give. */
const taken = new Map<unknown, ValueType>([
  ...[...functionsOf(Math), Number, Number.parseFloat, Number.parseInt].map((each) => [each, 'Double'] as const),
  [BigInt, 'Long'],
  [Array.isArray, 'List'],
  ...[Object.keys, Object.values, Object.entries].map((each) => [each, 'Map'] as const),
]);
/** Functions that only look at what they are given, the data included. */
const looking = new Set<unknown>([...functionsOf(console), Array.isArray, Boolean, Number.isInteger, Number.isFinite]);
const givesFirst = new Set<unknown>([Object.freeze, Object.seal, String, Promise.resolve, Promise.all]);

/** The result of a function of the language; undefined for any other function. */
export function builtIn(called: object, given: Made, site: Site): Value[] | undefined {
  const { scan } = site;
  const first = entryAt(given, 0);
  const type = taken.get(called);
  const entries = () => first.flatMap((each) => entriesOf(each, site));
  use(scan, first, type);
  if (type === 'Double' || type === 'Long') return [ofType(type)];
  if (looking.has(called)) return [ofType(called === Boolean || called === Array.isArray ? 'Boolean' : undefined)];
  if (givesFirst.has(called)) return first;
  switch (called) {
    case Object.defineProperty:
      scan.lose([...first.filter(({ kind }) => kind !== 'closure'), ...entryAt(given, 2)]);
      return first;
    case Object.assign:
      for (const target of first) copyInto(target, everythingIn(restOf([given], 1, site)), site, false);
      return first;
    case Array.from: {
      const list = restOf(first, 0, inside(site, 'from'));
      return given.members.size > 1 ? listMethod(list, 'map', restOf([given], 1, site), site) : [list];
    }
    case Object.keys:
      return bagOf(
        entries().flatMap(({ name }) => name),
        site,
      );
    case Object.values:
      return bagOf(
        entries().flatMap(({ values }) => values),
        site,
      );
    case Object.entries:
      return bagOf(
        entries().map(({ name, values }, index) => listAt(inside(site, index), [name, values])),
        site,
      );
    default:
      return undefined;
  }
}

/** Methods of texts and lists that depend on nothing but these and what they are given. */
const pure = new Set([
  ...['toLowerCase', 'toUpperCase', 'toString', 'trim', 'trimStart', 'trimEnd', 'substring', 'replace', 'replaceAll'],
  ...['split', 'charAt', 'startsWith', 'endsWith', 'includes', 'indexOf', 'concat', 'at', 'slice', 'join'],
  ...['toReversed', 'toSorted'],
]);

/** The result of a method where all that it depends on is known; undefined for any other call. */
export function computed(value: Value, name: string, given: Made, site: Site): Value[] | undefined {
  // A text that is trimmed counts as the same.
  if (value.kind === 'part' && ['toString', 'valueOf', 'trim'].includes(name) && given.members.size === 0)
    return [value];
  const places = placesOf([given], site.scan);
  if (name === 'concat' && places && typeOf([value]) === 'String') return textsOf([[value], ...places]);
  const parameters = plainValue([given], site.scan)?.value;
  if (opened(value, site.scan)?.shape === 'map') return ofMap(value, name, parameters, site);
  const self = plainValue([value], site.scan)?.value;
  const method: unknown = self == null || !pure.has(name) ? undefined : Reflect.get(Object(self), name);
  if (typeof method !== 'function' || !Array.isArray(parameters)) return undefined;
  const result: unknown = Reflect.apply(method, self, parameters);
  return [Array.isArray(result) ? knownList(result, site) : known(result)];
}

/** The same for a map of the process that the code does not change. */
function ofMap(value: Value, name: string, parameters: unknown, site: Site): Value[] | undefined {
  const map = value.kind === 'known' && value.value;
  if (!(map instanceof Map) || !placesOf([value], site.scan)) return undefined;
  if (name === 'keys' || name === 'values') return [knownList([...map[name]()], site)];
  if (name === 'entries' || name === 'has') return [name === 'has' ? unknown : value];
  if (name !== 'get') return undefined;
  return Array.isArray(parameters) ? [known(map.get(parameters[0]))] : [...Array.from(map.values(), known), absent];
}

const MAX_ONE_BY_ONE = 60;
/** The methods of lists that call a function for every entry. */
const iterations = new Set([
  ...['find', 'findLast', 'filter', 'some', 'every', 'findIndex', 'findLastIndex', 'forEach', 'map', 'flatMap'],
  ...['reduce', 'reduceRight', 'sort', 'toSorted'],
]);
const changing = new Set(['push', 'unshift', 'add', 'set', 'sort', 'reverse', 'shift', 'pop']);
const givingOne = new Set(['find', 'findLast', 'at', 'shift', 'pop']);
const givingEntries = new Set(['filter', 'slice', 'values', 'toReversed', 'toSorted']);
const givingTheList = new Set(['sort', 'reverse', 'add', 'set']);
const givingNothing = new Set(['push', 'unshift', 'includes', 'has', 'indexOf', 'keys']);

/** The result of a method of a list or a set, or of a loop over a map; undefined for any other call. */
export function listMethod(value: Value, name: string, given: Made, site: Site): Value[] | undefined {
  const { scan } = site;
  const list = opened(value, scan);
  if (!list || list.shape === 'object' || (list.shape === 'map' && name !== 'forEach')) return undefined;
  const { results, passing, isOneByOne } = iterate(list, name, given, site);
  if (changing.has(name)) {
    // Something is put into the list, or its entries change their places.
    const put = name === 'sort' ? [] : everythingIn(given);
    add(scan, list.others, [...everythingIn(list), ...put]);
    if (list.shared) scan.lose(put);
  }
  if (givingTheList.has(name)) return [list];
  if (givingOne.has(name)) return [...passing, absent];
  if (givingEntries.has(name)) return bagOf(passing, site);
  const places = placesOf([list], scan);
  switch (name) {
    case 'map':
      return isOneByOne ? [listAt(inside(site, 'mapped'), results)] : bagOf(results.flat(), site);
    case 'flatMap':
      return bagOf(flat(results.flat(), site), site);
    case 'flat':
      return bagOf(flat(passing, site), site);
    case 'concat':
      return bagOf(flat([list, ...everythingIn(given)], site), site);
    case 'entries': {
      const pair = (values: Value[], index: number) => listAt(inside(site, index), [[known(index)], values]);
      return list.shape === 'list' && places ? bagOf(places.map(pair), site) : undefined;
    }
    case 'join': {
      const between = given.members.size > 0 ? entryAt(given, 0) : [known(',')];
      return places ? textsOf(places.flatMap((each, index) => (index > 0 ? [between, each] : [each]))) : [unknown];
    }
    default:
      if (name.startsWith('reduce')) scan.lose([...entryAt(given, 1), ...results.flat()]);
      return iterations.has(name) || givingNothing.has(name) ? [unknown] : undefined;
  }
}

/** Calls a function for every entry: one by one where their places are known, else once for all. */
function iterate(list: Made, name: string, given: Made, site: Site) {
  const { scan } = site;
  const places = /reduce|sort/i.test(name) ? undefined : placesOf([list], scan);
  const isOneByOne = places !== undefined && places.length <= MAX_ONE_BY_ONE;
  const inTurn = isOneByOne ? places : [everythingIn(list)];
  if (!iterations.has(name)) return { results: [], passing: inTurn.flat(), isOneByOne };
  const results = inTurn.map((values, index) => {
    const place = list.shape === 'list' && isOneByOne ? [known(index)] : [unknown];
    const second = /sort/i.test(name) || list.shape === 'set' ? values : place;
    const pair = () => [1, 0].map((at) => values.flatMap((each) => member(each, String(at), site)));
    const handed = name.startsWith('reduce') ? [[unknown], values, [unknown], [list]] : [values, second, [list]];
    const to = listAt(inside(site, `given ${index}`), list.shape === 'map' ? pair() : handed);
    return entryAt(given, 0).flatMap((each, number) =>
      scan.apply(each, entryAt(given, 1), to, inside(site, `${index}.${number}`)),
    );
  });
  const isOut = (index: number) => /^f/.test(name) && results[index]?.every((each) => isTruthy(each) === false);
  return { results, passing: inTurn.filter((_, index) => !isOut(index)).flat(), isOneByOne };
}

const flat = (values: readonly Value[], site: Site): Value[] =>
  values.flatMap((each) => (placesOf([each], site.scan) ? itemsOf(each, site) : [each]));
