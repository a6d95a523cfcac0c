import { AsyncLocalStorage } from 'node:async_hooks';
import * as crypto from 'node:crypto';
import { hostname } from 'node:os';

/**
 * The state and the ports (files, time, chance) of one process. A real process has one of each; the simulator runs many simulated processes
 * in one real one, each with its own.
 */
export type Process = {
  /** Runs a task, and everything it starts, as this process. */
  run<T>(task: () => T): T;
};

/** State per process: `use()` returns that of the current process. */
type PerProcess<T> = {
  (): T;
  /** Overrides the value in `createProcess`. */
  as(value: T): Given;
};

type Slot = PerProcess<unknown>;
type Given = { slot: unknown; value: unknown };
type Values = Map<unknown, unknown>;

const simulated = new AsyncLocalStorage<Values>();

/** Created on first use. The only place where a module may keep mutable state (`lint/past-ports.ts`). */
export function perProcess<T>(make: () => T): PerProcess<T> {
  let own: { value: T } | undefined;

  function ofSimulated(values: Values): T {
    if (!values.has(use)) values.set(use, make());
    return values.get(use) as T;
  }

  const use: PerProcess<T> = Object.assign(
    () => {
      const values = simulated.getStore();
      if (values) return ofSimulated(values);
      own ??= { value: make() };
      return own.value;
    },
    { as: (value: T): Given => ({ slot: use satisfies Slot, value }) },
  );
  return use;
}

/** A simulated process. What is not given is created anew, as in a process that starts. */
export function createProcess(...given: Given[]): Process {
  const values: Values = new Map(given.map(({ slot, value }) => [slot, value]));
  return { run: (task) => simulated.run(values, task) };
}

/** A name that no other process of this machine has now. */
export const processName = perProcess(() => `${hostname()}-${process.pid}`);

export type Random = {
  uuid(): string;
  /** So many random bytes, in hexadecimal digits. */
  hex(bytes: number): string;
  /** At least 0, less than 1. */
  fraction(): number;
};

const realRandom: Random = {
  uuid: () => crypto.randomUUID(),
  hex: (bytes) => crypto.randomBytes(bytes).toString('hex'),
  fraction: () => Math.random(),
};

export const randomOf = perProcess(() => realRandom);

export const random: Random = {
  uuid: () => randomOf().uuid(),
  hex: (bytes) => randomOf().hex(bytes),
  fraction: () => randomOf().fraction(),
};
