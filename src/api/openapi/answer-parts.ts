import { z } from 'zod';
import { asJson } from './json-schema.ts';

export const text = z.string();
export const int32 = asJson({ type: 'integer', format: 'int32' });
export const int64 = asJson({ type: 'integer', format: 'int64' });
export const int64OrNull = asJson({ type: ['integer', 'null'], format: 'int64' });
export const epochMs = int64.describe('Epoch milliseconds.');
export const anyObject = asJson({ type: 'object', additionalProperties: true });
export const mockId = asJson({ type: 'string', format: 'uuid' }).describe('The id of the execution.');

export const rulesOfRun = z
  .strictObject({
    released: int64OrNull.describe('The version of the app when it was sent.'),
    loaded: int64OrNull.describe('The version that its client had told by then; with `told` the one that it ran.'),
    digest: text.nullable().describe('The same for the same rule and nodes: GET tree has it as well.'),
    unsure: z
      .literal(true)
      .optional()
      .describe('The files had changed without a new version: its client may hold them as they were before.'),
    about: z
      .literal(true)
      .optional()
      .describe('Another version was released before the answer came, which does not say what it ran on.'),
    told: z.literal(true).optional().describe('The answer itself said `loaded` and `digest`: they are what ran.'),
  })
  .nullable()
  .describe('The rules it ran on; null when it was not sent to a client, and for one of an earlier version.');
