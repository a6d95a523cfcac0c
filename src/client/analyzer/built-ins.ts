import type { ValueType } from '../leaves/leaf.ts';
import { copyInto, scramble } from './expressions.ts';
import { entriesOf, itemsOf } from './members.ts';
import {
  absent,
  given as args,
  argument,
  carriesData,
  everyArgument,
  everythingIn,
  type Given,
  inside,
  isNothing,
  isTruthy,
  known,
  listOf,
  type Made,
  ofType,
  placesOf,
  plainValue,
  type Site,
  sole,
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
/** What Node brings is not walked, even where it is written in JavaScript: each of its functions leads to many others. */
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

const mathFunctions = new Set<unknown>(functionsOf(Math));
/** The types that functions of the language take, and those that they give. */
const taken = new Map<unknown, ValueType>([
  ...[...mathFunctions].map((each): [unknown, ValueType] => [each, 'Double']),
  ...([Number, Number.parseFloat, Number.parseInt] as const).map((each): [unknown, ValueType] => [each, 'Double']),
  [BigInt, 'Long'],
  [Array.isArray, 'List'],
  ...([Object.keys, Object.values, Object.entries] as const).map((each): [unknown, ValueType] => [each, 'Map']),
]);
/** Functions that only look at what they are given, the data included. */
const looking = new Set<unknown>([...functionsOf(console), Array.isArray, Boolean, Number.isInteger, Number.isFinite]);
const givesFirst = new Set<unknown>([Object.freeze, Object.seal, String, Promise.resolve, Promise.all]);

/** The result of a function of the language; undefined for any other function. */
export function builtIn(called: unknown, given: Given, site: Site): Value[] | undefined {
  const { scan } = site;
  const first = argument(given, 0);
  const type = taken.get(called);
  use(scan, first, type);
  if (type === 'Double' || type === 'Long') return [computed(called, given) ?? ofType(type)];
  if (looking.has(called)) return [ofType(called === Boolean || called === Array.isArray ? 'Boolean' : undefined)];
  if (givesFirst.has(called)) return first;
  const entries = () => first.flatMap((each) => entriesOf(each, site));
  switch (called) {
    case Object.defineProperty:
      scan.lose(first.filter(({ kind }) => kind !== 'closure' && kind !== 'known'));
      scan.lose(argument(given, 2));
      return first;
    case Array.from: {
      const items = first.flatMap((each) => itemsOf(each, site));
      const made = argument(given, 1).filter((each) => !isNothing(each));
      const mapped = made.flatMap((each) => scan.apply(each, [unknown], args(items, [unknown]), inside(site, 'map')));
      return made.length > 0 ? listOf(site, null, mapped) : listOf(site, placesOf(sole(first)) ?? null, items);
    }
    case Promise.race:
    case Promise.any:
      return first.flatMap((each) => itemsOf(each, site));
    case Object.assign:
      for (const target of first)
        copyInto(target, everyArgument({ ...given, places: given.places.slice(1) }), site, false);
      return first;
    case Object.keys:
      return listOf(
        site,
        null,
        entries().flatMap(({ name }) => name),
      );
    case Object.values:
      return listOf(
        site,
        null,
        entries().flatMap(({ values }) => values),
      );
    case Object.entries:
      return listOf(
        site,
        null,
        entries().flatMap(({ name, values }, index) => listOf(inside(site, index), [name, values])),
      );
    default:
      return undefined;
  }
}

function computed(called: unknown, { places, more }: Given): Value | undefined {
  const numbers = places.map((each) => plainValue(each)?.value);
  const isKnown = !more && called !== Math.random && numbers.every((each) => typeof each === 'number');
  return isKnown && mathFunctions.has(called) && typeof called === 'function' ? known(called(...numbers)) : undefined;
}

const sameText = ['toString', 'valueOf', 'trim', 'toLocaleString'];
/** Methods of texts that depend on nothing but the text and what they are given. */
const pure = new Set(
  'toLowerCase toUpperCase trim trimStart trimEnd slice substring replace replaceAll split padStart padEnd at charAt startsWith endsWith includes indexOf'.split(
    ' ',
  ),
);

/** The result of a method of a text; undefined for any other call. */
export function textMethod(value: Value, name: string, { places, more }: Given, site: Site): Value[] | undefined {
  if (!['known', 'text', 'field', 'read', 'unknown'].includes(value.kind) || more) return undefined;
  if (name === 'concat') return textsOf([[value], ...places]);
  const parameters = places.map(plainValue);
  const method: unknown = pure.has(name) ? Reflect.get(String.prototype, name) : undefined;
  if (
    value.kind === 'known' &&
    typeof value.value === 'string' &&
    typeof method === 'function' &&
    parameters.every(Boolean)
  ) {
    const result: unknown = method.apply(
      value.value,
      parameters.map((each) => each?.value),
    );
    return Array.isArray(result)
      ? listOf(
          site,
          result.map((each) => [known(each)]),
        )
      : [known(result)];
  }
  return sameText.includes(name) && places.length === 0 && !(value.kind === 'known' && typeof value.value === 'object')
    ? [value]
    : undefined;
}

/** The result of a method of a list, a set or a map; undefined when it is called on something else. */
export function listMethod(list: Made, name: string, given: Given, site: Site): Value[] | undefined {
  if (list.shape === 'object') return undefined;
  const ofMap = list.shape === 'map' ? mapMethod(list, name, given, site) : undefined;
  if (ofMap) return ofMap;
  const places = placesOf(list);
  const items = itemsOf(list, site);
  const numbers = given.places
    .map((each) => plainValue(each)?.value)
    .flatMap((each) => (typeof each === 'number' ? [each] : []));
  const isPlaced = !given.more && numbers.length === given.places.length;
  switch (name) {
    case 'includes':
    case 'has':
    case 'indexOf':
      return [asked(name, places, items, given, site)];
    case 'slice':
      return listOf(site, (isPlaced && places?.slice(...numbers)) || null, items);
    case 'at':
      return (isPlaced && places?.at(numbers[0] ?? 0)) || [...items, absent];
    case 'toReversed':
      return listOf(site, places?.toReversed() ?? null, items);
    case 'entries':
      return listOf(
        site,
        places?.map((each, index) => listOf(inside(site, index), [[known(index)], each])) ?? null,
        listOf(inside(site, 'pair'), [[unknown], items]),
      );
    case 'values':
    case 'keys':
      return name === 'keys' && list.shape === 'list' ? [unknown] : [list];
    case 'concat':
    case 'flat': {
      const all = [...(name === 'concat' ? [list] : items), ...everyArgument(given)];
      const lists = all.map((each) => placesOf(each));
      const isKnown = !given.more && lists.every((each) => each !== undefined);
      return listOf(
        site,
        isKnown ? lists.flatMap((each) => each ?? []) : null,
        all.flatMap((each) => flat(each, site)),
      );
    }
    case 'join':
      if (!places || given.more) return [ofType('String')];
      return textsOf(places.flatMap((each, index) => (index === 0 ? [each] : [given.places[0] ?? [known(',')], each])));
    default:
      return iterate(list, name, given, site) ?? changedBy(list, name, given, site);
  }
}

function mapMethod(map: Made, name: string, given: Given, site: Site): Value[] | undefined {
  const names = () => entriesOf(map, site).flatMap((each) => each.name);
  if (name === 'get') return argument(given, 0).flatMap((key) => underKey(map, key));
  if (name === 'entries') return listOf(site, null, itemsOf(map, site));
  return name === 'keys' || name === 'values'
    ? listOf(site, null, name === 'keys' ? names() : everythingIn(map))
    : undefined;
}

const flat = (value: Value, site: Site): Value[] =>
  value.kind === 'made' && value.shape === 'list' ? itemsOf(value, site) : [value];

function underKey({ members, others }: Made, key: Value): Value[] {
  if (key.kind !== 'known') return [...[...members.values()].flat(), ...others, absent];
  return [
    ...(members.get(key.value) ?? []),
    ...others,
    ...(members.has(key.value) && others.length === 0 ? [] : [absent]),
  ];
}

function asked(name: string, places: Value[][] | undefined, items: Value[], given: Given, { scan }: Site): Value {
  const [wanted, all] = [plainValue(argument(given, 0)), places?.map(plainValue)];
  use(scan, argument(given, 0), typeOf(items.filter(({ kind }) => kind !== 'field')));
  if (!wanted || !all?.every(Boolean) || given.places.length !== 1) return unknown;
  const index = all.findIndex((each) => each?.value === wanted.value);
  return known(name === 'indexOf' ? index : index >= 0);
}

const MAX_ONE_BY_ONE = 60;
const iterations = new Set(
  'find findLast filter some every findIndex findLastIndex forEach map flatMap reduce reduceRight sort toSorted'.split(
    ' ',
  ),
);

/** Calls a function for every entry: one by one where their places are known, else once for all. */
function iterate(list: Made, name: string, given: Given, site: Site): Value[] | undefined {
  if (!iterations.has(name)) return undefined;
  const { scan } = site;
  const items = list.shape === 'map' ? everythingIn(list) : itemsOf(list, site);
  const places = placesOf(list);
  const byOne = places && places.length <= MAX_ONE_BY_ONE && !/reduce|sort/i.test(name) ? places : undefined;
  const seconds = /sort/i.test(name)
    ? items
    : list.shape === 'map'
      ? entriesOf(list, site).flatMap((each) => each.name)
      : [unknown];
  const isReduce = name.startsWith('reduce');
  if (isReduce) scan.lose(argument(given, 1));
  const results = (byOne ?? [items]).map((values, index) => {
    const places = isReduce
      ? [[unknown], values, [unknown], [list]]
      : [values, byOne ? [known(index)] : seconds, [list]];
    const functions = argument(given, 0);
    return functions.flatMap((each, number) =>
      scan.apply(each, argument(given, 1), args(...places), inside(site, `${index}.${number}`)),
    );
  });
  const passing = (byOne ?? [items]).filter((_, index) => !results[index]?.every((each) => isTruthy(each) === false));
  switch (name) {
    case 'map':
      return listOf(site, byOne ? results : null, results.flat());
    case 'flatMap':
      return listOf(
        site,
        null,
        results.flat().flatMap((each) => flat(each, site)),
      );
    case 'filter':
      return listOf(
        site,
        byOne && results.flat().every((each) => isTruthy(each) !== undefined) ? passing : null,
        passing.flat(),
      );
    case 'find':
    case 'findLast':
      return [...passing.flat(), absent];
    case 'toSorted':
      return listOf(site, null, items);
    case 'sort':
      return changedBy(list, name, args(), site);
    default:
      if (results.flat().some((each) => isReduce && carriesData(each))) scan.lose(results.flat());
      return [unknown];
  }
}

const changing = new Set(
  'push unshift add splice fill set append sort reverse shift pop copyWithin delete clear'.split(' '),
);

function changedBy(list: Made, name: string, given: Given, site: Site): Value[] | undefined {
  if (!changing.has(name)) return undefined;
  const items = itemsOf(list, site);
  scramble(list, name === 'splice' ? given.places.slice(2).flat() : everyArgument(given), site);
  if (name === 'pop' || name === 'shift') return [...items, absent];
  return ['sort', 'reverse', 'fill', 'add', 'set'].includes(name) ? [list] : [unknown];
}
