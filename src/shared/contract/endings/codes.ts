import { z } from 'zod';
import { codes } from '../../reasons/codes.ts';
import { long, text } from '../wire.ts';

export const codeSchema = z.enum(codes);

/** The parameters of a reason. */
export const paramsSchema = z
  .record(text, z.union([text, long]))
  .meta({
    json: {
      type: 'object',
      additionalProperties: { oneOf: [{ type: 'string' }, { type: 'integer', format: 'int64' }] },
    },
  })
  .describe('What the sentence of the reason names: a client, a time, a limit.');
