import { functionsIn } from '../environment/functions.ts';
import type { Thing } from '../interpreter.ts';
import { unknown } from '../values/things.ts';
import type { MethodCall } from './list-methods.ts';

/** Functions of the language that make a promise of what they are given first. A promise counts as what it comes to. */
export const promiseMakers = new Set<unknown>([Promise.resolve, Promise.all]);

const isOwnObject = ({ kind }: Thing): boolean => kind === 'object' || kind === 'merged' || kind === 'closure';

/** The result of a promise's `then`, `catch` or `finally`; undefined for any other call. */
export function promiseMethod({ name, node, objects, environment, evaluator }: MethodCall): Thing[] | undefined {
  if (!['then', 'catch', 'finally'].includes(name)) return undefined;
  const before = objects();
  if (before.some(isOwnObject)) return undefined;
  if (name === 'finally') return before;
  const returned = (index: number, given: Thing[]): Thing[] => {
    const handler = node.arguments[index];
    const functions = handler ? functionsIn(handler, environment, evaluator) : [];
    return functions.flatMap((each) => evaluator.call(each, { self: unknown, given: [() => given] }));
  };
  if (name === 'catch') return [...before, ...returned(0, [unknown])];
  const [first] = node.arguments;
  return [...(first ? returned(0, before) : before), ...returned(1, [unknown])];
}
