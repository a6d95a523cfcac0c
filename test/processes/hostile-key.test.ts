import { describe, expect, inject, it } from 'vitest';
import { attack, callPolitely } from '../support/hostile-key.ts';
import { httpCall } from '../support/http-call.ts';
import { startRedis } from '../support/redis.ts';
import { claimRedisDatabase } from '../support/redis-database.ts';
import { answers, createResponder } from '../support/responder.ts';
import { startProcesses } from '../support/start-processes.ts';

const choice = inject('redis');
const [HOSTILE, POLITE] = ['the-key-of-hostile-in-this-test', 'the-key-of-polite-in-this-test'];
const CALLS = 100;
/** Twice on a quiet machine, which the bench measures; callers, Redis and client share this one. */
const SLOWER_AT_MOST = 4;
const NOISE_MS = 20;

describe.skipIf(choice.kind === 'unavailable')('one hostile key at full speed', () => {
  it('takes little from the calls of another, and nothing from /readyz', async () => {
    const redis = await startRedis(choice);
    const database = await claimRedisDatabase(redis.url);
    try {
      const settings = {
        API_KEYS: `hostile:${HOSTILE},polite:${POLITE}`,
        KEY_CALLS_PER_SECOND: 20,
        LOG_LEVEL: 'info',
        POLL_INTERVAL_MS: 200,
      };
      await using processes = await startProcesses({ queueUrl: database.url, settings });
      const { sharedDir, api } = processes;
      await using _ = await createResponder({ sharedDir, app: 1, does: answers() });
      const callers = { url: api.url, hostile: HOSTILE, polite: POLITE };
      const warm = await callPolitely(callers, 10);
      expect([...warm.statuses]).toEqual([[200, 10]]);
      const pause = () => new Promise((resolve) => setTimeout(resolve, 60)); // within its own limit
      const alone = [];
      const beside = [];
      for (let made = 0; made < CALLS / 4; made++) {
        alone.push((await callPolitely(callers, 1)).p50);
        await pause();
      }
      const over = new AbortController();
      const attacked = attack(callers, over.signal);
      await new Promise((resolve) => setTimeout(resolve, 1000));
      const ready: number[] = [];
      for (let made = 0; made < CALLS / 4; made++) {
        const { p50, statuses } = await callPolitely(callers, 1);
        expect([...statuses.keys()]).toEqual([200]);
        beside.push(p50);
        ready.push((await httpCall(`${api.url}/readyz`)).status);
        await pause();
      }
      over.abort();
      const statuses = await attacked;
      expect(statuses.get(429) ?? 0).toBeGreaterThan(statuses.get(200) ?? 0);
      expect(new Set(ready)).toEqual(new Set([200]));
      console.info(`p50 alone ${median(alone)} ms, beside a hostile key ${median(beside)} ms`, [...statuses]);
      expect(median(beside)).toBeLessThan(SLOWER_AT_MOST * median(alone) + NOISE_MS);
    } finally {
      await database.stop();
      await redis.stop();
    }
  });
});

function median(times: readonly number[]): number {
  return Math.round(times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0);
}
