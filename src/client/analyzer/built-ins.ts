import type { ValueType } from '../leaves/leaf.ts';
import { copyInto, member, restOf } from './evaluate.ts';
import {
  absent,
  add,
  bagOf,
  carriesData,
  entriesOf,
  entryAt,
  everythingIn,
  inside,
  isNothing,
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

/** A call of a function of the language. `first`: what is given first. */
type Call = { self: Value; given: Made; first: Value[]; site: Site };
/** What such a call gives; undefined where this is not known: what is given to it is lost. */
type BuiltIn = (call: Call, name: string) => Value[] | undefined;

const builtIns = new Map<unknown, { name: string; work: BuiltIn }>();
function define(owner: object, names: string, work: BuiltIn): void {
  for (const name of names.split(' ')) builtIns.set(Reflect.get(owner, name), { name, work });
}

/** Methods of texts and lists that depend on nothing but these and what they are given. */
const pure = new Set<unknown>();
const pureNames =
  'toLowerCase toUpperCase toString trim trimStart trimEnd substring replace replaceAll split charAt startsWith endsWith includes indexOf concat at slice join toReversed toSorted';
for (const name of pureNames.split(' '))
  for (const { prototype } of [String, Array, Number]) pure.add(Reflect.get(prototype, name));

export function builtIn(code: object, self: Value, given: Made, site: Site): Value[] | undefined {
  const parameters = pure.has(code) ? plainValue([given], site.scan) : undefined;
  const value = parameters && plainValue([self], site.scan)?.value;
  if (value != null && typeof code === 'function' && Array.isArray(parameters?.value)) {
    const result: unknown = Reflect.apply(code, value, parameters.value);
    return [Array.isArray(result) ? knownList(result, site) : known(result)];
  }
  const found = builtIns.get(code);
  return found?.work({ self, given, first: entryAt(given, 0), site }, found.name);
}

const looks =
  (takes: ValueType | undefined, gives: ValueType | undefined): BuiltIn =>
  ({ first, site }) => {
    use(site.scan, first, takes);
    return [ofType(gives)];
  };
const same: BuiltIn = ({ first }) => first;
for (const each of functionsOf(Math)) builtIns.set(each, { name: '', work: looks('Double', 'Double') });
for (const each of functionsOf(console)) builtIns.set(each, { name: '', work: looks(undefined, undefined) });
define(globalThis, 'Number parseFloat parseInt', looks('Double', 'Double'));
define(globalThis, 'BigInt', looks('Long', 'Long'));
define(globalThis, 'Boolean', looks(undefined, 'Boolean'));
define(Number, 'isInteger isFinite', looks(undefined, undefined));
define(Object, 'hasOwn', looks(undefined, 'Boolean'));
define(Object.prototype, 'hasOwnProperty', looks(undefined, 'Boolean'));
define(Array, 'isArray', looks('List', 'Boolean'));
define(globalThis, 'String', same);
define(Object, 'freeze seal', same);
define(Promise, 'resolve all', same);
define(Object, 'defineProperty', ({ first, given, site }) => {
  site.scan.lose([...first.filter(({ kind }) => kind !== 'closure'), ...entryAt(given, 2)]);
  return first;
});
define(Object, 'assign', ({ first, given, site }) => {
  for (const target of first) copyInto(target, everythingIn(restOf([given], 1, site)), site, false);
  return first;
});
define(Object, 'keys values entries', ({ first, site }, kind) => {
  use(site.scan, first, 'Map');
  const entries = first.flatMap((each) => entriesOf(each, site));
  const parts = entries.map(({ name, values }, index) => {
    if (kind !== 'entries') return kind === 'keys' ? name : values;
    return [listAt(inside(site, index), [name, values])];
  });
  return bagOf(parts.flat(), site);
});
define(Function.prototype, 'call', ({ self, given, first, site }) =>
  site.scan.apply(self, first, restOf([given], 1, site), site),
);
define(Function.prototype, 'apply', ({ self, given, first, site }) =>
  site.scan.apply(self, first, restOf(entryAt(given, 1), 0, site), site),
);
define(Function.prototype, 'bind', ({ self, given, first, site }) => {
  if (self.kind === 'known' || given.members.size !== 1 || given.others.length > 0) return undefined;
  // The `this` that a function is bound to is not followed.
  if (self.kind === 'closure') site.scan.lose(first.filter((each) => carriesData(each)));
  return [self];
});
define(Promise.prototype, 'then catch finally', ({ self, given, first, site }, name) => {
  const values = listAt(inside(site, 'value'), [[self]]);
  const results = everythingIn(given).flatMap((each, index) =>
    site.scan.apply(each, [unknown], values, inside(site, index)),
  );
  return name !== 'then' || first.some(isNothing) ? [self, ...results] : results;
});

// A text that is trimmed counts as the same.
define(String.prototype, 'toString valueOf trim', ({ self, given, site }) =>
  self.kind === 'part' && placesOf([given], site.scan)?.length === 0 ? [self] : undefined,
);
// Compilers write templates so.
define(String.prototype, 'concat', ({ self, given, site }) => {
  const places = placesOf([given], site.scan);
  return places && typeOf([self]) === 'String' ? textsOf([[self], ...places]) : undefined;
});

define(Map.prototype, 'get has keys values entries', ({ self, first, site }, name) => {
  const pairs = placesOf([self], site.scan)?.flat();
  if (!pairs || name === 'entries' || name === 'has') return pairs && [name === 'has' ? unknown : self];
  const keyOf = (pair: Value) => plainValue(member(pair, '0', site), site.scan);
  const asked = name === 'get' ? plainValue(first, site.scan) : undefined;
  // NaN is a key like any other.
  const found = asked ? pairs.filter((pair) => [keyOf(pair)?.value].includes(asked.value)) : pairs;
  const values = found.flatMap((pair) => member(pair, name === 'keys' ? '0' : '1', site));
  if (name !== 'get') return bagOf(values, site);
  return asked && values.length > 0 ? values : [...values, absent];
});

const MAX_ONE_BY_ONE = 60;
/** The methods of lists that call a function for every entry. */
const iterations =
  'find findLast filter some every findIndex findLastIndex forEach map flatMap reduce reduceRight sort toSorted';
const changing = 'push unshift add set sort reverse shift pop'.split(' ');
const givingOne = 'find findLast at shift pop'.split(' ');
const givingEntries = 'filter slice values toReversed toSorted'.split(' ');
const givingTheList = 'sort reverse add'.split(' ');
define(
  Array.prototype,
  `${iterations} push unshift shift pop reverse at slice values toReversed includes indexOf keys flat concat join`,
  ofList,
);
define(Set.prototype, 'add has values forEach', ofList);
define(Map.prototype, 'forEach', ofList);

function ofList({ self, given, first, site }: Call, name: string): Value[] | undefined {
  const { scan } = site;
  const list = opened(self, scan);
  if (!list || list.shape === 'object') return undefined;
  const { results, passing, isOneByOne } = iterate(list, name, given, site);
  if (changing.includes(name)) {
    // Something is put into the list, or its entries change their places.
    const put = name === 'sort' ? [] : everythingIn(given);
    add(scan, list.others, [...everythingIn(list), ...put]);
    if (list.shared) scan.lose(put);
  }
  if (givingTheList.includes(name)) return [list];
  if (givingOne.includes(name)) return [...passing, absent];
  if (givingEntries.includes(name)) return bagOf(passing, site);
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
    case 'join': {
      const between = given.members.size > 0 ? first : [known(',')];
      return places ? textsOf(places.flatMap((each, index) => (index > 0 ? [between, each] : [each]))) : [unknown];
    }
    default:
      if (name.startsWith('reduce')) scan.lose([...entryAt(given, 1), ...results.flat()]);
      return [unknown];
  }
}

/** Calls a function for every entry: one by one where their places are known, else once for all. */
function iterate(list: Made, name: string, given: Made, site: Site) {
  const { scan } = site;
  const places = /reduce|sort/i.test(name) ? undefined : placesOf([list], scan);
  const isOneByOne = places !== undefined && places.length <= MAX_ONE_BY_ONE;
  const inTurn = isOneByOne ? places : [everythingIn(list)];
  if (!iterations.split(' ').includes(name)) return { results: [], passing: inTurn.flat(), isOneByOne };
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
