import { z } from 'zod';
import { RawNumber } from '../../../shared/contract/json/raw-number.ts';

const MAX_COMPOSITES_DEEP = 10;

/** The type names a key's value may have. */
const valueTypes = ['String', 'Integer', 'Long', 'Double', 'Boolean', 'List', 'Map', 'Object'] as const;
export type ValueType = (typeof valueTypes)[number];

/** One piece of a key: written in the code, configured in a field of the leaf, read from another key, or all of these. */
export type KeyPart =
  | { kind: 'literal'; value: string }
  | { kind: 'field'; ref: string }
  | { kind: 'derived'; fromKey: string }
  | { kind: 'composite'; parts: KeyPart[] }
  | { kind: 'unknown' };

/** One access to the input data that a client found in a leaf's code. */
export type LeafKey = {
  direction: 'read' | 'write' | 'read_write';
  union: boolean;
  accessMethod: string | null;
  parts: KeyPart[];
  valueType: ValueType | null;
};

/** A field a leaf can be configured with. `shown`: offered in the editor of rules. `value`: its default, null when not said. */
export type LeafField = {
  field: string;
  name: string;
  type: string;
  value: string | boolean | RawNumber | null;
  shown: boolean;
};

/** How a condition decides, when its client declares it: it is TRUE when the key's value is in this relation to the field's. */
export type Comparison = {
  key: string;
  is: (typeof comparisons)[number];
  field: string;
  missing?: boolean | string | RawNumber | undefined;
};
const comparisons = ['>=', '>', '<=', '<', '=', '!=', 'in', 'not-in'] as const;

/** The description that a client publishes of one of its leaf classes. `type`: 5 flow, 6 result, 7 none; null when not said. */
export type LeafNode = {
  clazz: string;
  type: number | null;
  fields: LeafField[];
  keys: LeafKey[];
  /** Its client says that its code may read more keys than these. */
  incomplete: boolean;
  comparison: Comparison | null;
};

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
    valueType: z.enum(valueTypes).nullable().catch(null),
  })
  .transform(
    ({ accessMode, accessMethod, keyParts, ...key }): LeafKey => ({
      ...key,
      union: accessMode === 'union',
      accessMethod: accessMethod || null,
      parts: keyParts,
    }),
  );

const number = z.union([z.instanceof(RawNumber), z.number().transform((value) => new RawNumber(String(value)))]);
const plainValue = z.union([z.string(), z.boolean(), number]).nullable().catch(null);
const fieldsSchema = listOf(z.object({ field: z.string().min(1), name: text, type: text, value: plainValue }));

const comparisonSchema = z
  .object({
    key: z.string().min(1),
    is: z.enum(comparisons),
    field: z.string().min(1),
    missing: z
      .union([z.boolean(), z.string().min(1), number])
      .optional()
      .catch(undefined),
  })
  .nullable()
  .catch(null);

const leafSchema = z
  .object({
    clazz: z.string().min(1),
    type: wholeNumber.nullable().catch(null),
    iceFields: fieldsSchema,
    hideFields: fieldsSchema,
    roamKeys: listOf(keySchema),
    incomplete: z.boolean().catch(false),
    comparison: comparisonSchema,
  })
  .transform(({ clazz, type, iceFields, hideFields, roamKeys, ...rest }): LeafNode => {
    const fields = [
      ...iceFields.map((field) => ({ ...field, shown: true })),
      ...hideFields.map((field) => ({ ...field, shown: false })),
    ];
    return { clazz, type, fields, keys: roamKeys, ...rest };
  });

const leavesSchema = listOf(leafSchema);

/**
 * Reads `leafNodes` of a registration in any published client's spelling; numbers may be plain or `RawNumber`. What cannot
 * be understood is left out, never refused.
 */
export function parseLeafNodes(value: unknown): LeafNode[] {
  return leavesSchema.parse(value);
}
