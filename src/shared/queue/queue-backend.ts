import type { Fault } from '../reasons/causes.ts';
import type { RegisteredDirectory } from '../store/registered-directory.ts';
import type { Stores } from '../store/stores.ts';
import type { OpenWorker, Queue } from './queue.ts';
import type { WorkerRegistry } from './worker-registry.ts';

/**
 * An id of the queue store's present run: another one after each restart and each fail-over, when it may have forgotten what was
 * written last. `last`: as of when the present connection was made, undefined without one. `ask`: as of now.
 */
export type StoreRun = { last(): string | undefined; ask(): Promise<string | undefined> };

/** `onError`: the store refused, or its connection failed. `onDisconnect`: the connection of this queue is lost; one in this process never is. */
export type QueueOptions = { onError?: (error: unknown) => void; onDisconnect?: () => void };

/** A message to all who listen. Best effort: who does not hear it goes on without it. */
export type Message = Record<string, string>;
export type Sender = { send(message: Message): Promise<unknown>; close(): Promise<void> };
export type Listening = { close(): Promise<void> };

/** The queue store, and everything that depends on which one it is: no other file asks. */
export type QueueBackend = Stores & {
  /** The kind and the address of the queue store, without credentials. */
  where: string;
  /** Rejects when a reply takes too long: for a last look, when a deadline is over already. */
  inTime<T>(reply: Promise<T>): Promise<T>;
  /** Resolves once the queue store was reached for the first time. */
  connected: Promise<void>;
  /** Resolves, once the queue store was reached for the first time, to why it can never serve; to undefined if it can. */
  examined: Promise<string | undefined>;
  /** Rejects unless the queue store answers and takes writes. */
  probe(): Promise<void>;
  /** Why the queue store has no room for more, and what to do; null when it has. Quick enough to be asked at each call. */
  full(): Fault | null;
  /** A number that changes whenever anything comes from the queue store, on any connection. */
  lastActivity(): number;
  run: StoreRun;
  workers: WorkerRegistry;
  /** Whether other processes use this queue store, too. */
  isShared: boolean;
  directory: RegisteredDirectory;
  openQueue<Data>(name: string, options?: QueueOptions): Queue<Data>;
  openWorker: OpenWorker;
  /** Keeps the newest `maxKept` messages for those who listen from the start. */
  openSender(name: string, maxKept: number): Sender;
  /** Hears messages from now on, or with `fromStart` also those that are still there. */
  listen(name: string, onMessage: (message: unknown) => void, options?: { fromStart?: boolean }): Listening;
  close(): Promise<void>;
};
