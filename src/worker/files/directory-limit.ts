import { readlinkSync } from 'node:fs';

/** At least this many operations may run in each directory. If it hangs, it holds only this many threads. */
export const AT_ONCE = 2;
/** This many may run in a directory whose operations end soon: over a network each is mostly a wait for the other side. */
const AT_MOST = 8;
/** At most this many beyond `AT_ONCE` run in all directories together, so that directories that begin to hang leave threads for the others. */
const EXTRA_IN_ALL = 16;
const SOON_MS = 250;
const HANGS_AFTER_MS = 3000;

type Operation = { at: number; isExtra: boolean };
type Limited = { waiting: ((begun: Operation) => void)[]; begun: Set<Operation> };
const limits = new Map<string, Limited>();
let extras = 0;

/** The name for looks at a directory itself: whoever waits for one may hold the places of what is done in it. */
export const underOwnName = (directory: string) => `${directory}/`;

/** Runs file operations of one directory in the order they come: two at a time, and more where they end soon. */
export async function inDirectory<T>(directory: string, task: () => Promise<T>): Promise<T> {
  const limit: Limited = limits.get(directory) ?? { waiting: [], begun: new Set() };
  limits.set(directory, limit);
  const operation = mayBegin(limit) ? begin(limit) : await new Promise<Operation>((go) => limit.waiting.push(go));
  try {
    return await task();
  } finally {
    limit.begun.delete(operation);
    if (operation.isExtra) extras--;
    while (limit.waiting.length > 0 && mayBegin(limit)) limit.waiting.shift()?.(begin(limit));
    if (limit.begun.size === 0) limits.delete(directory);
  }
}

function begin({ begun }: Limited): Operation {
  const operation = { at: performance.now(), isExtra: begun.size >= AT_ONCE };
  begun.add(operation);
  if (operation.isExtra) extras++;
  return operation;
}

function mayBegin({ begun }: Limited): boolean {
  if (begun.size < AT_ONCE) return true;
  const before = performance.now() - SOON_MS;
  return begun.size < AT_MOST && extras < EXTRA_IN_ALL && [...begun].every(({ at }) => at > before);
}

/** The directories in which a file operation does not come to its end. */
export function hangingDirectories(): string[] {
  const before = performance.now() - HANGS_AFTER_MS;
  const hanging = [...limits].filter(([, { begun }]) => [...begun].some(({ at }) => at < before));
  return [...new Set(hanging.map(([directory]) => nameOf(directory)))];
}

/** The name of a directory that is used through its handle. The kernel knows it without asking the file system. */
function nameOf(directory: string): string {
  if (!directory.startsWith('/proc/self/fd/')) return directory.replace(/\/$/, '');
  try {
    return readlinkSync(directory);
  } catch {
    return directory;
  }
}
