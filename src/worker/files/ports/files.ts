import { perProcess } from '../../../shared/ports/process.ts';
import { nodeFiles } from './node-files.ts';
import type { Files, WriteOptions } from './operations.ts';

/** The files of the process that runs now. */
export const filesOf = perProcess((): Files => nodeFiles);

export const access = (path: string, mode?: number) => filesOf().access(path, mode);
export const chmod = (path: string, mode: number) => filesOf().chmod(path, mode);
export const lstat = (path: string) => filesOf().lstat(path);
export const mkdir = (path: string, options?: { mode?: number }) => filesOf().mkdir(path, options);
export const open = (path: string, flags: string | number, mode?: number) => filesOf().open(path, flags, mode);
export const opendir = (path: string) => filesOf().opendir(path);
export const readdir = (path: string) => filesOf().readdir(path);
export const readEntries = (path: string) => filesOf().readEntries(path);
export const readFile = (path: string) => filesOf().readFile(path);
export const readlink = (path: string) => filesOf().readlink(path);
export const realpath = (path: string) => filesOf().realpath(path);
export const rename = (from: string, to: string) => filesOf().rename(from, to);
export const rm = (path: string, options: { recursive?: boolean; force?: boolean }) => filesOf().rm(path, options);
export const rmdir = (path: string) => filesOf().rmdir(path);
export const stat = (path: string) => filesOf().stat(path);
export const statfs = (path: string) => filesOf().statfs(path);
export const writeFile = (path: string, text: string, options?: WriteOptions) =>
  filesOf().writeFile(path, text, options);
