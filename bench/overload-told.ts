import { z } from 'zod';

/** An answer that comes later is of no use to its caller. */
export const GOOD_WITHIN_MS = 5000;

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
    /** Those of them that came while the load lasted, after its first 5 s: what is served then is not what a queue put off. */
    goodSteadily: z.number(),
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
