import { z } from 'zod';

/** The body of POST /session. */
export const sessionRequestSchema = z.strictObject({
  key: z.string().min(1).meta({ description: 'One of API_KEYS.' }),
});
