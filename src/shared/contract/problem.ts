import { z } from 'zod';
import { paramsSchema } from './endings/codes.ts';
import { parseExact } from './json/exact-json.ts';
import { int, mockId, text } from './wire.ts';

/** One thing wrong with a request. */
export const wrongSchema = z
  .strictObject({
    field: text.describe('The path of a member, the name of a parameter or header, or `body`.'),
    code: text.describe('What is wrong. The documents list the codes.'),
    params: paramsSchema,
    message: text.describe('The same in English, after the name of the field.'),
  })
  .meta({ id: 'Wrong' });

const members = {
  type: text,
  title: text,
  status: int,
  detail: text,
  errors: z.array(wrongSchema).optional(),
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

/** A member that is missing, or that cannot be read, is undefined and hides no other. */
const lenient = <Schema extends z.ZodType>(schema: Schema) => schema.optional().catch(undefined);

/** As much of a refusal as can be read. */
export const readProblemSchema = z.object({
  detail: lenient(members.detail),
  errors: lenient(members.errors),
  error: lenient(members.error),
  code: lenient(members.code),
  reason: lenient(members.reason),
  params: lenient(members.params),
  mayHaveRun: lenient(members.mayHaveRun),
  mockId: lenient(members.mockId),
});

/** Reads a refusal of the service, with or without a client's answer. Nothing is told by the refusal of a gateway. */
export function readProblem(body: string): z.output<typeof readProblemSchema> {
  try {
    return readProblemSchema.parse(parseExact(body));
  } catch {
    return {};
  }
}
