import { z } from 'zod';

export const sessionRequestSchema = z.strictObject({
  key: z.string().min(1).meta({ description: 'One of API_KEYS.' }),
});
