import type { Thing } from '../interpreter.ts';
import { textsOf, unknown } from '../values/things.ts';
import type { MethodCall } from './list-methods.ts';

/** Methods that give the text they are called on, more or less. */
const sameText = new Set('toString valueOf trim toLocaleString'.split(' '));
/** Methods of texts that depend on nothing but the text and what they are given. */
const pure = new Set(
  'toLowerCase toUpperCase trim trimStart trimEnd slice substring replace replaceAll split padStart padEnd repeat at charAt startsWith endsWith includes indexOf lastIndexOf'.split(
    ' ',
  ),
);

/** The result of a method of a text; undefined for any other call. */
export function textMethod({ name, node, objects, environment, evaluator }: MethodCall): Thing[] | undefined {
  const given = () => node.arguments.map((each) => evaluator.evaluate(each, environment));
  if (name === 'concat') return textsOf([objects(), ...given()]);
  if (!pure.has(name) && !sameText.has(name)) return undefined;
  return objects().map((thing) => applied(name, thing, given()));
}

function applied(name: string, thing: Thing, given: readonly Thing[][]): Thing {
  const parameters = given.map(([only, ...others]) =>
    only?.kind === 'known' && isPlain(only.value) && others.length === 0 ? only.value : undefined,
  );
  if (thing.kind === 'known' && typeof thing.value === 'string' && pure.has(name) && !parameters.includes(undefined)) {
    const method: unknown = Reflect.get(String.prototype, name);
    if (typeof method === 'function')
      return { kind: 'known', value: safely(() => method.apply(thing.value, parameters)) };
  }
  return sameText.has(name) && given.length === 0 && thing.kind !== 'service' && thing.kind !== 'leaf'
    ? thing
    : unknown;
}

const isPlain = (value: unknown): boolean =>
  typeof value === 'string' || typeof value === 'number' || value instanceof RegExp;

function safely(work: () => unknown): unknown {
  try {
    return work();
  } catch {
    return null; // such as a repeat without an end
  }
}
