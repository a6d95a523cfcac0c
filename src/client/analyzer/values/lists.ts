import type { Expression, ObjectExpression } from 'acorn';
import type { Environment, Evaluator, Thing } from '../interpreter.ts';

import { listOf, unknown } from './things.ts';

/** The entries of a list, as far as they are known. */
export function itemsOf(thing: Thing): Thing[] {
  if (thing.kind === 'list') return thing.items;
  if (thing.kind !== 'known') return [unknown];
  const { value } = thing;
  if (Array.isArray(value) || value instanceof Set)
    return Array.from(value, (each) => ({ kind: 'known', value: each }));
  return value instanceof Map ? Array.from(value, (each) => ({ kind: 'known', value: each })) : [unknown];
}

/** Whether the entries of a list are all known, each in its place. */
export function hasPlaces(thing: Thing): boolean {
  if (thing.kind === 'list') return thing.closed === true;
  return thing.kind === 'known' && (Array.isArray(thing.value) || thing.value instanceof Set);
}

/** The names of an object's members, as a list. */
export function namesIn(thing: Thing, evaluator: Evaluator): Thing {
  const { value } = thing.kind === 'known' ? thing : { value: undefined };
  if (typeof value === 'object' && value !== null)
    return listOf(Object.keys(value).map((name) => ({ kind: 'known', value: name })));
  if (thing.kind === 'merged') return listOf(thing.parts.flatMap((part) => itemsOf(namesIn(part, evaluator))));
  return listOf(thing.kind === 'object' ? namesWritten(thing.node, thing.environment, evaluator) : [unknown]);
}

function namesWritten({ properties }: ObjectExpression, environment: Environment, evaluator: Evaluator): Thing[] {
  return properties.flatMap((property): Thing[] => {
    if (property.type === 'SpreadElement')
      return evaluator.evaluate(property.argument, environment).flatMap((thing) => itemsOf(namesIn(thing, evaluator)));
    if (property.computed) return evaluator.evaluate(property.key, environment);
    const name = writtenName(property.key);
    return [name === undefined ? unknown : { kind: 'known', value: name }];
  });
}

/** The name of a member as it stands in the code. */
export function writtenName(key: Expression): string | undefined {
  if (key.type === 'Identifier') return key.name;
  return key.type === 'Literal' ? String(key.value) : undefined;
}
