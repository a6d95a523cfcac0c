import type { AnyNode, CallExpression } from 'acorn';
import type { ValueType } from '../../leaves/leaf.ts';
import type { Environment, Evaluator, KeyPart, Thing } from '../interpreter.ts';
import { propertyNames } from '../members/members.ts';
import { isAccess, readers } from '../values/access-names.ts';
import { itemsOf } from '../values/lists.ts';
import { keyPartOf, keysOf, typeOfThing, unknown } from '../values/things.ts';

/** A call that reads or writes the data. `keys`: the key it names, in every way it may turn out. */
export type Access = {
  direction: 'read' | 'write';
  method: 'get' | 'getDeep' | 'put' | 'putDeep';
  union: boolean;
  keys: KeyPart[];
  /** The type the call itself tells, by its name or by what it writes. */
  type: ValueType | undefined;
  /** The result of the call. */
  result: Thing[];
};

/** The access that a call is, undefined otherwise. */
export function accessOf(node: CallExpression, environment: Environment, evaluator: Evaluator): Access | undefined {
  const called = methodCalled(node.callee, environment, evaluator);
  if (!called) return undefined;
  const { name, deep } = called;
  const [key, value] = [...called.given, ...argumentsOf(node, called.by, environment, evaluator)];
  if (!key) return undefined;
  const keys = keysOf(key);
  if (readers.has(name)) return read({ keys, method: deep ? 'getDeep' : 'get', type: readers.get(name) });
  if (name === 'getDeep') return read({ keys, method: name });
  if (name === 'resolve') return resolved(key);
  const written = (value ?? []).map(typeOfThing);
  const type = written.find((each) => each !== undefined);
  return {
    ...{ direction: 'write', union: false, keys, type, result: [unknown] },
    method: deep || name === 'putDeep' ? 'putDeep' : 'put',
  };
}

/** `by`: the first argument is what the method is called on, and after `apply` the second is a list of the others. */
type Method = { name: string; deep: boolean; by: 'name' | 'call' | 'apply'; given: Thing[][] };

function argumentsOf(
  node: CallExpression,
  by: Method['by'],
  environment: Environment,
  evaluator: Evaluator,
): Thing[][] {
  const given = node.arguments.flatMap((each): Thing[][] => {
    const things = evaluator.evaluate(each.type === 'SpreadElement' ? each.argument : each, environment);
    return each.type === 'SpreadElement' ? things.flatMap(itemsOf).map((item) => [item]) : [things];
  });
  if (by === 'name') return given;
  const [, list = [], ...others] = given;
  return by === 'call' ? given.slice(1) : [...list.flatMap(itemsOf).map((item) => [item]), ...others];
}

/** The method of the data that a call is of: named at the data itself, or kept in a name of its own. */
function methodCalled(callee: AnyNode, environment: Environment, evaluator: Evaluator): Method | undefined {
  if (callee.type === 'ChainExpression' || callee.type === 'ParenthesizedExpression')
    return methodCalled(callee.expression, environment, evaluator);
  if (callee.type === 'MemberExpression' && callee.object.type !== 'Super') {
    const names = propertyNames(callee, environment, evaluator);
    const name = names.find(isAccess) ?? names[0] ?? '';
    if (name === 'call' || name === 'apply') return methodIn(evaluator.evaluate(callee.object, environment), name);
    if (!isAccess(name)) return methodIn(evaluator.evaluate(callee, environment), 'name');
    const [service] = evaluator.evaluate(callee.object, environment).filter((thing) => thing.kind === 'service');
    return service && { name, deep: service.deep, by: 'name', given: [] };
  }
  const isNamed = callee.type === 'Identifier' || callee.type === 'CallExpression' || callee.type === 'AwaitExpression';
  return isNamed ? methodIn(evaluator.evaluate(callee, environment), 'name') : undefined;
}

function methodIn(things: readonly Thing[], by: Method['by']): Method | undefined {
  for (const thing of things) {
    const [target, given] =
      thing.kind === 'bound' ? [thing.target, thing.given.map((binding) => binding())] : [thing, []];
    if (target.kind === 'method') return { name: target.name, deep: target.deep, by, given };
  }
  return undefined;
}

/** `resolve` reads a key only behind an `@`: anything else is the value itself. */
function resolved(given: readonly Thing[]): Access {
  const references = given.filter((thing) => mayBeReference(keyPartOf(thing)));
  const access = read({ keys: keysOf(references), method: 'get', union: true });
  const values = given.filter((thing) => !references.includes(thing));
  return { ...access, result: [...access.result, ...values] };
}

function mayBeReference(key: KeyPart): boolean {
  const first = key.type === 'composite' ? key.parts[0] : key;
  return first?.type !== 'literal' || first.value.startsWith('@');
}

type Read = Pick<Access, 'keys' | 'method'> & { type?: ValueType | undefined; union?: boolean };

function read({ keys, method, type, union = false }: Read): Access {
  return { direction: 'read', method, union, keys, type, result: keys.map((key) => ({ kind: 'read', key, type })) };
}
