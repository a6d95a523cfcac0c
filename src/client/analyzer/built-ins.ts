import type { CallExpression } from 'acorn';
import type { ValueType } from '../leaves/leaf.ts';
import type { Environment } from './environment.ts';
import type { Evaluator } from './evaluator.ts';
import { itemsOf, namesIn } from './lists.ts';
import { member, propertyNames } from './members.ts';
import { type Thing, textsOf, unknown } from './things.ts';

/** Methods that give the text they are called on, more or less. */
const sameText = new Set(['toString', 'valueOf', 'trim', 'toLocaleString']);
const typedFunctions: ReadonlyMap<unknown, ValueType> = new Map<unknown, ValueType>([
  [Number, 'Double'],
  [Number.parseFloat, 'Double'],
  [Number.parseInt, 'Double'],
  [BigInt, 'Long'],
  [Boolean, 'Boolean'],
]);
const iterations = new Set(['forEach', 'map', 'flatMap', 'filter', 'find', 'findIndex', 'findLast', 'some', 'every']);

/** What a call of a function that comes with the language gives; undefined for any other call. */
export function builtInCall(node: CallExpression, environment: Environment, evaluator: Evaluator): Thing[] | undefined {
  const { callee } = node;
  const [first] = node.arguments;
  const argument = () => (first ? evaluator.evaluate(first, environment) : []);
  if (callee.type !== 'MemberExpression') {
    const [called] = callee.type === 'Identifier' ? evaluator.evaluate(callee, environment) : [];
    if (called?.kind !== 'known') return undefined;
    if (called.value === String) return argument();
    const type = typedFunctions.get(called.value);
    return type && [{ kind: 'unknown', type }];
  }
  const [name = ''] = propertyNames(callee, environment, evaluator);
  if (callee.object.type === 'Super') return undefined;
  const objects = () => evaluator.evaluate(callee.object, environment);
  const isObject = objects().some((thing) => thing.kind === 'known' && thing.value === Object);
  if (isObject && givesFirst.has(name)) return argument();
  if (isObject && name === 'keys') return argument().map(namesIn);
  if (isObject && (name === 'values' || name === 'entries'))
    return argument().map((thing) => membersIn(thing, name === 'entries', evaluator));
  if (sameItems.has(name))
    return objects().flatMap((thing) => (thing.kind === 'list' || isKnownList(thing) ? [thing] : []));
  if (name === 'flat') return objects().map((thing) => ({ kind: 'list', items: itemsOf(thing).flatMap(flattened) }));
  if (name === 'bind') return objects().map((target) => bound(target, node, { environment, evaluator }));
  if (sameText.has(name)) return evaluator.evaluate(callee.object, environment).filter(isPlain);
  if (name === 'concat' && objects().some(({ kind }) => kind === 'list'))
    return [{ kind: 'list', items: [...objects(), ...argument()].flatMap(itemsOf) }];
  if (name === 'concat') return textsOf([evaluator.evaluate(callee.object, environment), argument()]);
  if (name !== 'join') return undefined;
  const [list] = objects();
  if (list === undefined || !(list.kind === 'list' || isKnownList(list))) return undefined;
  const separators: Thing[] = first ? argument() : [{ kind: 'known', value: ',' }];
  return textsOf(itemsOf(list).flatMap((item, index) => (index === 0 ? [[item]] : [separators, [item]])));
}

/** What an iterating call hands to its function, parameter by parameter; undefined when it is no such call. */
export function iteratedBy(
  { callee }: CallExpression,
  environment: Environment,
  evaluator: Evaluator,
): Thing[][] | undefined {
  if (callee.type !== 'MemberExpression' || callee.object.type === 'Super') return undefined;
  const names = propertyNames(callee, environment, evaluator);
  const items = () => evaluator.evaluate(callee.object, environment).flatMap(itemsOf);
  if (names.some((name) => name === 'reduce' || name === 'reduceRight')) return [[unknown], items()];
  return names.some((name) => iterations.has(name)) ? [items()] : undefined;
}

const givesFirst = new Set(['freeze', 'seal', 'defineProperty', 'assign']);
const sameItems = new Set(['filter', 'slice', 'reverse', 'sort', 'toSorted', 'toReversed', 'values']);

const isKnownList = (thing: Thing): boolean =>
  thing.kind === 'known' && (Array.isArray(thing.value) || thing.value instanceof Set || thing.value instanceof Map);

const flattened = (thing: Thing): Thing[] => (thing.kind === 'list' || isKnownList(thing) ? itemsOf(thing) : [thing]);

/** `Object.values` or `Object.entries` of a thing. */
function membersIn(thing: Thing, withNames: boolean, evaluator: Evaluator): Thing {
  const items = itemsOf(namesIn(thing)).flatMap((name): Thing[] => {
    const values = name.kind === 'known' ? member(thing, String(name.value), evaluator) : [unknown];
    return withNames ? values.map((value) => ({ kind: 'list', items: [name, value] })) : values;
  });
  return { kind: 'list', items };
}

type Around = { environment: Environment; evaluator: Evaluator };

/** `function.bind(self, first…)`, and `service.get.bind(service)`. */
function bound(
  target: Thing,
  { arguments: [self, ...given] }: CallExpression,
  { environment, evaluator }: Around,
): Thing {
  if (target.kind === 'method') return target;
  const [bindTo = unknown] = self ? evaluator.evaluate(self, environment) : [];
  const bindings = given.map((argument) => () => evaluator.evaluate(argument, environment));
  return { kind: 'bound', target, self: bindTo, given: bindings };
}

const isPlain = (thing: Thing): boolean => thing.kind !== 'service' && thing.kind !== 'leaf';
