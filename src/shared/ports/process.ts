import { AsyncLocalStorage } from 'node:async_hooks';
import { hostname } from 'node:os';

/**
 * What belongs to one process: its state, and its ways to the world outside (files, time, chance). In a real process there is one of
 * each. The simulator runs many processes in one real one, and gives each its own.
 */
export type Process = {
  /** Runs a task, and everything that follows from it, in this process. */
  run<T>(task: () => T): T;
};

/** State that each process has of its own: `use()` is that of the process that runs now. */
type PerProcess<T> = {
  (): T;
  /** For `createProcess`: this one instead of the one that would be made. */
  as(value: T): Given;
};

type Slot = PerProcess<unknown>;
type Given = { slot: unknown; value: unknown };
type Values = Map<unknown, unknown>;

const simulated = new AsyncLocalStorage<Values>();

/** State and ways out of a process, made when they are first used. The only place where a module may keep something that changes. */
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

/** A process beside the real one. What is not given it makes anew, as a process does that starts. */
export function createProcess(...given: Given[]): Process {
  const values: Values = new Map(given.map(({ slot, value }) => [slot, value]));
  return { run: (task) => simulated.run(values, task) };
}

/** A name that no other process of this machine has now. */
export const processName = perProcess(() => `${hostname()}-${process.pid}`);
