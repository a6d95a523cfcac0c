import type { Data } from '../engine/data/data.ts';
import type { DataSchema } from './data-schema.ts';
import type { FlowLeaf, NoneLeaf, ResultLeaf } from './leaf.ts';

type Fields = Readonly<Record<string, unknown>>;
type Work<D, F, R> = (service: Data<D>, fields: Readonly<F>) => R | Promise<R>;

/** The function that a method which was made here calls. */
const functions = new WeakMap<object, object>();
export const functionOf = (method: unknown): object | undefined =>
  typeof method === 'function' ? functions.get(method) : undefined;

/** Makes a leaf class of a function: the fields that a rule can configure with their defaults, and what it does. */
export type LeafMaker<D> = {
  /** A condition. */
  flow<F extends Fields>(fields: F, decide: Work<D, F, boolean>): new () => FlowLeaf & F;
  /** A consequence: true when it was done. */
  result<F extends Fields>(fields: F, act: Work<D, F, boolean>): new () => ResultLeaf & F;
  /** A step without an opinion. */
  none<F extends Fields>(fields: F, work: Work<D, F, void>): new () => NoneLeaf & F;
};

/**
 * Leaves of an app whose data a type or a schema describes: `service` and the fields of each have their types.
 *
 * @param _schema A Standard Schema (Zod, Valibot, ArkType …) of the data, instead of a type.
 * @returns `flow`, `result` and `none`: each makes a leaf of its fields, with their defaults, and of a function.
 * @example
 * ```ts
 * import { leavesFor, loadRules } from 'rule-server-client';
 *
 * const { flow, none } = leavesFor<{ cost: number; total?: number }>();
 * const leaves = {
 *   Add: none({ tax: 0.2 }, (service, { tax }) => service.put('total', service.double('cost', 0) * (1 + tax))),
 *   TotalAtLeast: flow({ min: 100 }, (service, { min }) => service.double('total', 0) >= min),
 * };
 * const nodes = [
 *   { id: 1, type: 1, sonIds: '2,3' },
 *   { id: 2, type: 7, confName: 'Add', confField: { tax: 0.5 } },
 *   { id: 3, type: 5, confName: 'TotalAtLeast' },
 * ];
 * const rules = await loadRules({ rules: [{ id: 1, confId: 1 }], nodes }, { leaves });
 * const { outcome, data } = await rules.run({ ruleId: 1, data: { cost: 100 } });
 * console.log(outcome, data.total); // TRUE 150
 * ```
 */
export function leavesFor<D = unknown>(_schema?: DataSchema<D>): LeafMaker<D> {
  return {
    flow: (fields, decide) => leafOf(fields, 'doFlow', decide),
    result: (fields, act) => leafOf(fields, 'doResult', act),
    none: (fields, work) => leafOf(fields, 'doNone', work),
  };
}

/** Every instance has defaults of its own, which its rule may configure. */
function leafOf<L, D, F>(fields: Fields, method: string, work: Work<D, F, unknown>): new () => L;
function leafOf(fields: Fields, name: string, work: Work<unknown, object, unknown>): object {
  const made = class {
    constructor() {
      Object.assign(this, structuredClone(fields));
    }
  };
  const method = function (this: object, service: Data): unknown {
    return work(service, this);
  };
  functions.set(method, work);
  Object.defineProperty(made.prototype, name, { value: method, writable: true, configurable: true });
  return made;
}
