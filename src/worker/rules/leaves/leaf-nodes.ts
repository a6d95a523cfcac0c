import { z } from 'zod';
import { RawNumber } from '../../../shared/contract/json/raw-number.ts';
import { comparisons, VALUE_TYPES } from '../../../shared/contract/rules-and-clients.ts';

const MAX_COMPOSITES_DEEP = 10;

/** One piece of a key: written in the code, configured in a field of the leaf, read from another key, or all of these. */
export type KeyPart =
  | { kind: 'literal'; value: string }
  | { kind: 'field'; ref: string }
  | { kind: 'derived'; fromKey: string }
  | { kind: 'composite'; parts: KeyPart[] }
  | { kind: 'unknown' };

// The published clients write a member without content as absent, null, "" or []: all four mean the same here.
const text = z.string().catch('');
const wholeNumber = z.union([z.int(), z.instanceof(RawNumber).transform(({ text }) => Number(text))]);

function listOf<T>(item: z.ZodType<T>) {
  return z
    .array(z.unknown())
    .catch([])
    .transform((items) =>
      items.flatMap((value) => {
        const parsed = item.safeParse(value);
        return parsed.success ? [parsed.data] : [];
      }),
    );
}

function keyPartSchema(levels: number): z.ZodType<KeyPart> {
  const parts = levels > 0 ? listOf(keyPartSchema(levels - 1)) : z.unknown().transform((): KeyPart[] => []);
  return z
    .object({ type: text, value: text, ref: text, fromKey: text, parts })
    .transform(({ type, value, ref, fromKey, parts }): KeyPart => {
      if (type === 'literal') return { kind: 'literal', value };
      if (type === 'field') return { kind: 'field', ref };
      if (type === 'roamDerived') return { kind: 'derived', fromKey };
      return type === 'composite' ? { kind: 'composite', parts } : { kind: 'unknown' };
    });
}

const keySchema = z
  .object({
    direction: z.enum(['read', 'write', 'read_write']),
    accessMode: text,
    accessMethod: text,
    keyParts: listOf(keyPartSchema(MAX_COMPOSITES_DEEP)),
    valueType: z.enum(VALUE_TYPES).nullable().catch(null),
  })
  .transform(({ accessMode, accessMethod, keyParts, ...key }) => ({
    ...key,
    union: accessMode === 'union',
    accessMethod: accessMethod || null,
    parts: keyParts,
  }));
/** One access to the input data that a client found in a leaf's code. */
export type LeafKey = z.output<typeof keySchema>;

const number = z.union([z.instanceof(RawNumber), z.number().transform((value) => new RawNumber(String(value)))]);
const fieldSchema = z.object({
  field: z.string().min(1),
  name: text,
  type: text,
  /** Its default, null when not said. */
  value: z.union([z.string(), z.boolean(), number]).nullable().catch(null),
});

const comparisonSchema = z.object({
  key: z.string().min(1),
  is: z.enum(comparisons),
  field: z.string().min(1),
  missing: z
    .union([z.boolean(), z.string().min(1), number])
    .optional()
    .catch(undefined),
});
/** How a condition decides, when its client declares it: it is TRUE when the key's value is in this relation to the field's. */
export type Comparison = z.output<typeof comparisonSchema>;

const leafSchema = z
  .object({
    clazz: z.string().min(1),
    /** 5 flow, 6 result, 7 none; null when not said. */
    type: wholeNumber.nullable().catch(null),
    iceFields: listOf(fieldSchema),
    hideFields: listOf(fieldSchema),
    roamKeys: listOf(keySchema),
    /** Its client says that its code may read more keys than these. */
    incomplete: z.boolean().catch(false),
    comparison: comparisonSchema.nullable().catch(null),
  })
  .transform(({ iceFields, hideFields, roamKeys: keys, ...leaf }) => {
    const fields = [
      ...iceFields.map((field) => ({ ...field, shown: true })),
      ...hideFields.map((field) => ({ ...field, shown: false })),
    ];
    return { ...leaf, fields, keys };
  });
/** The description that a client publishes of one of its leaf classes. */
export type LeafNode = z.output<typeof leafSchema>;
/** A field that a leaf can be configured with. `shown`: offered in the editor of rules. */
export type LeafField = LeafNode['fields'][number];

const leavesSchema = listOf(leafSchema);

/**
 * Reads `leafNodes` of a registration in any published client's spelling; numbers may be plain or `RawNumber`. What cannot
 * be understood is left out, never refused.
 */
export const parseLeafNodes = (value: unknown): LeafNode[] => leavesSchema.parse(value);
