import type { CallExpression } from 'acorn';
import type { Environment, Evaluator, Thing } from '../interpreter.ts';
import { hasPlaces, itemsOf } from '../values/lists.ts';
import { absent, known, knownNumbers, listOf, listOfPlaces, textsOf, unknown } from '../values/things.ts';

/** A call of a method of the language, `name`, on `objects`. */
export type MethodCall = {
  name: string;
  node: CallExpression;
  objects: () => Thing[];
  environment: Environment;
  evaluator: Evaluator;
};

const oneItem = new Set('pop shift'.split(' '));
const askedFor = new Set('includes has indexOf lastIndexOf'.split(' '));

function isKnownList(thing: Thing): boolean {
  const { value } = thing.kind === 'known' ? thing : { value: undefined };
  return Array.isArray(value) || value instanceof Set || value instanceof Map;
}

const isList = (thing: Thing): boolean => thing.kind === 'list' || isKnownList(thing);

/** The result of a method of a list, set or map; undefined when it is called on something else. */
export function listMethod(call: MethodCall): Thing[] | undefined {
  const { name, node, environment, evaluator } = call;
  const objects = call.objects();
  if (objects.length === 0 || !objects.every(isList)) return undefined;
  const [first] = node.arguments;
  const given = () => node.arguments.map((each) => evaluator.evaluate(each, environment));
  const argument = () => (first ? evaluator.evaluate(first, environment) : []);
  const items = () => objects.flatMap(itemsOf);
  const maps = objects.flatMap((thing) => (thing.kind === 'known' && thing.value instanceof Map ? [thing.value] : []));
  if (maps.length > 0) return maps.length < objects.length ? undefined : mapsMethod(name, maps, argument());
  if (oneItem.has(name)) return [...items(), absent];
  if (askedFor.has(name))
    return objects.flatMap((list) => (node.arguments.length === 1 ? told(name, list, argument()) : [unknown]));
  switch (name) {
    case 'filter':
      return objects.map((list) => listOf(passing(list, argument(), evaluator).map(({ item }) => item)));
    case 'find':
    case 'findLast':
      return objects.flatMap((list) => foundIn(name, passing(list, argument(), evaluator)));
    case 'slice':
      return objects.map((list) => sliced(list, given()));
    case 'sort':
    case 'toSorted':
      return objects.map((list) => sorted(list, node.arguments.length === 0));
    case 'reverse':
    case 'toReversed':
      return objects.map((list) => (hasPlaces(list) ? inOrder(itemsOf(list).toReversed()) : list));
    case 'values':
    case 'concat':
      return [joinedLists(objects, given())];
    case 'at':
      return objects.flatMap((list) => entryAt(list, argument()));
    case 'flat':
      return [listOf(items().flatMap(entries))];
    case 'entries':
      return [listOf(items().map((item) => listOfPlaces([[unknown], [item]])))];
    case 'map':
    case 'flatMap':
      return [listOf(items().flatMap((item) => mapped(item, argument(), call)))];
    case 'join':
      return objects.flatMap((list) => textOf(list, first ? argument() : [{ kind: 'known', value: ',' }]));
    default:
      return undefined;
  }
}

function mapsMethod(
  name: string,
  maps: readonly ReadonlyMap<unknown, unknown>[],
  keys: readonly Thing[],
): Thing[] | undefined {
  const given = maps.map((map) => mapMethod(name, map, keys));
  return given.includes(undefined) ? undefined : given.flatMap((each) => each ?? []);
}

function mapMethod(name: string, map: ReadonlyMap<unknown, unknown>, keys: readonly Thing[]): Thing[] | undefined {
  const list = (values: Iterable<unknown>): Thing[] => [listOf(Array.from(values, known))];
  if (name === 'keys') return list(map.keys());
  if (name === 'values') return list(map.values());
  if (name === 'entries') return list(map.entries());
  if (name !== 'get') return undefined;
  return keys.flatMap((key): Thing[] => {
    if (key.kind !== 'known') return [...Array.from(map.values(), known), absent];
    return [map.has(key.value) ? known(map.get(key.value)) : absent];
  });
}

const entries = (thing: Thing): Thing[] => (isList(thing) ? itemsOf(thing) : [thing]);

const inOrder = (items: Thing[]): Thing => ({ kind: 'list', items, closed: true });

/** One list after the other; the entries keep their places where those of each are known. */
function joinedLists(objects: readonly Thing[], added: readonly Thing[][]): Thing {
  const all = [objects, ...added];
  const lists = all.flatMap(([only, ...others]) => (only && others.length === 0 && hasPlaces(only) ? [only] : []));
  if (lists.length === all.length) return inOrder(lists.flatMap(itemsOf));
  return listOf([...objects.flatMap(itemsOf), ...added.flat().flatMap(entries)]);
}

type Passing = { item: Thing; isSure: boolean };

/** The entries that a test lets through, or may: only where it comes to a plain falsy value it does not. */
function passing(list: Thing, tests: readonly Thing[], evaluator: Evaluator): Passing[] {
  const index = (place: number) => (hasPlaces(list) ? known(place) : unknown);
  return itemsOf(list).flatMap((item, place) => {
    const given = [() => [item], () => [index(place)], () => [list]];
    const verdicts = tests.flatMap((test) => evaluator.call(test, { self: unknown, given }));
    const isPlain = verdicts.length > 0 && verdicts.every(({ kind }) => kind === 'known');
    if (!isPlain) return [{ item, isSure: false }];
    const isLetThrough = verdicts.map((verdict) => verdict.kind === 'known' && Boolean(verdict.value));
    return isLetThrough.includes(true) ? [{ item, isSure: !isLetThrough.includes(false) }] : [];
  });
}

/** The first entry that passes, or one before it that may; nothing where none is sure to. */
function foundIn(name: string, all: readonly Passing[]): Thing[] {
  const ordered = name === 'findLast' ? all.toReversed() : all;
  const first = ordered.findIndex(({ isSure }) => isSure);
  if (first < 0) return [...ordered.map(({ item }) => item), absent];
  return ordered.slice(0, first + 1).map(({ item }) => item);
}

/** A list's answer for one plain value: whether it has it, or where. */
function told(name: string, list: Thing, [asked, ...others]: readonly Thing[]): Thing[] {
  const items = itemsOf(list);
  const values = items.map((item) => (item.kind === 'known' ? item.value : list));
  if (!hasPlaces(list) || values.includes(list) || asked?.kind !== 'known' || others.length > 0) return [unknown];
  if (name === 'indexOf') return [known(values.indexOf(asked.value))];
  if (name === 'lastIndexOf') return [known(values.lastIndexOf(asked.value))];
  return [known(values.includes(asked.value))];
}

/** Texts in their order, where no function says which. */
function sorted(list: Thing, isPlain: boolean): Thing {
  const items = itemsOf(list);
  const texts = items.flatMap((item) => (item.kind === 'known' && typeof item.value === 'string' ? [item.value] : []));
  return isPlain && hasPlaces(list) && texts.length === items.length
    ? inOrder(texts.toSorted().map(known))
    : listOf(items);
}

function sliced(list: Thing, given: readonly Thing[][]): Thing {
  const places = knownNumbers(given);
  if (!hasPlaces(list)) return listOf([unknown]);
  return places.includes(null) ? listOf(itemsOf(list)) : inOrder(itemsOf(list).slice(...places.map(Number)));
}

function entryAt(list: Thing, places: readonly Thing[]): Thing[] {
  const items = itemsOf(list);
  return places.flatMap((place): Thing[] => {
    const index = place.kind === 'known' && typeof place.value === 'number' ? place.value : undefined;
    return index === undefined || !hasPlaces(list) ? [...items, absent] : [items.at(index) ?? absent];
  });
}

/** The result of a function for one entry. */
function mapped(item: Thing, functions: readonly Thing[], { name, evaluator }: MethodCall): Thing[] {
  const given = [() => [item], () => [unknown], () => [unknown]];
  const made = functions.flatMap((each) => evaluator.call(each, { self: unknown, given }));
  if (made.length === 0) return [unknown];
  return name === 'flatMap' ? made.flatMap(entries) : made;
}

function textOf(list: Thing, separators: Thing[]): Thing[] {
  if (!hasPlaces(list)) return [{ kind: 'unknown', type: 'String' }];
  return textsOf(itemsOf(list).flatMap((item, index) => (index === 0 ? [[item]] : [separators, [item]])));
}
