import { z } from 'zod';
import { int, text } from './wire.ts';

/** The permissions of a key: reading executions and rules, running, cancelling, keeping cases, and looking after the service. */
export const permissions = ['read', 'run', 'cancel', 'cases', 'ops'] as const;
export type Permission = (typeof permissions)[number];

/** Who asks. `name`: null where no key is needed. `apps`: null for every app. */
export const callerSchema = z.object({
  name: text.nullable(),
  may: z.array(z.enum(permissions)),
  apps: z.array(int).nullable(),
});
