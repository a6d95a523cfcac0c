import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { createOverload } from '../../../src/api/overload/overload.ts';
import { createRedisArrivals } from '../../../src/shared/queue/arrivals.ts';
import { borrowDatabase } from '../../support/shared-redis.ts';

const LOOK_MS = 250;
const LOOKS = 12;
/** Behind this wait half of all calls are taken. */
const HALF_MS = 2000;

test('keys share by what they ask for at all APIs together', async ({ skip }) => {
  const database = await borrowDatabase();
  if (!database) return skip('there is no Redis');
  const redis = new Redis(database.url);
  const [one, other] = [openApi(redis), openApi(redis)];
  const [small, large] = [count(), count()];
  for (let look = 0; look < LOOKS; look++) {
    // Each API alone would take half of either: it knows one key only.
    for (let call = 0; call < 60; call++) small.add(one('small'));
    for (let call = 0; call < 180; call++) large.add(other('large'));
    if (look === 3) for (const each of [small, large]) each.begin();
    await delay(LOOK_MS + 10);
  }
  // 120 of 240: more than 60 are left for each.
  expect(small.share()).toBe(1);
  isAbout(large.share(), 60 / 180);

  // The other API has no calls any more, and is forgotten.
  await delay(1500);
  const alone = count();
  for (let look = 0; look < LOOKS; look++, await delay(LOOK_MS + 10)) {
    if (look === 3) alone.begin();
    for (let call = 0; call < 60; call++) alone.add(one('small'));
  }
  isAbout(alone.share(), 0.5);
  redis.disconnect();
  await database.stop();
});

/** Each call is taken or not by chance. */
function isAbout(share: number, expected: number): void {
  expect(Math.abs(share - expected)).toBeLessThan(0.12);
}

function openApi(redis: Redis) {
  const backlog = { look: async () => {}, added: () => {}, delayMs: () => HALF_MS };
  const tellArrivals = createRedisArrivals(redis, 'test');
  const overload = createOverload({ backlog, tellArrivals, settings: { QUEUE_TIMEOUT_MS: 10_000 } });
  return (key: string) => overload.refusal(key) === undefined;
}

/** How many of the calls were taken, once they count. */
function count() {
  let [taken, all] = [0, 0];
  return {
    add(isTaken: boolean): void {
      all++;
      if (isTaken) taken++;
    },
    begin(): void {
      [taken, all] = [0, 0];
    },
    share: () => taken / all,
  };
}
