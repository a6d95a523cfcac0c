import { perProcess } from '../../../shared/seams/process.ts';

/** The path of each directory that is open, by the path of its handle. Limits and mounts are looked up by the directory's own path. */
const HANDLE = /^\/proc\/self\/fd\/\d+/;
const namesOfHandles = perProcess(() => new Map<string, string>());

/** Notes that `handle` (`/proc/self/fd/N`) is open on `directory`; null: the handle is closed. */
export function nameHandle(handle: string, directory: string | null): void {
  if (directory === null) namesOfHandles().delete(handle);
  else namesOfHandles().set(handle, directory);
}

/** The name of a path, also of one that begins with the handle of a directory. */
export function nameOf(path: string): string {
  const [handle] = path.startsWith('/proc/') ? (HANDLE.exec(path) ?? []) : [];
  const directory = handle === undefined ? undefined : namesOfHandles().get(handle);
  return handle === undefined || directory === undefined ? path : directory + path.slice(handle.length);
}
