import { setTimeout as sleep } from 'node:timers/promises';

type Counts = Record<'passed' | 'failed' | 'error' | 'unanswered' | 'skipped' | 'pending', number>;
export type BatchSeen = { state: string; counts: Counts; createdAt: number; endedAt: number | null };

const CHECK_MS = 100;

/** Begins a batch of so many cases and resolves to where it is found. */
export async function beginBatch(
  url: string,
  { app, count, concurrency }: { app: number; count: number; concurrency?: number },
): Promise<string> {
  const cases = Array.from({ length: count }, (_, uid) => ({ 'the service': { uid, cost: 120 } }));
  const response = await fetch(`${url}/rule-server/mock/batches`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ app, ruleId: 1, cases, ...(concurrency !== undefined && { concurrency }) }),
  });
  if (response.status !== 202) throw new Error(`a batch of ${count} was refused: ${await response.text()}`);
  return `${url}${response.headers.get('location')}`;
}

export async function seeBatch(location: string): Promise<BatchSeen> {
  const response = await fetch(location);
  if (response.status !== 200) throw new Error(`${location} answers ${response.status}`);
  return (await response.json()) as BatchSeen;
}

/** Looks until the batch is as `is` says. */
export async function untilBatch(
  location: string,
  is: (batch: BatchSeen) => boolean,
  deadlineMs = 120_000,
): Promise<BatchSeen> {
  const deadline = Date.now() + deadlineMs;
  for (;;) {
    const batch = await seeBatch(location);
    if (is(batch)) return batch;
    if (Date.now() > deadline)
      throw new Error(`${location} took longer than ${deadlineMs} ms: ${JSON.stringify(batch)}`);
    await sleep(CHECK_MS);
  }
}

export const isOver = ({ state }: BatchSeen) => state === 'finished' || state === 'cancelled';
export const done = ({ counts }: BatchSeen) => counts.passed + counts.failed + counts.error + counts.unanswered;

/** Cancels a batch and waits for its end. */
export async function endBatch(location: string): Promise<void> {
  await fetch(location, { method: 'DELETE' });
  await untilBatch(location, isOver);
}
