import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { errnoOf } from '../../src/shared/runtime/errno.ts';
import { eventually } from '../support/eventually.ts';
import { httpCall } from '../support/http-call.ts';
import { serviceOnDisk } from '../support/service-on-disk.ts';

/** So often the service is killed: a few times at every run, 200 times on demand. */
const KILLS = Number(process.env.STORE_KILLS ?? 4);
const own = serviceOnDisk({ afterMs: 30, settings: { RESULT_TIMEOUT_MS: 4000, CLIENT_TIMEOUT_MS: 30_000 } });
const { start, startAndListen, url, run } = own;
const uidOf = ({ text }: { text: string }) => Number(/"uid":(\d+)/.exec(text)?.[1]);

it(
  `killed ${KILLS} times at any moment: what was accepted ends, what had ended is kept, nothing runs twice`,
  async () => {
    const accepted = new Map<string, { uid: number; settled: boolean }>();
    const keyed = new Map<number, string | null>();
    let uid = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      // Every other one also while it starts and recovers what the one before left.
      const untilReady = kill % 2 === 0;
      await start(untilReady);
      const before = own.responder.found.length;
      const calls = callUntilKilled(() => ++uid, { accepted, keyed });
      // A busy machine needs a while for the first execution, and kills before it show nothing of those that run.
      if (untilReady) await eventually(() => expect(own.responder.found.length).toBeGreaterThan(before), 60_000);
      await delay(Math.random() * (untilReady ? 1500 : 4000));
      await own.service.kill();
      await calls;
      expect(own.service.noise.filter((line) => !/^$|^The rule server runs|^ {2}|^Run a rule/.test(line))).toEqual([]);
    }
    await startAndListen();

    await inParts(
      some(accepted, ({ settled }) => settled),
      async ([mockId, { settled }]) => {
        const body = await eventually(async () => {
          const { status, json } = await httpCall(url(`executions/${mockId}`));
          expect({ mockId, status, ended: json?.ending !== null }).toEqual({ mockId, status: 200, ended: true });
          return json;
        }, 60_000);
        if (settled) expect(body).toMatchObject({ state: 'succeeded' });
      },
    );
    // Also those that were not answered: each of them may run now for the first time, and never for the second.
    await inParts(
      some(keyed, (mockId) => mockId !== null),
      async ([key, mockId]) => {
        const { json } = await run(key, { 'idempotency-key': `key-${key}` });
        if (mockId !== null) expect(json).toMatchObject({ mockId });
      },
    );
    const runs = own.responder.found.map(uidOf);
    expect(runs.length - new Set(runs).size).toBe(0);
    console.log(`${KILLS} kills: ${accepted.size} accepted, ${keyed.size} keyed, ${runs.length} ran`);
  },
  120_000 + KILLS * 15_000,
);

/** All that are in doubt, and 500 of those that are not. */
function some<K, V>(all: ReadonlyMap<K, V>, isSure: (value: V) => boolean): [K, V][] {
  let left = 500;
  return [...all].filter(([, value]) => !isSure(value) || left-- > 0);
}

async function inParts<T>(list: readonly T[], look: (each: T) => Promise<void>): Promise<void> {
  for (let first = 0; first < list.length; first += 20) await Promise.all(list.slice(first, first + 20).map(look));
}

type Seen = { accepted: Map<string, { uid: number; settled: boolean }>; keyed: Map<number, string | null> };

/** Calls of every kind until the service is gone. */
async function callUntilKilled(nextUid: () => number, { accepted, keyed }: Seen): Promise<void> {
  const loops = [
    async () => {
      const uid = nextUid();
      const { status, json } = await run(uid, { prefer: 'respond-async' });
      if (status === 202) accepted.set(json.mockId, { uid, settled: false });
      await delay(50); // nothing holds back one who does not wait for answers, and a full queue would run none
    },
    async () => {
      const uid = nextUid();
      keyed.set(uid, null);
      const { status, json } = await run(uid, { 'idempotency-key': `key-${uid}` }).catch((error) => {
        if (errnoOf(error) === 'ECONNREFUSED') keyed.delete(uid); // it was not sent
        throw error;
      });
      if (status === 200) keyed.set(uid, json.mockId);
    },
    async () => {
      const uid = nextUid();
      const { status, json } = await run(uid);
      if (status === 200) accepted.set(json.mockId, { uid, settled: true });
    },
  ];
  await Promise.all(
    loops.map(async (loop) => {
      while (own.service.isRunning) await loop().catch(() => {});
    }),
  );
}
