import type { CallExpression } from 'acorn';
import type { ValueType } from '../leaves/leaf.ts';
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

/** The methods that read, and the type each gives. */
const readers: ReadonlyMap<string, ValueType | undefined> = new Map([
  ['get', undefined],
  ['raw', undefined],
  ['string', 'String'],
  ['int', 'Integer'],
  ['long', 'Long'],
  ['double', 'Double'],
  ['boolean', 'Boolean'],
  ['list', 'List'],
  ['map', 'Map'],
]);

/** The access that a call is, undefined when it is none. */
export function accessOf(node: CallExpression, environment: Environment, evaluator: Evaluator): Access | undefined {
  const { callee } = node;
  const [key, value] = node.arguments;
  if (callee.type !== 'MemberExpression' || callee.object.type === 'Super' || !key) return undefined;
  const service = evaluator.evaluate(callee.object, environment).find((thing) => thing.kind === 'service');
  const [method] = service ? propertyNames(callee, environment, evaluator) : [];
  if (service?.kind !== 'service' || method === undefined) return undefined;
  const keys = keysOf(key, environment, evaluator);
  if (readers.has(method)) return read({ keys, method: service.deep ? 'getDeep' : 'get', type: readers.get(method) });
  if (method === 'getDeep') return read({ keys, method });
  if (method === 'resolve') return read({ keys, method: 'get', union: true });
  if (method !== 'put' && method !== 'putDeep') return undefined;
  const written = value ? evaluator.evaluate(value, environment).map(typeOfThing) : [];
  const type = written.find((each) => each !== undefined);
  return {
    ...{ direction: 'write', union: false, keys, type, result: [unknown] },
    method: service.deep ? 'putDeep' : method,
  };
}

type Read = Pick<Access, 'keys' | 'method'> & { type?: ValueType | undefined; union?: boolean };

function read({ keys, method, type, union = false }: Read): Access {
  return { direction: 'read', method, union, keys, type, result: keys.map((key) => ({ kind: 'read', key, type })) };
}
