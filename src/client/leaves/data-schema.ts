import type { ValueType } from './leaf.ts';

/**
 * A schema of an app's data that follows Standard Schema, as those of Zod, Valibot and ArkType do. No run is checked with it: it says
 * what type a key has. One that can also be written as JSON Schema (Standard JSON Schema) tells the form its keys.
 */
export type DataSchema<D> = {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly types?: { readonly input: D; readonly output: unknown } | undefined;
    readonly jsonSchema?: { readonly input: (options: JsonSchemaOptions) => Record<string, unknown> };
  };
};

type JsonSchemaOptions = { readonly target: 'draft-2020-12'; readonly libraryOptions: Record<string, unknown> };

/** The type of each key that a schema describes, undefined where it says none; dotted keys lead into objects. */
export type SchemaKeys = ReadonlyMap<string, ValueType | undefined>;

/** The keys that a schema describes. None where the schema cannot be written as JSON Schema: the code of the leaves tells them. */
export function keysOfSchema(schema: DataSchema<unknown> | undefined): SchemaKeys {
  const keys = new Map<string, ValueType | undefined>();
  // Zod writes what JSON Schema cannot express, such as a bigint, as anything instead of failing.
  const options = { target: 'draft-2020-12', libraryOptions: { unrepresentable: 'any' } } as const;
  const written = schema?.['~standard'].jsonSchema?.input(options);
  if (written !== undefined) collect(written, '', keys);
  return keys;
}

const MAX_LEVELS = 5;

function collect(schema: unknown, prefix: string, keys: Map<string, ValueType | undefined>): void {
  const [described] = alternativesOf(schema);
  const properties = memberOf(described, 'properties');
  if (typeof properties !== 'object' || properties === null || prefix.split('.').length > MAX_LEVELS) return;
  for (const [name, property] of Object.entries(properties)) {
    keys.set(`${prefix}${name}`, typeOf(property));
    collect(property, `${prefix}${name}.`, keys);
  }
}

const typeNames: ReadonlyMap<unknown, ValueType> = new Map<unknown, ValueType>([
  ['string', 'String'],
  ['integer', 'Long'],
  ['number', 'Double'],
  ['boolean', 'Boolean'],
  ['array', 'List'],
  ['object', 'Map'],
]);
const INT32_MAX = 2 ** 31 - 1;

function typeOf(schema: unknown): ValueType | undefined {
  const types = new Set(alternativesOf(schema).map(typeOfOne));
  const [only] = types;
  return types.size === 1 ? only : undefined;
}

function typeOfOne(schema: unknown): ValueType | undefined {
  const type = typeNames.get(memberOf(schema, 'type') ?? typeofValue(schema));
  const most = memberOf(schema, 'maximum');
  return type === 'Long' && typeof most === 'number' && most <= INT32_MAX ? 'Integer' : type;
}

/** The type of the values that a schema lists instead of saying it. */
function typeofValue(schema: unknown): string | undefined {
  const listed = memberOf(schema, 'enum') ?? [memberOf(schema, 'const')];
  const types = new Set(Array.isArray(listed) ? listed.map((value) => typeof value) : []);
  const [only] = types;
  return types.size === 1 ? only : undefined;
}

/** The possible types of a value besides null. */
function alternativesOf(schema: unknown): unknown[] {
  const either = memberOf(schema, 'anyOf') ?? memberOf(schema, 'oneOf');
  const type = memberOf(schema, 'type');
  const all = Array.isArray(either)
    ? either
    : Array.isArray(type)
      ? type.map((each) => withType(schema, each))
      : [schema];
  return all.filter((each) => memberOf(each, 'type') !== 'null');
}

const withType = (schema: unknown, type: unknown): object => ({ ...Object(schema), type });

function memberOf(object: unknown, name: string): unknown {
  return typeof object === 'object' && object !== null ? Reflect.get(object, name) : undefined;
}
