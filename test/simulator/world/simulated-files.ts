import { constants } from 'node:fs';
import { errnoOf } from '../../../src/shared/runtime/errno.ts';
import type {
  Entry,
  Files,
  OpenDirectory,
  OpenFile,
  QuickFiles,
  Watch,
  WatchListener,
  WriteOptions,
} from '../../../src/worker/files/ports/operations.ts';
import { type Disk, failure, type SystemCalls } from './disk.ts';
import type { Gate } from './gate.ts';

/** Something changed in a directory that a process watches. */
export type Noticed = { process: string; directory: string; name: string };

export type SimulatedFilesOptions = {
  process: string;
  gate: Gate<Disk>;
  /** Decides when the watcher is told of an event, how often, or not at all; at once unless it is given. */
  onWatch?: (noticed: Noticed, deliver: () => void) => void;
  /** Where the process sees file systems over the network. */
  mounts?: readonly string[];
};

/** What chokidar keeps to itself: there is nothing to watch. */
const NOT_THERE = ['ENOENT', 'ENOTDIR'];
const WRITING = constants.O_CREAT | constants.O_TRUNC;

/**
 * The files of a simulated process. Each operation asks the gate once; one that is several system calls asks once for each between which
 * others may act: `writeFile` creates and then writes, `rm` removes one name after another, `opendir` opens and then lists.
 */
export function createSimulatedFiles({ process, gate, onWatch = atOnce, mounts = [] }: SimulatedFilesOptions): Files {
  const step =
    (writes: boolean) =>
    <T>(name: string, on: string[], act: (calls: SystemCalls) => T): Promise<T> =>
      gate({ process, port: 'files', name, on, writes }, (disk) => act(disk.as(process)));
  const [look, change] = [step(false), step(true)];
  const openStep = (path: string, flags: string | number, mode?: number) => {
    const writes = typeof flags === 'number' ? (flags & WRITING) !== 0 : !flags.startsWith('r');
    return step(writes)('open', [path], (calls) => calls.open(path, flags, mode));
  };

  async function open(path: string, flags: string | number, mode?: number): Promise<OpenFile> {
    const handle = await openStep(path, flags, mode);
    let isOpen = true;
    const own = (syscall: string) => {
      if (!isOpen) throw failure('EBADF', syscall); // its number may be another file's by now
      return handle;
    };
    return {
      stat: async () => look('fstat', [path], (calls) => calls.fstat(own('fstat'))),
      async read(buffer, offset, length, position) {
        const bytes = await look('read', [path], (calls) => calls.read(own('read'), length, position));
        return { bytesRead: bytes.copy(buffer, offset) };
      },
      write: async (text) => change('write', [path], (calls) => ({ bytesWritten: calls.write(own('write'), text) })),
      sync: async () => look('fsync', [path], (calls) => calls.sync(own('fsync'))),
      async close() {
        if (!isOpen) return;
        isOpen = false;
        await look('close', [], (calls) => calls.close(handle));
      },
    };
  }

  async function openDirectory(path: string, options: { noFollow: boolean }): Promise<OpenDirectory> {
    const handle = await look('openDirectory', [path], (calls) => calls.openDirectory(path, options));
    return {
      path: `/proc/self/fd/${handle}`,
      stat: () => look('fstat', [path], (calls) => calls.fstat(handle)),
      close: () => look('close', [], (calls) => calls.close(handle)),
    };
  }

  async function writeFile(path: string, text: string, { flag = 'w', mode }: WriteOptions = {}): Promise<void> {
    const handle = await openStep(path, flag, mode);
    let rest = Buffer.from(text);
    try {
      while (rest.length > 0) rest = rest.subarray(await change('write', [path], (calls) => calls.write(handle, rest)));
    } finally {
      await look('close', [], (calls) => calls.close(handle));
    }
  }

  async function opendir(path: string): Promise<AsyncIterable<Entry>> {
    const handle = await look('opendir', [path], (calls) => calls.openDirectory(path, { noFollow: false }));
    return {
      async *[Symbol.asyncIterator]() {
        try {
          yield* await look('readdir', [path], (calls) => calls.readEntriesOf(handle));
        } finally {
          await look('close', [], (calls) => calls.close(handle));
        }
      },
    };
  }

  async function rm(path: string, options: { recursive?: boolean; force?: boolean }): Promise<void> {
    const outcome = await change('rm', [path], (calls) => calls.beginRm(path, options));
    if (outcome === 'not empty') await removeAll(path);
  }

  /** As Node does it, though Node does not wait for one name before it begins with the next. What others remove meanwhile is all right. */
  async function removeAll(path: string): Promise<void> {
    const names = await look('readdir', [path], (calls) => calls.readdir(path)).catch(unlessGone);
    for (const name of names ?? []) {
      const child = `${path}/${name}`;
      const outcome = await change('rm', [child], (calls) => calls.removeIfEmpty(child));
      if (outcome === 'not empty') await removeAll(child);
    }
    await change('rmdir', [path], (calls) => calls.rmdir(path)).catch(unlessGone);
  }

  /** Deaf where there is no such directory, and until the watch is set up. */
  function watch(directory: string, listener: WatchListener): Watch {
    let isOpen = true;
    const deliver = (name: string) => isOpen && listener.event(name);
    const notice = (name: string) => onWatch({ process, directory, name }, () => void deliver(name));
    const watching = look('watch', [directory], (calls) => calls.watch(directory, notice)).catch((error) => {
      if (isOpen && !NOT_THERE.includes(errnoOf(error))) listener.error(error);
      return undefined;
    });
    watching.then((stop) => stop && isOpen && listener.armed());
    return {
      async close() {
        isOpen = false;
        watching.then((stop) => stop?.());
      },
    };
  }

  const quick: QuickFiles = {
    chmod: (path, mode) => change('chmod', [path], (calls) => calls.chmod(path, mode)),
    exists: (path) => look('exists', [path], (calls) => calls.exists(path)),
    lstat: (path) => look('lstat', [path], (calls) => calls.lstat(path)),
    open,
    openDirectory,
    rename: (from, to) => change('rename', [from, to], (calls) => calls.rename(from, to)),
    symlink: (target, path) => change('symlink', [path], (calls) => calls.symlink(target, path)),
    unlink: (path) => change('unlink', [path], (calls) => calls.unlink(path)),
    writeFile,
  };
  return {
    ...quick,
    access: (path, mode) => look('access', [path], (calls) => calls.access(path, mode)),
    mkdir: (path, options) => change('mkdir', [path], (calls) => calls.mkdir(path, options)),
    opendir,
    readdir: (path) => look('readdir', [path], (calls) => calls.readdir(path)),
    readEntries: (path) => look('readEntries', [path], (calls) => calls.readEntries(path)),
    readFile: (path) => look('readFile', [path], (calls) => calls.readFile(path)),
    readlink: (path) => look('readlink', [path], (calls) => calls.readlink(path)),
    realpath: (path) => look('realpath', [path], (calls) => calls.realpath(path)),
    rm,
    rmdir: (path) => change('rmdir', [path], (calls) => calls.rmdir(path)),
    stat: (path) => look('stat', [path], (calls) => calls.stat(path)),
    statfs: (path) => look('statfs', [path], (calls) => calls.statfs(path)),
    watch,
    atOnce: quick,
    mountList: () =>
      ['/ rw - ext4 disk', ...mounts.map((path) => `${path} rw - fuse.sshfs server`)]
        .map((mount) => `36 35 98:0 / ${mount} rw`)
        .join('\n'),
    hasHandles: true,
  };
}

function atOnce(_noticed: Noticed, deliver: () => void): void {
  deliver();
}

function unlessGone(error: unknown): undefined {
  if (errnoOf(error) !== 'ENOENT') throw error;
}
