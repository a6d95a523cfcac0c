import { readdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Taken, takeRequest } from './take-request.ts';

type Options = {
  directory: string;
  maxRunning: number;
  /** See `takeRequest`. */
  flush: boolean;
  answer: (taken: Exclude<Taken, { kind: 'left' }>) => Promise<void>;
  onError: (error: unknown) => void;
};

/** An answer that nobody has read yet is waited for this long before its directory goes. */
const UNREAD_FOR_MS = 2000;

/** The requests that are being taken and run, several at once. A file that is noticed again meanwhile is not taken twice. */
export function createTakings({ directory, maxRunning, flush, answer, onError }: Options) {
  const running = new Map<string, Promise<void>>();
  const waiting = new Set<string>();
  const reported = new Set<string>();
  let closed = false;

  function take(name: string): void {
    if (closed || running.has(name)) return;
    // A request too many stays where its sender sees it and can take it back.
    if (running.size >= maxRunning) {
      waiting.add(name);
      return;
    }
    waiting.delete(name);
    running.set(
      name,
      run(name).finally(() => ended(name)),
    );
  }

  async function run(name: string): Promise<void> {
    try {
      const taken = await takeRequest(directory, name, { flush });
      reported.delete(name);
      if (taken.kind !== 'left') await answer(taken);
    } catch (error) {
      // A request that cannot be deleted is found again at every poll.
      if (!reported.has(name)) onError(error);
      reported.add(name);
    }
  }

  function ended(name: string): void {
    running.delete(name);
    const [next] = waiting;
    if (next !== undefined) take(next);
  }

  return {
    take,

    /** Resolves once everything taken was answered, and the answers were read or had their time to be. */
    async close(): Promise<void> {
      closed = true;
      await Promise.all(running.values());
      const until = Date.now() + UNREAD_FOR_MS;
      while (Date.now() < until && (await hasAnswers(directory))) await sleep(20);
    },
  };
}

async function hasAnswers(directory: string): Promise<boolean> {
  // The client is closing and does not wait for a file server that is away.
  const names = await readdir(directory).catch(() => []);
  return names.some((name) => name.endsWith('_result.json'));
}
