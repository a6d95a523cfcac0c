import type { Data } from '../engine/data/data.ts';
import type { ErrorState } from '../engine/state.ts';

/** Optional methods of a leaf. */
type Hooks<D> = {
  /** Called once after the configured values were set, before the first run. What it throws leaves the node out. */
  afterPropertiesSet?(): void;
  /** Asked what to do about an error of this leaf; the node's `errorState` overrules it. */
  errorHandle?(service: Data<D>, error: unknown): ErrorState;
};

/** A condition: TRUE or FALSE. */
export type FlowLeaf<D = unknown> = Hooks<D> & { doFlow(service: Data<D>): boolean | Promise<boolean> };
/** A consequence, such as a payment: TRUE when it was done. */
export type ResultLeaf<D = unknown> = Hooks<D> & { doResult(service: Data<D>): boolean | Promise<boolean> };
/** A step without an opinion, such as looking something up. */
export type NoneLeaf<D = unknown> = Hooks<D> & { doNone(service: Data<D>): void | Promise<void> };
export type Leaf<D = unknown> = FlowLeaf<D> | ResultLeaf<D> | NoneLeaf<D>;

/** The public fields of an instance are what a rule can configure; their initial values are the defaults. */
export type LeafClass<D = unknown> = new () => Leaf<D>;

/** Names a configuration field's type goes by in the published metadata. */
export type FieldType = 'string' | 'int' | 'long' | 'float' | 'double' | 'boolean' | 'list' | 'map' | 'object';
/** Names the type of a key's value goes by in a form. */
export type ValueType = 'String' | 'Integer' | 'Long' | 'Double' | 'Boolean' | 'List' | 'Map' | 'Object';

/** The name of a declared key's type. */
export type DeclaredType = 'string' | 'integer' | 'long' | 'number' | 'boolean' | 'list' | 'object' | 'any';

export type FieldDefinition = { name?: string; desc?: string; type?: FieldType };

/** The names of a leaf's fields that a rule can configure; any name where the class is not known. */
type FieldName<L extends LeafClass> = LeafClass extends L
  ? string
  : Exclude<DataMember<InstanceType<L>>, `_${string}`> & string;
type DataMember<T> = { [K in keyof T]-?: T[K] extends (...parameters: never[]) => unknown ? never : K }[keyof T];

/**
 * How a condition decides, for one that is a single comparison: TRUE when the value of `key` is `is` than the value of `field`.
 * With it, whoever debugs a rule is told which value would have made the condition TRUE. Declare it only when it is all that
 * `doFlow` does with a value that is there, and when it does not fail without one; the code is not checked against it.
 */
export type LeafComparison = {
  key: string;
  is: '>=' | '>' | '<=' | '<' | '=' | '!=' | 'in' | 'not-in';
  field: string;
  /** What it comes to without a value (absent or null): this, or what this field has, or what it comes to with this number. */
  missing?: boolean | string | number;
};

/** A leaf class and what people who edit rules read about it. */
export type LeafDefinition<L extends LeafClass = LeafClass> = {
  leaf: L;
  name?: string;
  desc?: string;
  /** Its place in a list of leaves, lower first; 100 when not said. */
  order?: number;
  /** Other names that a rule may call the class by. */
  alias?: string | readonly string[];
  /** The fields to offer, described. Without this every field is offered. */
  fields?: { readonly [F in FieldName<L>]?: FieldDefinition };
  /** Types of keys that the code does not tell. */
  keys?: Readonly<Record<string, ValueType>>;
  comparison?: LeafComparison;
  /**
   * Whether the leaf does more than read and write the data, such as a payment or a message. A dry run does not call one that does: it
   * counts as TRUE. Not said: a consequence (`doResult`) does, and code that only computes does not. Of another leaf it is not known:
   * a dry run calls it, and names it.
   */
  effects?: boolean;
  /** The keys the leaf reads, and their types: said here, the code is not asked. A key with dots leads into objects. */
  reads?: Readonly<Record<string, DeclaredType>>;
  /** The keys the leaf writes, likewise. */
  writes?: Readonly<Record<string, DeclaredType>>;
};

/** Marks fields that were compared with those of their class. */
const checkedByDescribeLeaf: unique symbol = Symbol('checked');
type SomeFields = Readonly<Record<string, FieldDefinition | undefined>>;
type CheckedFields = SomeFields & { readonly [checkedByDescribeLeaf]: true };

/**
 * Describes a leaf where the type of an app's data is written out: `createRuleClient<Shop>({ leaves: { A: describeLeaf({ … }) } })`.
 * There the compiler does not look for the class of each leaf, and `fields` of a plain object would be checked by nobody.
 *
 * @param definition The leaf, and what the page shows of it: names, fields, the keys it reads and writes, how it compares.
 * @returns The same, with its fields compared with those of the class.
 * @example
 * ```ts
 * import { type Data, describeLeaf, loadRules } from 'rule-server-client';
 *
 * type Shop = { cost: number };
 * class SpentAtLeast {
 *   min = 100;
 *   doFlow(service: Data<Shop>): boolean {
 *     return service.double('cost', 0) >= this.min;
 *   }
 * }
 * const described = describeLeaf({ leaf: SpentAtLeast, name: 'Spent at least', fields: { min: { name: 'Amount' } } });
 * const nodes = [{ id: 1, type: 5, confName: 'shop.SpentAtLeast' }];
 * const rules = await loadRules<Shop>(
 *   { rules: [{ id: 1, confId: 1 }], nodes },
 *   { leaves: { 'shop.SpentAtLeast': described } },
 * );
 * console.log((await rules.run({ ruleId: 1, data: { cost: 120 } })).outcome); // TRUE
 * ```
 */
export function describeLeaf<const L extends LeafClass<never>>(
  definition: LeafDefinition<L>,
): Omit<LeafDefinition<L>, 'fields'> & { fields: CheckedFields } {
  const fields: SomeFields = definition.fields ?? {};
  return { ...definition, fields: { ...fields, [checkedByDescribeLeaf]: true } };
}

/** Leaf classes by the name that rules call them by, `com.example.SpendThreshold`. */
export type Leaves<L extends LeafClasses = LeafClasses> = {
  readonly [Name in keyof L]: L[Name] | DefinitionOf<L[Name]>;
};
/** Leaves whatever their classes are, as they are worked with in here. */
export type AnyLeaves = Readonly<Record<string, LeafClass | LeafDefinition>>;
type DefinitionOf<L extends LeafClass> = LeafClass extends L ? Described<L> : LeafDefinition<L> | Described<L>;
/** As `describeLeaf` returns it: its fields were compared with the class already. */
type Described<L extends LeafClass> = Omit<LeafDefinition<L>, 'fields'> & { fields?: CheckedFields };
export type LeafClasses<D = unknown> = Readonly<Record<string, LeafClass<D>>>;

/** The number of a leaf's kind in files: 5 flow, 6 result, 7 none. */
export type LeafKind = 5 | 6 | 7;

/** The method that each kind has. */
export const methodOf = { 5: 'doFlow', 6: 'doResult', 7: 'doNone' } as const;

/** The kind of a leaf by the method it has; undefined when it has none. */
export function kindOf(leaf: object): LeafKind | undefined {
  if ('doFlow' in leaf) return 5;
  if ('doResult' in leaf) return 6;
  return 'doNone' in leaf ? 7 : undefined;
}
