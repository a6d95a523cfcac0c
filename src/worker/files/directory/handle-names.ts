import { perProcess } from '../../../shared/seams/process.ts';

/** The directories that are used through a handle, by the path of the handle: to every limit and mount they are known by their own name. */
const HANDLE = /^\/proc\/self\/fd\/\d+/;
const namesOfHandles = perProcess(() => new Map<string, string>());

/** From now on `handle` (`/proc/self/fd/N`) stands for a directory; for none when `directory` is null. */
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
