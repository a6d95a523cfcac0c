import { z } from 'zod';
import { decoders, INTEGER, isInteger, parseAnswer } from './decoders.ts';
import { JsonText, RawNumber, stringifyExact } from './json/raw-number.ts';

/**
 * The values of which the schemas of the interface are made. One schema reads an answer (`readAs`), prints it (`printAs`), reads the same thing
 * from a store, where it is plain JSON, and describes it in the OpenAPI document by the `json` of its metadata.
 */

const rawInteger = z.instanceof(RawNumber).refine(isInteger, { error: 'must be an integer' });

const integer = (json: { format: string }) =>
  z
    .codec(z.union([rawInteger, z.number()]), z.number(), { decode: decoders.integer, encode: (value) => value })
    .meta({ json: { type: 'integer', ...json } });

/** An id or a version: decimal text here, because a JavaScript number could round it, and an integer in JSON. */
export const int64 = z
  .codec(z.union([rawInteger, z.string().regex(INTEGER)]), z.string(), {
    decode: decoders.int64,
    encode: (text) => new RawNumber(text),
  })
  .meta({ json: { type: 'integer', format: 'int64' } });
/** Epoch ms, or another number that outgrows 32 bits and is exact in a JavaScript number. */
export const long = integer({ format: 'int64' });
export const time = long.describe('Epoch milliseconds.');
export const int = integer({ format: 'int32' });
export const text = z.string();
export const mockId = text.meta({ json: { type: 'string', format: 'uuid' }, description: 'The id of the execution.' });

/** Any JSON, as the text that it was written in. */
export const json = z
  .codec(z.unknown(), z.string(), { decode: decoders.json, encode: (source) => new JsonText(source) })
  .meta({ json: {} });
export const jsonObject = json.meta({ json: { type: 'object', additionalProperties: true } });

/** A page of a list. */
export const pageOf = <Item extends z.ZodType>(item: Item) => ({
  items: z.array(item),
  nextCursor: text.nullable().describe('Where the next page begins; null behind the last one.'),
});

/** An answer that is not what its schema says, as after an update of one side. */
export class UnexpectedAnswer extends Error {}

/** Reads an answer of the service. What the schema does not name is passed over. */
export function readAs<Schema extends z.ZodType>(schema: Schema, body: string): z.output<Schema> {
  const read = schema.safeParse(parseAnswer(body));
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new UnexpectedAnswer(`The service is of another version: ${issue?.path.join('.')}: ${issue?.message}`);
}

/** Prints an answer of the service. What the schema does not name is left out. */
export function printAs<Schema extends z.ZodType>(schema: Schema, value: z.output<Schema>): string {
  return stringifyExact(z.encode(schema, value));
}
