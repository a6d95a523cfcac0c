// Not `{ Worker }`: webpack writes code that does not run for a thread of an imported name.
import threads, { type Worker } from 'node:worker_threads';
import type { Places } from './places.ts';
import { type FlightRecord, newFlightMemory, openFlightRecord } from './runs/flight-record.ts';

/** The thread's start data. */
export type HeartSettings = {
  places: Places;
  /** Null until the client is registered: from then on the thread beats. */
  registration: string | null;
  loadedVersion: bigint;
  heartbeatMs: number;
  ruleTimeoutMs: number;
  /** Grows as long as the main thread is not blocked. */
  pulse: SharedArrayBuffer;
};

/** The messages to the thread. */
export type HeartMessage =
  | { kind: 'registered'; registration: string }
  | { kind: 'loaded'; version: bigint }
  | ({ kind: 'began'; memory: SharedArrayBuffer } & Beginning)
  | { kind: 'ended'; mockId: string };

/** A run as it began. `input`: its data as JSON, to be given back should the run block its client. `isDry`: it has no effects. */
type Beginning = { mockId: string; resultPath: string; executeAt: number; input: string; isDry: boolean };

type Options = Omit<HeartSettings, 'registration' | 'pulse'> & { onError: (error: unknown) => void };

/** This file as it is in the repository, not compiled. */
const isSource = import.meta.url.endsWith('.ts');
const sourceOfThread = import.meta.url.replace(/heart\.ts$/, 'heart-thread.ts');
const PULSE_MS = 100;
const RESTART_MS = 1000;
const START_WITHIN_MS = 10_000;

export type Heart = Awaited<ReturnType<typeof startHeart>>;

/**
 * A small thread that beats once its client is registered, while rules run too, and answers for a run that blocks the event loop past its
 * time. It is started again should it end. Rejects where it cannot start, as where a bundler left it behind: without it the
 * client would be offline to everybody.
 */
export async function startHeart({ onError, ...options }: Options) {
  const pulse = startPulse();
  const open = new Map<string, HeartMessage>();
  const settings: HeartSettings = { ...options, registration: null, pulse: pulse.memory };
  const thread = await startThread({ settings, onError, onRestart: (tell) => open.forEach(tell) }).catch((cause) => {
    pulse.stop();
    throw new Error(CANNOT_START, { cause });
  });

  return {
    /** The client is registered: from now on the thread beats. */
    registered(registration: string): void {
      settings.registration = registration;
      thread.tell({ kind: 'registered', registration });
    },

    /** Another version of the rules was loaded: the next heartbeat, at once, says so. */
    loaded(version: bigint): void {
      settings.loadedVersion = version;
      thread.tell({ kind: 'loaded', version });
    },

    /** A run began. Whoever claims its record first, here or on the thread, answers. */
    began(run: Beginning): FlightRecord {
      const record = openFlightRecord(newFlightMemory());
      const began: HeartMessage = { kind: 'began', ...run, memory: record.memory };
      open.set(run.mockId, began);
      thread.tell(began);
      return record;
    },

    ended(mockId: string): void {
      open.delete(mockId);
      thread.tell({ kind: 'ended', mockId });
    },

    async close(): Promise<void> {
      pulse.stop();
      await thread.close();
    },
  };
}

/** Grows in shared memory as long as this thread is not blocked. */
function startPulse() {
  const memory = new SharedArrayBuffer(4);
  const count = new Int32Array(memory);
  const pulses = setInterval(() => Atomics.add(count, 0, 1), PULSE_MS).unref();
  return { memory, stop: () => clearInterval(pulses) };
}

type Starting = {
  settings: HeartSettings;
  onError: (error: unknown) => void;
  /** Tells the thread that takes the place of another one what the other one knew. */
  onRestart: (tell: (message: HeartMessage) => void) => void;
};

/** Starts the thread, and starts it again whenever it ends. Rejects when it does not start the first time. */
async function startThread({ settings, onError, onRestart }: Starting) {
  let restart: NodeJS.Timeout | undefined;
  let closed = false;
  let thread = start();
  await signOfLife(thread);
  watch(thread);

  function start(): Worker {
    const how = { workerData: settings, execArgv: [] };
    // Written out in one piece: so bundlers see that the thread is a file of its own.
    return isSource
      ? new threads.Worker(new URL(sourceOfThread), how)
      : new threads.Worker(new URL('./heart-thread.js', import.meta.url), how);
  }

  function watch(started: Worker): void {
    started.on('message', (message: unknown) => {
      if (typeof message === 'string') onError(new Error(message));
    });
    started.on('error', onError);
    started.on('exit', () => {
      if (!closed) restart = setTimeout(startAgain, RESTART_MS);
    });
  }

  function startAgain(): void {
    thread = start();
    watch(thread);
    onRestart(tell);
  }

  function tell(message: HeartMessage): void {
    thread.postMessage(message);
  }

  return {
    tell,
    async close(): Promise<void> {
      closed = true;
      clearTimeout(restart);
      await thread.terminate();
    },
  };
}

const CANNOT_START =
  'heart-thread.js, the thread that beats for this client, does not start: in a bundle, tell the bundler that rule-server-client is external.';

/** Rejects when the thread fails or ends first, or says nothing for too long; it is ended then. */
async function signOfLife(thread: Worker): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const tooLong = setTimeout(() => reject(new Error(`it says nothing within ${START_WITHIN_MS} ms`)), START_WITHIN_MS);
  thread.once('message', () => resolve());
  thread.once('error', reject);
  thread.once('exit', () => reject(new Error('it ended')));
  try {
    await promise;
  } catch (error) {
    await thread.terminate();
    throw error;
  } finally {
    clearTimeout(tooLong);
  }
}
