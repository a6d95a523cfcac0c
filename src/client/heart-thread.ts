import { access, mkdir } from 'node:fs/promises';
import { parentPort, workerData } from 'node:worker_threads';
import type { HeartMessage, HeartSettings } from './heart.ts';
import { printHeartbeat } from './registration.ts';
import { repeat } from './repeat.ts';
import { replaceFile } from './replace-file.ts';
import { printFailed, putAnswer } from './requests/put-answer.ts';
import { openFlightRecord } from './runs/flight-record.ts';

/**
 * The thread that beats for a client, so that a rule that blocks the main thread does not make it look gone. The main thread counts a pulse that
 * both share. Where it stands still for longer than a rule may take, this thread answers for that run; beyond another beat it stops to beat.
 */

type Began = Extract<HeartMessage, { kind: 'began' }>;

const settings: HeartSettings = workerData;
const { places, ruleTimeoutMs, heartbeatMs } = settings;
const pulse = new Int32Array(settings.pulse);
const open = new Map<string, Began>();
let { loadedVersion } = settings;
let lastPulse = { count: Atomics.load(pulse, 0), at: Date.now() };

/** The main thread answers a rule that takes too long by itself. This thread does so once the limit is over by this much. */
const GRACE_MS = Math.min(1000, Math.ceil(ruleTimeoutMs / 4));
const CHECK_MS = Math.min(250, Math.ceil(ruleTimeoutMs / 4));

parentPort?.on('message', (message: HeartMessage) => {
  switch (message.kind) {
    case 'registered':
      settings.registration = message.registration;
      startBeating();
      break;
    case 'began':
      open.set(message.mockId, message);
      break;
    case 'ended':
      open.delete(message.mockId);
      break;
    case 'loaded':
      loadedVersion = message.version;
      beat().catch(report);
  }
});
if (settings.registration !== null) startBeating();
repeat(CHECK_MS, answerForTheBlocked, report);
parentPort?.postMessage({ alive: true });

function startBeating(): void {
  repeat(heartbeatMs, beat, report);
}

async function beat(): Promise<void> {
  // A process that will not run a rule any more must not look as if it would.
  if (blockedForMs() > ruleTimeoutMs + heartbeatMs) return;
  await mkdir(places.home, { recursive: true });
  const { registration } = settings;
  if (registration !== null && !(await exists(places.registration)))
    await replaceFile(places.registration, registration);
  await replaceFile(places.heartbeat, printHeartbeat(loadedVersion));
}

async function answerForTheBlocked(): Promise<void> {
  blockedForMs();
  for (const { mockId, resultPath, executeAt, memory, input, isDry } of [...open.values()]) {
    if (Date.now() - executeAt < ruleTimeoutMs + GRACE_MS) continue;
    open.delete(mockId);
    const record = openFlightRecord(memory);
    if (!record.claim()) continue;
    const error = `the rule did not end within ${ruleTimeoutMs} ms and blocks its client: node ${record.lastNode()} ran last`;
    // The numbers of the input stay as they were written.
    const told = { data: input, process: JSON.stringify(record.process()), isDry };
    const answer = printFailed({ mockId, executeAt, error, ...told });
    await putAnswer(resultPath, mockId, answer, { forMs: ruleTimeoutMs, onError: report });
  }
}

/** How long the main thread has not come round to anything. */
function blockedForMs(): number {
  const count = Atomics.load(pulse, 0);
  if (count !== lastPulse.count) lastPulse = { count, at: Date.now() };
  return Date.now() - lastPulse.at;
}

function report(error: unknown): void {
  parentPort?.postMessage(error instanceof Error ? error.message : String(error));
}

const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );
