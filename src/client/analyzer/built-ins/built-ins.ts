import type { CallExpression } from 'acorn';
import type { ValueType } from '../../leaves/leaf.ts';
import type { Environment, Evaluator, Thing } from '../interpreter.ts';
import { membersOf, propertyNames } from '../members/members.ts';
import { itemsOf, namesIn } from '../values/lists.ts';
import { known, knownNumbers, listOf, listOfPlaces, unknown } from '../values/things.ts';
import { listMethod } from './list-methods.ts';
import { promiseMakers, promiseMethod } from './promises.ts';
import { textMethod } from './text-methods.ts';

const typedFunctions: ReadonlyMap<unknown, ValueType> = new Map<unknown, ValueType>([
  [Number, 'Double'],
  [Number.parseFloat, 'Double'],
  [Number.parseInt, 'Double'],
  [BigInt, 'Long'],
  [Boolean, 'Boolean'],
]);
/** Functions that give back what they are given first. */
export const givesFirst = new Set<unknown>([Object.freeze, Object.seal, Object.defineProperty, String]);

/** Functions of numbers that come to the same whenever they are called. */
const mathFunctions = new Set<unknown>(
  Object.entries(Object.getOwnPropertyDescriptors(Math)).flatMap(([name, { value }]) =>
    name === 'random' ? [] : [value],
  ),
);

function computed(value: unknown, given: readonly Thing[][]): Thing {
  const numbers = knownNumbers(given);
  if (typeof value !== 'function' || numbers.includes(null)) return { kind: 'unknown', type: 'Double' };
  return known(value(...numbers));
}

type CallPlace = { environment: Environment; evaluator: Evaluator };

/** The result of a call of a function that comes with the language; undefined for any other call. */
export function builtInCall(node: CallExpression, environment: Environment, evaluator: Evaluator): Thing[] | undefined {
  const { callee } = node;
  if (callee.type === 'Super' || (callee.type === 'MemberExpression' && callee.object.type === 'Super'))
    return undefined;
  const place = { environment, evaluator };
  const [called, ...others] = evaluator.evaluate(callee, environment);
  if (others.some(({ kind }) => kind === 'known')) return undefined;
  const given = called?.kind === 'known' ? knownFunction(called.value, node, place) : undefined;
  if (given || callee.type !== 'MemberExpression') return given;
  const [name = '', ...otherNames] = propertyNames(callee, environment, evaluator);
  if (otherNames.length > 0) return undefined;
  const objects = () => evaluator.evaluate(callee.object, environment);
  if (name === 'bind') return objects().map((target) => bound(target, node, place));
  const call = { name, node, objects, ...place };
  return listMethod(call) ?? textMethod(call) ?? promiseMethod(call);
}

/** The result of a function of the language, whatever name it is called by. */
function knownFunction(
  value: unknown,
  node: CallExpression,
  { environment, evaluator }: CallPlace,
): Thing[] | undefined {
  const [first, second] = node.arguments;
  const argument = () => (first ? evaluator.evaluate(first, environment) : []);
  if (value === Array.from) return second ? [listOf([unknown])] : argument();
  if (givesFirst.has(value) || promiseMakers.has(value)) return argument();
  if (value === Promise.race || value === Promise.any) return argument().flatMap(itemsOf);
  if (value === Object.assign) {
    const parts = node.arguments.flatMap((each) => evaluator.evaluate(each, environment));
    return parts.some(isObject) && parts.every((part) => isObject(part) || part === unknown)
      ? [{ kind: 'merged', parts }]
      : parts;
  }
  if (value === Object.keys) return argument().map((thing) => namesIn(thing, evaluator));
  if (value === Object.values)
    return argument().map((thing) => listOf(membersOf(thing, evaluator).map((member) => member.value)));
  if (value === Object.entries)
    return argument().map((thing) =>
      listOf(membersOf(thing, evaluator).map((each) => listOfPlaces([[each.name], [each.value]]))),
    );
  if (mathFunctions.has(value))
    return [
      computed(
        value,
        node.arguments.map((each) => evaluator.evaluate(each, environment)),
      ),
    ];
  const type = typedFunctions.get(value);
  return type && [{ kind: 'unknown', type }];
}

function isObject(thing: Thing): boolean {
  if (thing.kind === 'known') return typeof thing.value === 'object' && thing.value !== null;
  return thing.kind === 'object' || thing.kind === 'merged';
}

const iterations = new Set('forEach map flatMap filter find findIndex findLast findLastIndex some every'.split(' '));

/** The arguments of the function that an iterating call calls, parameter by parameter; undefined for any other call. */
export function iteratedBy(
  node: CallExpression,
  environment: Environment,
  evaluator: Evaluator,
): Thing[][] | undefined {
  const { callee } = node;
  if (callee.type !== 'MemberExpression' || callee.object.type === 'Super') return undefined;
  const [first] = node.arguments;
  const [called] = evaluator.evaluate(callee, environment);
  if (called?.kind === 'known' && called.value === Array.from && first)
    return [evaluator.evaluate(first, environment).flatMap(itemsOf), [unknown]];
  const names = propertyNames(callee, environment, evaluator);
  const objects = evaluator.evaluate(callee.object, environment);
  const items = objects.flatMap(itemsOf);
  if (names.includes('then')) return [objects];
  if (names.some((name) => name === 'reduce' || name === 'reduceRight')) return [[unknown], items, [unknown], objects];
  if (!names.some((name) => iterations.has(name))) return undefined;
  const [object] = objects;
  if (object?.kind !== 'known' || !(object.value instanceof Map)) return [items, [unknown], objects];
  return [Array.from(object.value.values(), known), Array.from(object.value.keys(), known), objects];
}

/** Functions of the language whose result holds what they are given, and that keep it nowhere else. */
const passingOn = new Set<unknown>([
  ...[Object.freeze, Object.seal, Object.values, Object.entries, Array.from],
  ...[...promiseMakers, Promise.race, Promise.any],
]);

/** Whether what a call is given comes out of it again, where it is seen. */
export function passesOn({ callee }: CallExpression, environment: Environment, { evaluate }: Evaluator): boolean {
  if (callee.type === 'Super' || (callee.type === 'MemberExpression' && callee.object.type === 'Super')) return false;
  return evaluate(callee, environment).every((thing) => thing.kind === 'known' && passingOn.has(thing.value));
}

/** Methods that only look at what a function given to them returns. */
const onlyLooking = new Set('forEach filter find findIndex findLast findLastIndex some every finally'.split(' '));

/** Whether what the functions given to a call return may come out of it in a way that is not seen. */
export function losesReturned(node: CallExpression, environment: Environment, evaluator: Evaluator): boolean {
  const { callee } = node;
  if (callee.type !== 'MemberExpression' || callee.object.type === 'Super') return true;
  const names = propertyNames(callee, environment, evaluator);
  if (names.length === 0) return true;
  const isSeen = names.every((name) => ['map', 'flatMap', 'then', 'catch'].includes(name));
  if (isSeen) return builtInCall(node, environment, evaluator) === undefined;
  return !names.every((name) => onlyLooking.has(name));
}

/** Whether a method takes the entries of a list one by one, so that what it does to them is seen. */
export const isIteration = (name: string): boolean => iterations.has(name) || name.startsWith('reduce');

/** `function.bind(self, first…)`, and `service.get.bind(service)`. */
function bound(
  target: Thing,
  { arguments: [self, ...given] }: CallExpression,
  { environment, evaluator }: CallPlace,
): Thing {
  if (target.kind === 'method' && given.length === 0) return target;
  const [bindTo = unknown] = self ? evaluator.evaluate(self, environment) : [];
  const bindings = given.map((argument) => () => evaluator.evaluate(argument, environment));
  return { kind: 'bound', target, self: bindTo, given: bindings };
}
