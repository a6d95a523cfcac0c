import { existsSync } from 'node:fs';
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

/** A run as it began. `input`: its data as JSON, to be given back should the run block its client. `isDry`: it has no effects. */
type Beginning = { mockId: string; resultPath: string; executeAt: number; input: string; isDry: boolean };

type Options = Omit<HeartSettings, 'pulse' | 'dataField'> & { onError: (error: unknown) => void };

/** This file as it is in the repository, not compiled. */
const isSource = import.meta.url.endsWith('.ts');
const sourceOfThread = import.meta.url.replace(/heart\.ts$/, 'heart-thread.ts');
const PULSE_MS = 100;
const RESTART_MS = 1000;

export type Heart = ReturnType<typeof startHeart>;

/**
 * A small thread that beats while rules run, and answers for a run that blocks the event loop past its time. It is started
 * again should it end. Throws where a bundler left the thread behind: without it the client would be offline to everybody.
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
    const how = { workerData: settings, execArgv: [] };
    // Written out in one piece: so bundlers see that the thread is a file of its own.
    const started = isSource
      ? new Worker(new URL(sourceOfThread), how)
      : new Worker(new URL('./heart-thread.js', import.meta.url), how);
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

export function mustBeThere(): void {
  if (!isSource && !existsSync(new URL('./heart-thread.js', import.meta.url)))
    throw new Error(
      'heart-thread.js, the thread that beats for this client, is not beside the bundle: tell the bundler that rule-server-client is external, or copy that file there.',
    );
}
