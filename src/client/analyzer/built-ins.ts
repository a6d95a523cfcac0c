import type { CallExpression } from 'acorn';
import type { ValueType } from '../leaves/leaf.ts';
import type { Environment } from './environment.ts';
import type { Evaluator } from './evaluator.ts';
import { propertyNames } from './members.ts';
import { type Thing, textsOf } from './things.ts';

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
  if (sameText.has(name)) return evaluator.evaluate(callee.object, environment).filter(isPlain);
  if (name === 'concat') return textsOf([evaluator.evaluate(callee.object, environment), argument()]);
  if (name !== 'join') return undefined;
  const [list] = evaluator.evaluate(callee.object, environment);
  if (list?.kind !== 'list') return undefined;
  const separators: Thing[] = first ? argument() : [{ kind: 'known', value: ',' }];
  return textsOf(list.items.flatMap((item, index) => (index === 0 ? [[item]] : [separators, [item]])));
}

/** What the entries of the list are that an iterating call hands to its function; undefined when it is no such call. */
export function iteratedBy(
  { callee }: CallExpression,
  environment: Environment,
  evaluator: Evaluator,
): Thing[] | undefined {
  if (callee.type !== 'MemberExpression' || callee.object.type === 'Super') return undefined;
  const iterates = propertyNames(callee, environment, evaluator).some((name) => iterations.has(name));
  return iterates ? evaluator.evaluate(callee.object, environment).flatMap(itemsOf) : undefined;
}

/** The entries of a list, as far as they are known. */
export function itemsOf(thing: Thing): Thing[] {
  if (thing.kind === 'list') return thing.items;
  if (thing.kind === 'known' && Array.isArray(thing.value))
    return thing.value.map((value) => ({ kind: 'known', value }));
  // The entries of a configured list go by the name of its field.
  return thing.kind === 'field' ? [thing] : [{ kind: 'unknown', type: undefined }];
}

const isPlain = (thing: Thing): boolean => thing.kind !== 'service' && thing.kind !== 'leaf';
