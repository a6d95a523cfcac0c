import { z } from 'zod';
import { asJson } from './json-schema.ts';

export const text = z.string();
export const int32 = asJson({ type: 'integer', format: 'int32' });
export const int64 = asJson({ type: 'integer', format: 'int64' });
export const int64OrNull = asJson({ type: ['integer', 'null'], format: 'int64' });
export const epochMs = int64.describe('Epoch milliseconds.');
export const anyObject = asJson({ type: 'object', additionalProperties: true });
export const mockId = asJson({ type: 'string', format: 'uuid' }).describe('The id of the execution.');
