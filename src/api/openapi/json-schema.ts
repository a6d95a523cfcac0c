import { z } from 'zod';

export type JsonSchema = z.core.JSONSchema.BaseSchema;

/** A schema that stands in the document as this JSON Schema: for what Zod cannot express, such as int64. */
export function asJson(json: JsonSchema): z.ZodType {
  return z.unknown().meta({ json });
}

const jsonOf = z.object({ json: z.record(z.string(), z.unknown()) });

/**
 * The JSON Schema (2020-12) of what a Zod schema accepts, or prints when it is of an answer. A `json` in its metadata takes the place of what
 * Zod would say. Schemas with an `id` are put under `components` and referred to.
 */
export function createJsonSchemas() {
  const components = new Map<string, JsonSchema>();
  const reads = new Set<string>();

  function of(schema: z.ZodType, io: 'input' | 'output' = 'input'): JsonSchema {
    const {
      $schema: _,
      $defs = {},
      ...rest
    } = z.toJSONSchema(schema, {
      io,
      unrepresentable: 'any',
      override({ zodSchema, jsonSchema }) {
        // Zod bounds integers by what a JavaScript number holds; this interface does not.
        if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
        if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
        const own = jsonOf.safeParse(z.globalRegistry.get(zodSchema));
        if (io === 'input' && zodSchema._zod.def.type === 'object') withoutDefaults(jsonSchema);
        if (!own.success) return widthOf(jsonSchema);
        for (const key of Object.keys(jsonSchema)) if (key !== 'description') Reflect.deleteProperty(jsonSchema, key);
        Object.assign(jsonSchema, own.data.json);
        widthOf(jsonSchema);
      },
    });
    for (const [id, definition] of Object.entries($defs)) components.set(id, rewritten(definition));
    return rewritten(rest);
  }

  const ofAnswer = (schema: z.ZodType) => of(schema, 'output');

  /** The answer of a read, which may name unknown parameters of its request. */
  function ofRead(schema: z.ZodType): JsonSchema {
    const json = ofAnswer(schema);
    const ids = [json, ...(json.anyOf ?? [])].flatMap(({ $ref }) => $ref?.split('/').pop() ?? []);
    if (ids.length === 0) return withWarnings(json);
    for (const id of ids) reads.add(id);
    return json;
  }

  function withWarnings(schema: JsonSchema): JsonSchema {
    const { properties, additionalProperties } = schema;
    if (additionalProperties !== false || properties?.warnings !== undefined) return schema;
    return { ...schema, properties: { ...properties, warnings: of(unknownParameters) } };
  }

  return {
    of,
    ofAnswer,
    ofRead,
    components: () =>
      Object.fromEntries(
        [...components]
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([id, schema]) => [id, reads.has(id) ? withWarnings(schema) : schema]),
      ),
  };
}

/** A generator takes a member of a body with a default for one that is always there. */
function withoutDefaults({ properties }: JsonSchema): void {
  for (const member of Object.values(properties ?? {})) if (typeof member === 'object') delete member.default;
}

/** Generators give an integer without a format the width that they like. */
function widthOf(schema: JsonSchema): void {
  if ([schema.type].flat().includes('integer')) schema.format ??= 'int32';
}

/** Generators know a nullable value by its two types, and not by `anyOf`. Zod says `anyOf` only at its end, where it uses a schema again. */
function orNull(schema: JsonSchema): JsonSchema {
  const [some, none, ...more] = schema.anyOf ?? [];
  if (typeof some?.type !== 'string' || none?.type !== 'null' || more.length > 0 || some.enum) return schema;
  const { anyOf: _, ...own } = schema;
  return { ...some, type: [some.type, 'null'], ...own };
}

const unknownParameters = z
  .array(
    z.strictObject({
      code: z.literal('unknown-parameter'),
      params: z.strictObject({ name: z.string() }),
      message: z.string(),
    }),
  )
  .optional()
  .describe('The parameters of the request that are not known here; absent where there are none.');

/** The same schema with its references pointing into the document. */
function rewritten(schema: JsonSchema): JsonSchema {
  const text = JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/');
  return z
    .record(z.string(), z.unknown())
    .parse(JSON.parse(text, (_name, value) => (Array.isArray(value?.anyOf) ? orNull(value) : value)));
}
