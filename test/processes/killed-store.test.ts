import { mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { errnoOf } from '../../src/shared/runtime/errno.ts';
import { callsAt } from '../support/calls-at.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { httpCall } from '../support/http-call.ts';
import { answersAfter, createResponder, type Responder } from '../support/responder.ts';
import { type ServiceProcess, startWholeProcess } from '../support/start-process.ts';

/** So often the service is killed: a few times at every run, 200 times on demand. */
const KILLS = Number(process.env.STORE_KILLS ?? 4);
const APP = 7;
const SETTINGS = {
  EMBEDDED_STORE: 'disk',
  HISTORY_COUNT: 100_000,
  QUEUE_TIMEOUT_MS: 5000,
  RESULT_TIMEOUT_MS: 4000,
  CLIENT_TIMEOUT_MS: 30_000,
  LOG_LEVEL: 'info',
};

let sharedDir = '';
let port = 0;
let service: ServiceProcess;
let responder: Responder;

beforeEach(async () => {
  sharedDir = await mkdtemp(join(tmpdir(), 'rule-server-'));
  await mkdir(join(sharedDir, 'mock'));
  port = await freePort();
  responder = await createResponder({ sharedDir, app: APP, does: answersAfter(30) });
});
afterEach(async () => {
  await service?.kill();
  await responder.stop();
});

const start = async (untilReady = true) => {
  service = await startWholeProcess({ sharedDir, port, settings: SETTINGS, untilReady });
};
/** Also that it listens: the worker takes jobs a moment earlier. */
const startAndListen = async () => {
  await start();
  await listens();
};
const { url, run, listens } = callsAt(() => port, APP);
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
      const before = responder.found.length;
      const calls = callUntilKilled(() => ++uid, { accepted, keyed });
      // A busy machine needs a while for the first execution, and kills before it show nothing of those that run.
      if (untilReady) await eventually(() => expect(responder.found.length).toBeGreaterThan(before), 60_000);
      await delay(Math.random() * (untilReady ? 1500 : 4000));
      await service.kill();
      await calls;
      expect(service.noise.filter((line) => !/^$|^The rule server runs|^ {2}|^Run a rule/.test(line))).toEqual([]);
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
    const runs = responder.found.map(uidOf);
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
      while (service.isRunning) await loop().catch(() => {});
    }),
  );
}
