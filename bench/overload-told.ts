import { z } from 'zod';

/** One load. */
export const offerSchema = z.object({ perSecond: z.number(), seconds: z.number() });

const counted = z.record(z.string(), z.number());
/** What it sends when a load was sent (`sent`), and once its last answer is there. Times in ms; null where there is none. */
export const toldSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('sent') }),
  z.object({
    kind: z.literal('answered'),
    sent: z.number(),
    /** Calls that were due and found no free socket: they were never sent. */
    noSocket: z.number(),
    good: z.number(),
    /** Answered by the client, but too late. */
    tooLate: z.number(),
    /** What the others were told, by status, code and `mayHaveRun`. */
    endings: counted,
    retryAfter: counted,
    p50: z.number().nullable(),
    p99: z.number().nullable(),
    refusedP50: z.number().nullable(),
    /** How late this process itself was at worst when calls were due. */
    latestMs: z.number(),
    /** Its own CPU while it sent. */
    cpuSeconds: z.number(),
  }),
]);
export type Told = z.infer<typeof toldSchema>;
export type Offered = Extract<Told, { kind: 'answered' }>;
