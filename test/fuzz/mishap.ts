import fc from 'fast-check';
import { breaks } from '../support/redis-proxy.ts';

/** A registration that is away for so long, by the test's own clock, may count as gone. */
export const MAY_BE_GONE_MS = 400;

/** One call, and what small trouble it meets. None of it may cost the caller the answer. */
export type MishapCall = {
  atMs: number;
  /** How long its client takes. */
  afterMs: number;
  /** How long the result cannot be read after its rename. */
  hiddenMs: number | null;
  /** How long the registration of its client is away once the client has the request. */
  awayMs: number | null;
  /** Whether the app has another client, in whose directory nobody may write. */
  besideUnwritable: boolean;
  /** With an Idempotency-Key: where the connection to Redis breaks as the call is noted, and for how long. */
  noted: { breaks: (typeof breaks)[number]; forMs: number } | 'undisturbed' | null;
};

/** `replaceAtMs`: when a worker is replaced by another one. */
export type Mishaps = { calls: MishapCall[]; replaceAtMs: number | null };

const within = (min: number, max: number) => fc.integer({ min, max });
const sometimes = <T>(one: fc.Arbitrary<T>) => fc.option(one, { freq: 2 });

const call: fc.Arbitrary<MishapCall> = fc.record({
  atMs: within(0, 1500),
  afterMs: within(0, 500),
  hiddenMs: sometimes(within(50, 1900)),
  awayMs: sometimes(within(120, 300)),
  besideUnwritable: fc.boolean(),
  noted: sometimes(
    fc.oneof(
      fc.record({ breaks: fc.constantFrom(...breaks), forMs: within(20, 600) }),
      fc.constant('undisturbed' as const),
    ),
  ),
});

/** A handful of calls in trouble. */
export const mishaps: fc.Arbitrary<Mishaps> = fc.record({
  calls: fc.array(call, { minLength: 1, maxLength: 10, size: 'max' }),
  replaceAtMs: fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: within(0, 2000) }),
});
