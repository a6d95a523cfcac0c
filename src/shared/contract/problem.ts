import { z } from 'zod';
import { paramsSchema } from './endings/codes.ts';
import { parseExact } from './json/exact-json.ts';
import { int, mockId, text } from './wire.ts';

const members = {
  type: text,
  title: text,
  status: int,
  detail: text,
  errors: z.array(z.strictObject({ field: text, message: text })).optional(),
  success: z.literal(false),
  error: text,
  code: text.describe('The cause; `type` leads to its place in the documents.'),
  reason: text.describe('The same as `code`, or the reason of an execution that was refused.'),
  params: paramsSchema,
  mayHaveRun: z
    .boolean()
    .optional()
    .describe(
      'Of a call: false only when the rule cannot have run, also for an earlier call under its Idempotency-Key.',
    ),
  mockId: mockId.optional(),
};

/** RFC 9457, with the members every answer has. */
export const problemSchema = z.strictObject(members).meta({ id: 'Problem', description: 'A refusal (RFC 9457).' });

const toldSchema = z.object(members).partial();

/**
 * What an answer that is not the one that was asked for tells. It may be of a gateway, which tells nothing of this; a member that cannot be
 * read leaves the others as they are, above all whether the rule may have run.
 */
export function readProblem(body: string): z.output<typeof toldSchema> {
  try {
    const told = z.record(z.string(), z.unknown()).parse(parseExact(body));
    const unread = new Set(toldSchema.safeParse(told).error?.issues.map(({ path }) => path[0]));
    return toldSchema.parse(Object.fromEntries(Object.entries(told).filter(([member]) => !unread.has(member))));
  } catch {
    return {};
  }
}
