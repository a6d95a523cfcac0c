import { z } from 'zod';
import { noAnswerSchema } from '../../shared/contract/outcomes.ts';

/** How an execution ended for its caller. `body` is the client's answer, to the letter. */
export const endingSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('answered'), mockId: z.string(), address: z.string(), body: z.string() }),
  z.object({ kind: z.literal('unanswered'), mockId: z.string(), noAnswer: noAnswerSchema }),
]);
export type Ending = z.infer<typeof endingSchema>;
