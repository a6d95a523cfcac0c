import type { AnyNode, CallExpression } from 'acorn';
import type { ValueType } from '../leaves/leaf.ts';
import { isAccess, readers } from './access-names.ts';
import type { Environment } from './environment.ts';
import type { Evaluator } from './evaluator.ts';
import { keysOf } from './keys-of.ts';
import { propertyNames } from './members.ts';
import { type KeyPart, type Thing, typeOfThing, unknown } from './things.ts';

/** A call that reads or writes the data. `keys`: the key it names, in every way it may turn out. */
export type Access = {
  direction: 'read' | 'write';
  method: 'get' | 'getDeep' | 'put' | 'putDeep';
  union: boolean;
  keys: KeyPart[];
  /** The type the call itself tells, by its name or by what it writes. */
  type: ValueType | undefined;
  /** What the call gives back. */
  result: Thing[];
};

/** The access that a call is, undefined when it is none. */
export function accessOf(node: CallExpression, environment: Environment, evaluator: Evaluator): Access | undefined {
  const called = methodCalled(node.callee, environment, evaluator);
  const [key, value] = called?.byCall ? node.arguments.slice(1) : node.arguments;
  if (!called || !key) return undefined;
  const { name, deep } = called;
  const keys = keysOf(key, environment, evaluator);
  if (readers.has(name)) return read({ keys, method: deep ? 'getDeep' : 'get', type: readers.get(name) });
  if (name === 'getDeep') return read({ keys, method: name });
  if (name === 'resolve') return read({ keys, method: 'get', union: true });
  const written = value ? evaluator.evaluate(value, environment).map(typeOfThing) : [];
  const type = written.find((each) => each !== undefined);
  return {
    ...{ direction: 'write', union: false, keys, type, result: [unknown] },
    method: deep || name === 'putDeep' ? 'putDeep' : 'put',
  };
}

/** `byCall`: the first argument is what the method is called on. */
type Method = { name: string; deep: boolean; byCall: boolean };

/** The method of the data that a call is of: named at the data itself, or kept in a name of its own. */
function methodCalled(callee: AnyNode, environment: Environment, evaluator: Evaluator): Method | undefined {
  if (callee.type === 'ChainExpression' || callee.type === 'ParenthesizedExpression')
    return methodCalled(callee.expression, environment, evaluator);
  if (callee.type === 'MemberExpression' && callee.object.type !== 'Super') {
    const [name = ''] = propertyNames(callee, environment, evaluator);
    if (!isAccess(name) && name !== 'call') return undefined;
    const on = evaluator.evaluate(callee.object, environment);
    const [service] = on.filter((thing) => thing.kind === 'service');
    if (name === 'call') return methodIn(on, true);
    return service && { name, deep: service.deep, byCall: false };
  }
  const isNamed = callee.type === 'Identifier' || callee.type === 'CallExpression';
  return isNamed ? methodIn(evaluator.evaluate(callee, environment), false) : undefined;
}

function methodIn(things: readonly Thing[], byCall: boolean): Method | undefined {
  const [method] = things.filter((thing) => thing.kind === 'method');
  return method && { name: method.name, deep: method.deep, byCall };
}

type Read = Pick<Access, 'keys' | 'method'> & { type?: ValueType | undefined; union?: boolean };

function read({ keys, method, type, union = false }: Read): Access {
  return { direction: 'read', method, union, keys, type, result: keys.map((key) => ({ kind: 'read', key, type })) };
}
