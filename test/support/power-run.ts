import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { callsAt } from './calls-at.ts';
import { freePort } from './free-port.ts';
import { httpCall } from './http-call.ts';
import { SETTLED } from './lost-power.ts';
import { removed } from './mounting.ts';
import { type Journal, mountRecorded, type RecordedMount } from './recorded-mount.ts';
import { answersAfter, createResponder, type FoundRequest, type Responder } from './responder.ts';
import { type ServiceProcess, startWholeProcess } from './start-process.ts';

export const APP = 7;
export const ADDRESS = 'client_recorded';
export const SETTINGS = {
  EMBEDDED_STORE: 'disk',
  HISTORY_COUNT: 100_000,
  // What is on the queue is carried out also where the next start is up to an hour later.
  QUEUE_TIMEOUT_MS: 3_600_000,
  RESULT_TIMEOUT_MS: 20_000,
  CLIENT_TIMEOUT_MS: 30_000,
  // Fewer than there are calls, so that some wait and were never begun.
  WORKER_CONCURRENCY: 4,
  LOG_LEVEL: 'info',
};
const ON_OWN_DISK = `--import ${join(import.meta.dirname, 'on-own-disk.ts')}`;
const BOOT_ID = '/proc/sys/kernel/random/boot_id';

/** What callers were told, and what the client took, by some moment. */
export type Told = {
  /** By execution: was its end told as well? */
  accepted: Map<string, { isAnswered: boolean }>;
  /** By key: the execution, or null where no answer came. */
  keys: Map<number, string | null>;
  /** By uid: the execution that the client took. */
  taken: Map<number, string>;
};

export const uidOf = ({ text }: Pick<FoundRequest, 'text'>) => Number(/"uid":(\d+)/.exec(text)?.[1]);

/** What a service did to its shared directory under a load of so many ms, until it was killed. */
export async function recordRun(loadMs: number, settings: Record<string, string | number> = {}): Promise<Journal> {
  await using mount = await mountRecorded();
  const home = await mkdtemp(join(tmpdir(), 'rule-server-'));
  await mkdir(join(mount.path, 'mock'));
  const responder = await createResponder({
    ...{ sharedDir: mount.path, app: APP, address: ADDRESS, lookEveryMs: 10 },
    does: takesWith(mount),
  });
  try {
    const port = await freePort();
    const under = await onAnotherBoot(home);
    const start = () =>
      startWholeProcess({
        ...{ sharedDir: mount.path, port, under },
        settings: { ...SETTINGS, NODE_OPTIONS: ON_OWN_DISK, ...settings },
      });
    // The first start makes the folders. It is long over when the power fails.
    await using first = await start();
    await callsAt(() => port, APP).listens();
    await first.terminate();
    await mount.mark(SETTLED);
    await using service = await start();
    await callsAt(() => port, APP).listens();
    const calls = callUntilKilled(service, { mount, port, responder });
    await delay(loadMs);
    await service.kill();
    await calls;
    return await mount.journal();
  } finally {
    await responder.stop();
    await removed(home);
  }
}

/** A program runs as if it did before the machine was started last: the store asks the kernel which start it is. */
async function onAnotherBoot(home: string): Promise<string[]> {
  const path = join(home, 'boot_id');
  await writeFile(path, '00000000-0000-4000-8000-000000000000\n');
  return ['unshare', '--mount', 'sh', '-c', `mount --bind "$0" ${BOOT_ID} && exec "$@"`, path];
}

/** Clients delete a request before they run it: from then on it is taken. */
function takesWith({ mark }: RecordedMount) {
  return async (request: FoundRequest, responder: Responder) => {
    const { pickUp } = request;
    const marked = async () => {
      await pickUp();
      await mark(`taken ${uidOf(request)} ${request.mockId}`);
    };
    const forMs = (uidOf(request) * 7) % 60;
    await answersAfter(forMs)({ ...request, pickUp: marked }, responder);
  };
}

type Load = { mount: RecordedMount; port: number; responder: Responder };

/** Calls of every kind until the service is gone; each answer is marked once it is there. */
async function callUntilKilled(service: ServiceProcess, { mount: { mark }, port }: Load): Promise<void> {
  const { run, url } = callsAt(() => port, APP);
  let last = 0;
  const plain = async () => {
    const { status, json } = await run(++last);
    if (status === 200) await mark(`answered ${json.mockId}`);
  };
  const async = async () => {
    const { status, json } = await run(++last, { prefer: 'respond-async' });
    if (status === 202) await mark(`accepted ${json.mockId}`);
    const hasEnded = async () => (await httpCall(url(`executions/${json.mockId}`))).json.ending !== null;
    for (let looks = 0; looks < 50; looks++) {
      await delay(10);
      if (!(await hasEnded())) continue;
      await mark(`answered ${json.mockId}`);
      break;
    }
  };
  const keyed = async () => {
    const uid = ++last;
    await mark(`sent ${uid}`);
    const { status, json } = await run(uid, { 'idempotency-key': `key-${uid}` });
    if (status === 200) await mark(`keyed ${uid} ${json.mockId}`);
  };
  const loops = [plain, plain, async, async, async, keyed, keyed, keyed, keyed];
  await Promise.all(
    loops.map(async (loop) => {
      while (service.isRunning) await loop().catch(() => {});
    }),
  );
}

/** What the marks before a change say. */
export function toldBefore({ changes }: Journal, cut: number): Told {
  const told: Told = { accepted: new Map(), keys: new Map(), taken: new Map() };
  for (const change of changes.slice(0, cut)) {
    if (change.op !== 'mark') continue;
    const [what, first = '', mockId = ''] = change.text.split(' ');
    if (what === 'accepted') told.accepted.set(first, { isAnswered: false });
    if (what === 'answered') told.accepted.set(first, { isAnswered: true });
    if (what === 'sent') told.keys.set(Number(first), null);
    if (what === 'taken') told.taken.set(Number(first), mockId);
    if (what !== 'keyed') continue;
    told.keys.set(Number(first), mockId);
    told.accepted.set(mockId, { isAnswered: true });
  }
  return told;
}
