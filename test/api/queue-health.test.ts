import { ReplyError } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type QueueHealth, watchQueueHealth } from '../../src/api/queue-health.ts';
import { createBacklog } from '../../src/shared/queue/backlog.ts';
import { openQueueBackend } from '../../src/shared/queue/open-queue-backend.ts';
import type { QueueBackend } from '../../src/shared/queue/queue-backend.ts';
import { createThrottledAlert } from '../../src/shared/runtime/telemetry/logger.ts';
import { createOwnTimers } from '../support/own-time.ts';
import { captureLog } from '../support/start-service.ts';

const CHECK_MS = 50;
const COUNTS = { waiting: 3, snoozed: 0, taken: 2 };
const WORKER = { name: 'one', takesJobs: true, fault: null, busy: 0, begun: 0 };

describe('a queue store', () => {
  let backend: QueueBackend;
  beforeAll(async () => {
    backend = await openQueueBackend(undefined);
  });
  afterAll(() => backend.close());

  it('that answers takes calls', () =>
    watched(async ({ health, pass }) => {
      await pass(1000);
      expect(health).toMatchObject({ up: true, reason: null, waiting: 3, active: 2, workers: 1 });
    }));

  it('from which nothing comes for less than a second takes calls; after a second it does not, until it answers again', () =>
    watched(async ({ health, pass, store }) => {
      await pass(1000);
      store.isSilent = true;
      await pass(900);
      expect(health.up).toBe(true);
      await pass(500);
      expect(health).toMatchObject({ up: false, reason: 'Redis does not answer' });
      store.answerAll();
      await pass(2 * CHECK_MS);
      expect(health).toMatchObject({ up: true, reason: null });
    }));

  it('from which something comes, though nothing for this look, is busy: it takes calls', () =>
    watched(async ({ health, pass, store }) => {
      await pass(1000);
      store.isSilent = true;
      for (let byte = 0; byte < 20; byte++) {
        await pass(500);
        store.bytes++;
      }
      expect(health.up).toBe(true);
    }));

  it('is not silent because this process stood still', () =>
    watched(async ({ health, pass, standStill, store }) => {
      await pass(1000);
      store.isSilent = true;
      await pass(300);
      standStill(60_000);
      await pass(CHECK_MS);
      expect(health.up).toBe(true);
    }));

  it.each(['READONLY', 'LOADING', 'MASTERDOWN', 'MISCONF', 'OOM'])(
    'that says %s takes no calls from the next look on, and says why, until it says so no more',
    (word) =>
      watched(async ({ health, pass, store }) => {
        await pass(1000);
        store.refusal = new ReplyError(`${word} a sentence of Redis`);
        await pass(300);
        expect(health).toMatchObject({ up: false, reason: expect.stringContaining(word) });
        store.refusal = undefined;
        await pass(300);
        expect(health).toMatchObject({ up: true, reason: null });
      }),
  );

  type Store = { isSilent: boolean; bytes: number; refusal: Error | undefined; answerAll(): void };
  type Watched = {
    health: QueueHealth;
    store: Store;
    pass(ms: number): Promise<void>;
    standStill(ms: number): void;
  };

  /** The health of a queue store that says what the test lets it say, by clocks that move when the test says so. */
  async function watched(use: (watched: Watched) => Promise<void>): Promise<void> {
    let held: (() => void)[] = [];
    const store: Store = {
      isSilent: false,
      bytes: 0,
      refusal: undefined,
      answerAll() {
        store.isSilent = false;
        for (const answer of held) answer();
        held = [];
      },
    };
    const reply = async () => {
      if (store.isSilent) await new Promise<void>((answer) => held.push(answer));
      store.bytes++;
      if (store.refusal) throw store.refusal;
      return COUNTS;
    };
    const openQueue: typeof backend.openQueue = (name) => {
      return { ...backend.openQueue<never>(name), count: reply };
    };
    const own = createOwnTimers();
    const { log } = captureLog();
    const health = own.run(() =>
      watchQueueHealth({
        backend: {
          ...backend,
          openQueue,
          lastActivity: () => store.bytes,
          probe: async () => {},
          workers: { ...backend.workers, read: async () => new Map([['one', WORKER]]) },
        },
        backlog: createBacklog(),
        storeAlert: createThrottledAlert(log, 'the queue store'),
      }),
    );
    await use({ health, store, pass: own.pass, standStill: own.standStill });
    store.answerAll();
    await own.pass(1000);
    await health.close();
  }
});
