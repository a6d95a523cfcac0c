import { expect, it } from 'vitest';
import { createAdmission } from '../../../src/api/calls/admission.ts';
import { retryAfterOf } from '../../../src/shared/reasons/endings.ts';

const health = { up: true, full: null, waiting: 0, active: 0, workers: 1 };

/** Why an API refuses a call behind which the queue is as given; QUEUE_TIMEOUT_MS is 10 s. */
function refusal({ delayMs = 0, open = 0, ...more }: Partial<typeof health> & { delayMs?: number; open?: number }) {
  return createAdmission({
    health: { ...health, ...more },
    pending: { waiting: open },
    backlog: { delayMs: () => delayMs },
    settings: { MAX_QUEUED: 5000, QUEUE_TIMEOUT_MS: 10_000 },
  }).refusal();
}

it.each([
  ['behind a wait of 60 % of QUEUE_TIMEOUT_MS', { delayMs: 6000 }],
  ['for load while there are no workers', { delayMs: 60_000, workers: 0 }],
  ['with one place left on the queue', { waiting: 4999 }],
  ['for open calls that workers have begun', { open: 6000, active: 1001 }],
])('no call is refused %s', (_, behind) => {
  expect(refusal(behind)).toBeUndefined();
});

it.each([
  ['overloaded', 'too-many-calls', 7, { delayMs: 6001 }],
  ['overloaded', 'too-many-wait', 2, { waiting: 5000 }],
  ['overloaded', 'too-many-wait', 2, { open: 6000, active: 1000 }],
  ['queue-unavailable', 'not-sent', 2, { up: false, delayMs: 60_000 }],
])('a call is refused with %s (%s): it did not run, and may be sent again in %i s', (code, reason, seconds, behind) => {
  const refused = refusal(behind);
  expect(refused).toMatchObject({ code, reason, mayHaveRun: false });
  expect(refused && retryAfterOf(refused)).toBe(seconds);
});
