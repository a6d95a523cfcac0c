/** Every state of an execution, in the order they can be reached; the last five are ends. Plain, so that the page can use it too. */
export const states = [
  'queued',
  'dispatched',
  'picked-up',
  'succeeded',
  'failed',
  'timed-out',
  'cancelled',
  'rejected',
] as const;
