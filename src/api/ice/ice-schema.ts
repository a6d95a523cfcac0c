import { z } from 'zod';
import { parseExact } from '../../shared/contract/exact-json.ts';
import { RawNumber, stringifyExact } from '../../shared/contract/raw-number.ts';

const answerSchema = z.object({
  fields: z.array(
    z.object({ key: z.string(), nodeId: z.instanceof(RawNumber), nodeName: z.string(), valueType: z.string() }),
  ),
  fallback: z.boolean(),
});

/**
 * The fields of a form in the published server's shape: null when there are none, `dynamic` for a key that only the client
 * can complete, no empty name, and `fallback` only when it is true. `valueType`, which that server only documents, is there.
 */
export function iceSchema(body: string): string {
  const { fields, fallback } = answerSchema.parse(parseExact(body));
  const theirs = fields.map(({ key, nodeId, nodeName, valueType }) => ({
    key,
    nodeId,
    ...(nodeName !== '' && { nodeName }),
    valueType,
    ...(key.includes('${') && { dynamic: true }),
  }));
  return stringifyExact({ fields: theirs.length > 0 ? theirs : null, ...(fallback && { fallback }) });
}
