import { parseExact } from '../../shared/contract/json/exact-json.ts';
import { type ExactObject, isExactObject } from '../../shared/contract/json/raw-number.ts';
import { onlyComputes } from '../code/only-computes.ts';
import type { Data } from '../engine/data/data.ts';
import type { Effects, Node } from '../engine/node.ts';
import type { State } from '../engine/state.ts';
import { configuredValue, countsAsNothing, type Field } from './fields.ts';
import { type Leaf, type LeafKind, methodOf } from './leaf.ts';
import { functionOf } from './leaves-for.ts';
import type { LeafEntry } from './registry.ts';

/** A leaf node that can run, and the faults of its configured values. */
type MadeLeaf = { body: Node['body']; problems: string[] };

/** Makes one instance of a leaf with the values a node's file configures. Throws when they do not fit, as the Java SDK does. */
export function makeLeaf({ clazz, definition, fields, kind }: LeafEntry, confField: string): MadeLeaf {
  const leaf = new definition.leaf();
  const problems: string[] = [];
  for (const [name, value] of Object.entries(valuesOf(confField))) {
    const field = fieldNamed(name, fields);
    if (field === undefined) problems.push(`${clazz} has no field ${name}`);
    if (field === undefined || value === null) continue;
    const configured = configuredValue(field, value);
    if (countsAsNothing(field, value)) problems.push(`confField: ${name} is empty and counts as ${configured}`);
    Reflect.set(leaf, field.field, configured);
  }
  leaf.afterPropertiesSet?.();
  const handle = leaf.errorHandle?.bind(leaf);
  const body = { kind: 'leaf', run: runnerOf(leaf), handleError: handle ?? null } as const;
  const computes = onlyComputes(leaf, workOf(leaf, kind));
  return {
    body: { ...body, onlyComputes: computes, effects: effectsOf(kind, definition.effects, computes) },
    problems,
  };
}

/** A consequence has effects, and code that only computes has none, unless the definition says otherwise. */
function effectsOf(kind: LeafKind, declared: boolean | undefined, computes: boolean): Effects {
  if (declared !== undefined) return declared ? 'some' : 'none';
  if (kind === 6) return 'some';
  return computes ? 'none' : 'unsure';
}

/** A field by its name, in whatever case it is written: as in the Java SDK. */
function fieldNamed(name: string, fields: readonly Field[]): Field | undefined {
  const lower = name.toLowerCase();
  return fields.find(({ field }) => field === name) ?? fields.find(({ field }) => field.toLowerCase() === lower);
}

function valuesOf(confField: string): ExactObject {
  if (confField.trim() === '') return {};
  const values = parseExact(confField);
  if (isExactObject(values)) return values;
  throw new TypeError('confField is not a JSON object');
}

/** A leaf's code: of a leaf that was made of a function, that function. */
function workOf(leaf: Leaf, kind: LeafKind): unknown {
  const method: unknown = Reflect.get(leaf, methodOf[kind]);
  return functionOf(method) ?? method;
}

function runnerOf(leaf: Leaf): (data: Data) => State | Promise<State> {
  if ('doFlow' in leaf) return (data) => decided(leaf.doFlow(data), 'doFlow');
  if ('doResult' in leaf) return (data) => decided(leaf.doResult(data), 'doResult');
  return (data) => {
    const returned = leaf.doNone(data);
    return isThenable(returned) ? Promise.resolve(returned).then(() => 'NONE') : 'NONE';
  };
}

function decided(returned: unknown, method: string): State | Promise<State> {
  return isThenable(returned)
    ? Promise.resolve(returned).then((value) => stateOf(value, method))
    : stateOf(returned, method);
}

function stateOf(returned: unknown, method: string): State {
  if (typeof returned !== 'boolean') throw new TypeError(`${method} returned ${typeof returned}, not true or false`);
  return returned ? 'TRUE' : 'FALSE';
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}
