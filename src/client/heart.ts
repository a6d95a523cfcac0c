import { Worker } from 'node:worker_threads';
import { DATA_FIELD } from '../shared/contract/data-field.ts';
import { type FlightRecord, newFlightMemory, openFlightRecord } from './flight-record.ts';
import type { Places } from './places.ts';

/** What the thread is started with. */
export type HeartSettings = {
  places: Places;
  registration: string;
  loadedVersion: bigint;
  heartbeatMs: number;
  ruleTimeoutMs: number;
  dataField: string;
  /** Grows as long as the main thread is not blocked. */
  pulse: SharedArrayBuffer;
};

/** What the thread is told. */
export type HeartMessage =
  | { kind: 'loaded'; version: bigint }
  | ({ kind: 'began'; memory: SharedArrayBuffer } & Beginning)
  | { kind: 'ended'; mockId: string };

/** A run as it began. `input`: its data as JSON, to be given back should the run block its client. */
type Beginning = { mockId: string; resultPath: string; executeAt: number; input: string };

type Options = Omit<HeartSettings, 'pulse' | 'dataField'> & { onError: (error: unknown) => void };

const PULSE_MS = 100;
const RESTART_MS = 1000;

export type Heart = ReturnType<typeof startHeart>;

/**
 * A small thread that beats while rules run, and answers for a run that blocks the event loop past its time. It is started
 * again should it end.
 */
export function startHeart({ onError, ...options }: Options) {
  const pulse = new SharedArrayBuffer(4);
  const count = new Int32Array(pulse);
  const pulses = setInterval(() => Atomics.add(count, 0, 1), PULSE_MS).unref();
  const open = new Map<string, HeartMessage>();
  const settings: HeartSettings = { ...options, pulse, dataField: DATA_FIELD };
  let restart: NodeJS.Timeout | undefined;
  let closed = false;
  let thread = start();

  function start(): Worker {
    // Beside this file, whether it runs as it is or was compiled.
    const file = import.meta.url.endsWith('.ts') ? './heart-thread.ts' : './heart-thread.js';
    const started = new Worker(new URL(file, import.meta.url), { workerData: settings, execArgv: [] });
    started.on('message', (message: unknown) => onError(new Error(String(message))));
    started.on('error', onError);
    started.on('exit', () => {
      if (closed) return;
      restart = setTimeout(() => {
        thread = start();
      }, RESTART_MS);
    });
    for (const began of open.values()) started.postMessage(began);
    return started;
  }

  return {
    /** Another version of the rules was loaded: the next heartbeat, at once, says so. */
    loaded(version: bigint): void {
      settings.loadedVersion = version;
      thread.postMessage({ kind: 'loaded', version } satisfies HeartMessage);
    },

    /** A run began. Whoever claims its record first, here or on the thread, answers. */
    began(run: Beginning): FlightRecord {
      const record = openFlightRecord(newFlightMemory());
      const began: HeartMessage = { kind: 'began', ...run, memory: record.memory };
      open.set(run.mockId, began);
      thread.postMessage(began);
      return record;
    },

    ended(mockId: string): void {
      open.delete(mockId);
      thread.postMessage({ kind: 'ended', mockId } satisfies HeartMessage);
    },

    async close(): Promise<void> {
      closed = true;
      clearInterval(pulses);
      clearTimeout(restart);
      await thread.terminate();
    },
  };
}
