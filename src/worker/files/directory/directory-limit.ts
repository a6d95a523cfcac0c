import { perProcess } from '../../../shared/seams/process.ts';
import { time } from '../../../shared/seams/time.ts';
import { createConcurrencyLimit } from '../concurrency-limit.ts';
import { mountPointOf } from '../mounts.ts';
import { nameOf } from './handle-names.ts';

/** At least this many operations may run in each directory. If it hangs, it holds only this many threads. */
export const AT_ONCE = 2;
/** This many may run in a directory whose operations end soon: over a network each is mostly a wait for the other side. */
const AT_MOST = 8;
/** At most this many beyond `AT_ONCE` run in all directories together, so that directories that begin to hang leave threads for the others. */
const EXTRA_IN_ALL = 16;
/** In all directories of one mount below the shared directory: if it hangs, it leaves threads for the others, however many they are. */
const AT_MOST_ON_MOUNT = 16;
const SOON_MS = 250;
const HANGS_AFTER_MS = 3000;

type Operation = { at: number; isExtra: boolean };
type Limited = { waiting: ((begun: Operation) => void)[]; begun: Set<Operation> };
type Limits = {
  ofDirectory: Map<string, Limited>;
  extras: number;
  ofMount: Map<string, ReturnType<typeof createConcurrencyLimit>>;
};
const limits = perProcess((): Limits => ({ ofDirectory: new Map(), extras: 0, ofMount: new Map() }));

/**
 * Runs one file operation in a directory, or at the directory itself, in the order they come: two at a time, and more where they
 * end soon. The operation must not wait for another one of the same directory.
 */
export async function limitedByDirectory<T>(path: string, task: () => Promise<T>): Promise<T> {
  const directory = nameOf(path);
  const all = limits();
  const limit: Limited = all.ofDirectory.get(directory) ?? { waiting: [], begun: new Set() };
  all.ofDirectory.set(directory, limit);
  const operation = mayBegin(limit, all)
    ? begin(limit, all)
    : await new Promise<Operation>((go) => limit.waiting.push(go));
  try {
    return await onMount(directory, task);
  } finally {
    limit.begun.delete(operation);
    if (operation.isExtra) all.extras--;
    while (limit.waiting.length > 0 && mayBegin(limit, all)) limit.waiting.shift()?.(begin(limit, all));
    if (limit.begun.size === 0) all.ofDirectory.delete(directory);
  }
}

/** One mount may have many directories. */
function onMount<T>(directory: string, task: () => Promise<T>): Promise<T> {
  const mount = mountPointOf(directory);
  if (mount === null) return task();
  const { ofMount } = limits();
  const run = ofMount.get(mount) ?? createConcurrencyLimit(AT_MOST_ON_MOUNT);
  ofMount.set(mount, run);
  return run(task);
}

function begin({ begun }: Limited, all: Limits): Operation {
  const operation = { at: time.monotonic(), isExtra: begun.size >= AT_ONCE };
  begun.add(operation);
  if (operation.isExtra) all.extras++;
  return operation;
}

function mayBegin({ begun }: Limited, { extras }: Limits): boolean {
  if (begun.size < AT_ONCE) return true;
  const before = time.monotonic() - SOON_MS;
  return begun.size < AT_MOST && extras < EXTRA_IN_ALL && [...begun].every(({ at }) => at > before);
}

/** The directories in which a file operation does not come to its end. */
export function hangingDirectories(): string[] {
  const before = time.monotonic() - HANGS_AFTER_MS;
  const hanging = [...limits().ofDirectory].filter(([, { begun }]) => [...begun].some(({ at }) => at < before));
  return hanging.map(([directory]) => directory);
}
