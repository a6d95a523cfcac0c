import { hash } from 'node:crypto';
import { constants } from 'node:fs';
import type { DiskSpace } from '../../../src/shared/runtime/disk-space.ts';
import type { Entry, FileStats } from '../../../src/worker/files/ports/operations.ts';

/**
 * A file system in memory, for the simulator: everything happens at once, the same calls lead to the same disk, and a call that fails
 * does so with the code that Linux has for it (`files-like-real.test.ts` compares them). Nobody lacks a permission here.
 */

const { O_WRONLY, O_RDWR, O_CREAT, O_EXCL, O_TRUNC, O_APPEND, O_DIRECTORY, O_NOFOLLOW, X_OK } = constants;
const FLAGS = new Map([
  ['r', 0],
  ['r+', O_RDWR],
  ['w', O_WRONLY | O_CREAT | O_TRUNC],
  ['wx', O_WRONLY | O_CREAT | O_TRUNC | O_EXCL],
  ['w+', O_RDWR | O_CREAT | O_TRUNC],
  ['wx+', O_RDWR | O_CREAT | O_TRUNC | O_EXCL],
  ['a', O_WRONLY | O_CREAT | O_APPEND],
  ['ax', O_WRONLY | O_CREAT | O_APPEND | O_EXCL],
  ['a+', O_RDWR | O_CREAT | O_APPEND],
]);
const EXT4 = 0xef53;
const ROOM: DiskSpace = { blocks: 1, bavail: 1, files: 1, ffree: 1 };
const MAX_NAME = 255;
const MAX_PATH = 4095;
const MAX_LINKS = 40;
const ROOT = 1;
/** What is not on the disk: the link to a handle, and a node before it is added. */
const OF_KERNEL = 0;
const SET_GROUP = 0o2000;
/** What Linux shows there, with what follows: a file that this process has open. */
const HANDLE = /^\/+proc\/+self\/+fd\/+(\d+)(?![^/])(.*)$/s;
/** A way through it is one link for `self` and one for the handle. */
const LINKS_TO_HANDLE = 2;
const TYPES = { file: constants.S_IFREG, directory: constants.S_IFDIR, link: constants.S_IFLNK };
const NOTHING = Buffer.alloc(0);

/** `id` is its own for ever; `ino`, which `stat` tells, may be that of an earlier one. */
type Common = { id: number; ino: number; mode: number; uid: number; mtimeMs: number; ctimeMs: number };
/** `names`: how many names in directories lead to it. The content is never changed, only replaced. */
type FileNode = Common & { kind: 'file'; names: number; content: Buffer };
type LinkNode = Common & { kind: 'link'; names: number; target: string };
/** One that was removed keeps its parent, as long as somebody has it open. */
type DirectoryNode = Common & { kind: 'directory'; parent: number; removed: boolean; entries: Map<string, number> };
type Node = FileNode | LinkNode | DirectoryNode;
type Handle = { id: number; flags: number; position: number };
type Watcher = { process: string; id: number; name: string; listener: (name: string) => void };

/**
 * Where a path leads: `node` is what stands there, if anything does. `last`: what the last part of the path is. `slash`: one follows it, so
 * only a directory is meant. `detour`: the way there leads through the handle of a removed directory.
 */
type Place = {
  last: 'name' | 'dot' | 'dots' | 'root' | 'handle';
  directory: DirectoryNode;
  name: string;
  node: Node | undefined;
  slash: boolean;
  detour: boolean;
  /** The name is longer than any may be. */
  tooLong?: boolean;
};

/** Whether a link in the last part of a path is followed; `unless slash`: not one with a slash behind it. */
type Follow = 'always' | 'never' | 'unless slash';

export type DiskOptions = {
  /** Epoch ms, for the times of files. */
  now: () => number;
  /** More than that is ENOSPC: bytes of content, and files, links and directories. */
  capacity?: { bytes?: number; nodes?: number };
  /** What `statfs` tells; ext4 unless it is given. */
  type?: number;
  umask?: number;
  /** The user of a process; root unless it is given. */
  uidOf?: (process: string) => number;
  /** As ext4 gives the number of a removed file to the next one, or as tmpfs never gives it again. */
  inodes?: 'reused' | 'never again';
  /** Another order of the names in each directory. */
  order?: number;
};

/** An empty disk. */
export function createDisk(options: DiskOptions): Disk {
  return new Disk(new Volume(options));
}

/** The error that Node makes of a failed system call: without a stack, as most of Node's have none. */
export function failure(code: string, syscall: string, path = ''): NodeJS.ErrnoException {
  const { stackTraceLimit } = Error;
  if (stackTraceLimit !== 0) Error.stackTraceLimit = 0;
  const error = Object.assign(new Error(`${code}: ${syscall} '${path}'`), { code, syscall, path });
  if (stackTraceLimit !== 0) Error.stackTraceLimit = stackTraceLimit;
  return error;
}

export class Disk {
  readonly #volume: Volume;
  readonly #calls = new Map<string, SystemCalls>();

  constructor(volume: Volume) {
    this.#volume = volume;
  }

  /** The system calls of one process, which sees its own handles at `/proc/self/fd`. */
  as(process: string): SystemCalls {
    const known = this.#calls.get(process);
    if (known) return known;
    const calls = new SystemCalls(this.#volume, process);
    this.#calls.set(process, calls);
    return calls;
  }

  /** The disk as it is now, with the handles of all processes; nobody watches the copy. */
  copy(): Disk {
    return new Disk(this.#volume.copy());
  }

  /** Gives an older copy the handles that `current` has now, so that a stale look through a newer handle finds its directory. */
  takeHandlesOf(current: Disk): void {
    this.#volume.handles = copyHandles(current.#volume.handles);
  }

  /** The end of a process: its handles are closed, and nobody watches for it any more. */
  endProcess(process: string): void {
    this.#volume.watchers = this.#volume.watchers.filter((watcher) => watcher.process !== process);
    const own = this.#volume.handles.get(process);
    this.#volume.handles.delete(process);
    for (const { id } of own?.values() ?? []) this.#volume.forgetUnlessUsed(id);
  }

  /**
   * What is on the disk and who has what open, the same for equal disks however they came about. `times` and `inodes` are part of it
   * only when asked for.
   */
  state({ times = false, inodes = false } = {}): string[] {
    return describe(this.#volume, { times, inodes });
  }

  /** A short key of `state`. */
  hash(parts: { times?: boolean; inodes?: boolean } = {}): string {
    return hash('sha1', JSON.stringify(this.state(parts)), 'base64url');
  }
}

/** The system calls of one process, by Node's names. */
export class SystemCalls {
  readonly #volume: Volume;
  readonly #process: string;

  constructor(volume: Volume, process: string) {
    this.#volume = volume;
    this.#process = process;
  }

  access(path: string, mode = 0): void {
    const node = this.#find('access', path);
    const isForbidden = (mode & X_OK) !== 0 && node.kind === 'file' && (node.mode & 0o111) === 0;
    if (isForbidden) throw failure('EACCES', 'access', path); // even for root
  }

  chmod(path: string, mode: number): void {
    const node = this.#find('chmod', path);
    node.mode = mode & 0o7777;
    this.#volume.changed(node);
    this.#volume.tellOf(node);
  }

  /** Sets the time of the last change. */
  utimes(path: string, mtimeMs: number): void {
    const node = this.#find('utime', path);
    node.mtimeMs = mtimeMs;
    this.#volume.changed(node);
    this.#volume.tellOf(node);
  }

  lstat(path: string): FileStats {
    return statsOf(this.#find('lstat', path, 'unless slash'));
  }

  stat(path: string): FileStats {
    return statsOf(this.#find('stat', path));
  }

  /** Whether something stands there; false also where a part of the path is missing. */
  exists(path: string): boolean {
    return this.#whether(['ENOENT', 'ENOTDIR'], () => this.lstat(path));
  }

  statfs(path: string): DiskSpace & { type: number } {
    this.#find('statfs', path);
    return { type: this.#volume.options.type ?? EXT4, ...ROOM };
  }

  mkdir(path: string, { mode = 0o777 }: { mode?: number } = {}): void {
    const place = this.#walk('mkdir', path, 'never');
    if (place.node || place.last !== 'name') throw failure('EEXIST', 'mkdir', path);
    const inherited = place.directory.mode & SET_GROUP;
    this.#make('mkdir', path, place, {
      ...this.#newNode((mode & 0o1777) | inherited),
      kind: 'directory',
      parent: place.directory.id,
      removed: false,
      entries: new Map(),
    });
  }

  symlink(target: string, path: string): void {
    if (target === '') throw failure('ENOENT', 'symlink', path);
    if (isLonger(target, MAX_PATH)) throw failure('ENAMETOOLONG', 'symlink', path);
    const place = this.#walk('symlink', path, 'never');
    if (place.node || place.last !== 'name') throw failure('EEXIST', 'symlink', path);
    if (place.slash) throw failure('ENOENT', 'symlink', path);
    this.#make('symlink', path, place, { ...this.#newNode(0), mode: 0o777, kind: 'link', names: 1, target });
  }

  /** One more name for a file. */
  link(existing: string, path: string): void {
    const node = this.#find('link', existing, 'unless slash');
    const place = this.#walk('link', path, 'never');
    if (place.node || place.last !== 'name') throw failure('EEXIST', 'link', path);
    if (place.slash) throw failure('ENOENT', 'link', path);
    if (place.directory.removed) throw failure('ENOENT', 'link', path);
    if (node.id === OF_KERNEL) throw failure('EXDEV', 'link', path);
    if (node.kind === 'directory') throw failure('EPERM', 'link', path);
    if (node.names === 0) throw failure('ENOENT', 'link', path);
    node.names++;
    this.#volume.changed(node);
    this.#volume.enter(place.directory, place.name, node);
  }

  unlink(path: string): void {
    const { last, directory, name, node, slash } = this.#walk('unlink', path, 'never');
    if (last === 'handle' && !slash) throw failure('EPERM', 'unlink', path);
    if (!node) throw failure('ENOENT', 'unlink', path);
    if (node.kind === 'directory' && last !== 'handle') throw failure('EISDIR', 'unlink', path);
    if (node.kind === 'directory' || slash) throw failure('ENOTDIR', 'unlink', path);
    this.#volume.leave(directory, name, node);
  }

  rmdir(path: string): void {
    const { last, directory, name, node } = this.#walk('rmdir', path, 'never');
    if (last === 'dots') throw failure('ENOTEMPTY', 'rmdir', path);
    if (last === 'dot') throw failure('EINVAL', 'rmdir', path);
    if (last === 'root') throw failure('EBUSY', 'rmdir', path);
    if (!node) throw failure('ENOENT', 'rmdir', path);
    if (last === 'handle' || node.kind !== 'directory') throw failure('ENOTDIR', 'rmdir', path);
    if (node.entries.size > 0) throw failure('ENOTEMPTY', 'rmdir', path);
    this.#volume.leave(directory, name, node);
  }

  rename(from: string, to: string): void {
    const source = this.#way('rename', from, 'never');
    const target = this.#way('rename', to, 'never');
    if (source.last === 'handle' || target.last === 'handle') throw failure('EXDEV', 'rename', from);
    if (source.last !== 'name' || target.last !== 'name') throw failure('EBUSY', 'rename', from);
    const node = source.node;
    if (source.tooLong) throw failure('ENAMETOOLONG', 'rename', from);
    if (!node || target.directory.removed) throw failure('ENOENT', 'rename', from);
    if (target.tooLong) throw failure('ENAMETOOLONG', 'rename', to);
    const code = this.#volume.refusalToMove(node, source, target);
    if (code) throw failure(code, 'rename', from);
    if (target.node !== node) this.#volume.move(node, source, target);
  }

  /** Opens a file or a directory, and returns the number of the handle. */
  open(path: string, flags: string | number = 'r', mode = 0o666): number {
    const bits = typeof flags === 'number' ? flags : FLAGS.get(flags);
    if (bits === undefined) throw failure('ERR_INVALID_ARG_VALUE', 'open', path);
    if (bits & O_CREAT && bits & O_DIRECTORY) throw failure('EINVAL', 'open', path);
    const node = this.#opened(path, bits, mode);
    return this.#volume.hold(this.#process, { id: node.id, flags: bits, position: 0 });
  }

  openDirectory(path: string, { noFollow }: { noFollow: boolean }): number {
    return this.open(path, O_DIRECTORY | (noFollow ? O_NOFOLLOW : 0));
  }

  fstat(handle: number): FileStats {
    return statsOf(this.#node('fstat', this.#handle('fstat', handle).id));
  }

  /** Reads up to `length` bytes, and returns those there are. */
  read(handle: number, length: number, position: number): Buffer {
    const { id, flags } = this.#handle('read', handle);
    const node = this.#node('read', id);
    if (flags & O_WRONLY) throw failure('EBADF', 'read');
    if (node.kind !== 'file') throw failure('EISDIR', 'read');
    return node.content.subarray(position, position + length);
  }

  /** Writes where the last write ended, and returns how many bytes found room. */
  write(handle: number, text: string | Buffer): number {
    const opened = this.#handle('write', handle);
    const node = this.#node('write', opened.id);
    if ((opened.flags & (O_WRONLY | O_RDWR)) === 0 || node.kind !== 'file') throw failure('EBADF', 'write');
    const bytes = Buffer.from(text);
    if (bytes.length === 0) return 0;
    const start = opened.flags & O_APPEND ? node.content.length : opened.position;
    const room = this.#volume.roomFor(node, start);
    if (room <= 0) throw failure('ENOSPC', 'write');
    const written = bytes.subarray(0, room);
    const before = Buffer.concat([node.content.subarray(0, start)], start); // a hole is filled with zeros
    node.content = Buffer.concat([before, written, node.content.subarray(start + written.length)]);
    opened.position = start + written.length;
    this.#volume.modified(node);
    return written.length;
  }

  sync(handle: number): void {
    this.#handle('fsync', handle);
  }

  close(handle: number): void {
    const { id } = this.#handle('close', handle);
    this.#volume.handles.get(this.#process)?.delete(handle);
    this.#volume.forgetUnlessUsed(id);
  }

  readdir(path: string): string[] {
    return this.readEntries(path).map(({ name }) => name);
  }

  readEntries(path: string): Entry[] {
    const node = this.#find('scandir', path);
    if (node.kind !== 'directory') throw failure('ENOTDIR', 'scandir', path);
    return this.#volume.entriesOf(node);
  }

  /** The entries of an open directory. */
  readEntriesOf(handle: number): Entry[] {
    const node = this.#node('scandir', this.#handle('scandir', handle).id);
    if (node.kind !== 'directory') throw failure('ENOTDIR', 'scandir');
    return this.#volume.entriesOf(node);
  }

  readFile(path: string): string {
    return this.#with(this.open(path), (handle) => this.read(handle, Number.MAX_SAFE_INTEGER, 0).toString());
  }

  writeFile(path: string, text: string, { flag = 'w', mode = 0o666 }: { flag?: string; mode?: number } = {}): void {
    const bytes = Buffer.from(text);
    this.#with(this.open(path, flag, mode), (handle) => {
      for (let done = 0; done < bytes.length; ) done += this.write(handle, bytes.subarray(done));
    });
  }

  readlink(path: string): string {
    const { last, node, slash } = this.#walk('readlink', path, path.endsWith('/') ? 'always' : 'never');
    if (!node) throw failure('ENOENT', 'readlink', path);
    if (last === 'handle' && !slash) return this.#volume.pathOf(node) ?? '(deleted)';
    if (slash && node.kind !== 'directory') throw failure('ENOTDIR', 'readlink', path);
    if (node.kind !== 'link') throw failure('EINVAL', 'readlink', path);
    return node.target;
  }

  realpath(path: string): string {
    const place = this.#walk('realpath', path, 'always');
    const node = this.#found('realpath', path, place);
    const directory = this.#volume.pathOf(place.directory);
    const real =
      place.last === 'name' && directory !== undefined ? under(directory, place.name) : this.#volume.pathOf(node);
    if (real === undefined || directory === undefined || place.detour) throw failure('ENOENT', 'realpath', path);
    return real;
  }

  /** Removes a file or an empty directory; `not empty` for another one. What is gone already counts as removed. */
  removeIfEmpty(path: string): 'removed' | 'not empty' {
    const isThere = this.#whether(['ENOENT'], () => this.lstat(path));
    if (!isThere) return 'removed';
    const isDirectory = this.lstat(path).isDirectory();
    if (!isDirectory) this.unlink(path);
    else if (!this.#whether(['ENOTEMPTY'], () => this.rmdir(path))) return 'not empty';
    return 'removed';
  }

  /** The first step of Node's `rm`: all of it, unless there is something in a directory. */
  beginRm(path: string, { recursive = false, force = false } = {}): 'removed' | 'not empty' {
    if (!this.#whether(force ? ['ENOENT'] : [], () => this.lstat(path))) return 'removed';
    if (!recursive && this.lstat(path).isDirectory()) throw failure('ERR_FS_EISDIR', 'rm', path);
    return this.removeIfEmpty(path);
  }

  rm(path: string, options: { recursive?: boolean; force?: boolean } = {}): void {
    if (this.beginRm(path, options) === 'removed') return;
    for (const name of this.readdir(path)) this.rm(`${path}/${name}`, options);
    this.rmdir(path);
  }

  /** Tells the name of what changes in a directory, as inotify does: of this very directory, wherever its name leads later. */
  watch(path: string, listener: (name: string) => void): () => void {
    const { id } = this.#find('watch', path);
    const watcher = { process: this.#process, id, name: path.replace(/\/+$/, '').replace(/.*\//s, ''), listener };
    this.#volume.watchers.push(watcher);
    return () => {
      this.#volume.watchers = this.#volume.watchers.filter((other) => other !== watcher);
    };
  }

  /**
   * The one name of the place that a path means, for the question whether two steps touch the same: without handles and without links in
   * all but its last part. Where the path leads nowhere, it is the path.
   */
  locate(path: string): string {
    try {
      const { last, directory, name, node } = this.#walk('locate', path, 'never');
      const at = last === 'name' ? directory : (node ?? directory);
      const found = this.#volume.pathOf(at) ?? `(removed ${at.id})`;
      return last === 'name' ? under(found, name) : found;
    } catch {
      return path;
    }
  }

  #with<T>(handle: number, use: (handle: number) => T): T {
    try {
      return use(handle);
    } finally {
      this.close(handle);
    }
  }

  #whether(codes: string[], look: () => unknown): boolean {
    try {
      look();
      return true;
    } catch (error) {
      if (error instanceof Error && 'code' in error && codes.includes(String(error.code))) return false;
      throw error;
    }
  }

  #handle(syscall: string, number: number): Handle {
    const found = this.#volume.handles.get(this.#process)?.get(number);
    if (!found) throw failure('EBADF', syscall);
    return found;
  }

  /** Missing only on a copy that is older than the handle. */
  #node(syscall: string, id: number): Node {
    const node = this.#volume.nodes.get(id);
    if (!node) throw failure('ENOENT', syscall);
    return node;
  }

  #newNode(mode: number): Common {
    const { now, umask = 0o022, uidOf = () => 0 } = this.#volume.options;
    const at = now();
    return { id: OF_KERNEL, ino: 0, mode: mode & ~umask, uid: uidOf(this.#process), mtimeMs: at, ctimeMs: at };
  }

  #make(syscall: string, path: string, { directory, name }: Place, node: Node): void {
    if (directory.removed) throw failure('ENOENT', syscall, path);
    if (!this.#volume.hasRoomFor(node)) throw failure('ENOSPC', syscall, path);
    this.#volume.add(node);
    this.#volume.enter(directory, name, node);
  }

  /** What `open` leads to, made or emptied where the flags say so. */
  #opened(path: string, flags: number, mode: number): Node {
    const [creates, isFirst] = [(flags & O_CREAT) !== 0, (flags & O_CREAT) !== 0 && (flags & O_EXCL) !== 0];
    const place = this.#way('open', path, followOfOpen(path, flags));
    if (creates && (place.last === 'name' || place.last === 'handle') && place.slash)
      throw failure('EISDIR', 'open', path);
    if (place.tooLong) throw failure('ENAMETOOLONG', 'open', path);
    if (creates && !place.node) return this.#createFile(path, place, mode);
    if (isFirst) throw failure('EEXIST', 'open', path);
    if (place.last === 'handle' && flags & O_NOFOLLOW && !place.slash)
      throw failure(flags & O_DIRECTORY ? 'ENOTDIR' : 'ELOOP', 'open', path); // it is a link itself
    if (creates && place.node?.kind === 'directory') throw failure('EISDIR', 'open', path);
    const node = this.#found('open', path, place);
    if (flags & O_DIRECTORY && node.kind !== 'directory') throw failure('ENOTDIR', 'open', path);
    if (node.kind === 'link') throw failure('ELOOP', 'open', path);
    if (node.kind === 'directory' && flags & (O_WRONLY | O_RDWR | O_TRUNC)) throw failure('EISDIR', 'open', path);
    if (node.kind === 'file' && flags & O_TRUNC) {
      node.content = NOTHING;
      this.#volume.modified(node);
    }
    return node;
  }

  #createFile(path: string, place: Place, mode: number): Node {
    const node: FileNode = { ...this.#newNode(mode & 0o7777), kind: 'file', names: 1, content: NOTHING };
    this.#make('open', path, place, node);
    return node;
  }

  #find(syscall: string, path: string, follow: 'always' | 'unless slash' = 'always'): Node {
    const isFollowed = follow === 'always' || path.endsWith('/');
    const place = this.#walk(syscall, path, isFollowed ? 'always' : 'never');
    const node = this.#found(syscall, path, place);
    if (place.last === 'handle' && !isFollowed) return this.#linkOfHandle(node);
    return node;
  }

  #found(syscall: string, path: string, { node, slash }: Place): Node {
    if (!node) throw failure('ENOENT', syscall, path);
    if (slash && node.kind !== 'directory') throw failure('ENOTDIR', syscall, path);
    return node;
  }

  #linkOfHandle(node: Node): LinkNode {
    const target = this.#volume.pathOf(node) ?? '(deleted)';
    return { ...this.#newNode(0), mode: 0o500, kind: 'link', names: 1, target };
  }

  #walk(syscall: string, path: string, follow: Follow): Place {
    const place = this.#way(syscall, path, follow);
    if (place.tooLong) throw failure('ENAMETOOLONG', syscall, path);
    return place;
  }

  /** Goes along a path, part by part. */
  #way(syscall: string, path: string, follow: Follow): Place {
    if (path === '') throw failure('ENOENT', syscall, path);
    if (isLonger(path, MAX_PATH)) throw failure('ENAMETOOLONG', syscall, path);
    let [at, rest, links, detour]: [Node, string, number, boolean] = [this.#volume.root, path, 0, false];
    for (;;) {
      if (rest.startsWith('/')) {
        const [, number, behind = ''] = (rest.includes('proc') && HANDLE.exec(rest)) || [];
        at = this.#volume.root;
        if (number !== undefined) {
          at = this.#nodeOfHandle(syscall, path, Number(number));
          links += LINKS_TO_HANDLE;
          detour ||= at.kind === 'directory' && at.removed;
        }
        rest = withoutSlashes(number === undefined ? rest : behind);
        const slash = number === undefined || behind !== '';
        const last = number === undefined ? 'root' : 'handle';
        if (rest === '') return { last, directory: this.#volume.root, name: '', node: at, slash, detour };
      }
      if (at.kind !== 'directory') throw failure('ENOTDIR', syscall, path);
      const end = rest.indexOf('/');
      const [name, slash] = end === -1 ? [rest, false] : [rest.slice(0, end), true];
      const behind = slash ? withoutSlashes(rest.slice(end)) : '';
      const isLast = behind === '';
      if (name === '.' || name === '..') {
        at = name === '.' ? at : this.#volume.parentOf(at);
        if (isLast) {
          return { last: name === '.' ? 'dot' : 'dots', directory: at, name, node: at, slash, detour };
        }
        rest = behind;
        continue;
      }
      const tooLong = !at.removed && isTooLong(name);
      if (tooLong && !isLast) throw failure('ENAMETOOLONG', syscall, path);
      const node = this.#volume.lookUp(at, name);
      const isFollowed = !isLast || follow === 'always' || (follow === 'unless slash' && !slash);
      if (node?.kind === 'link' && isFollowed) {
        if (++links > MAX_LINKS) throw failure('ELOOP', syscall, path);
        rest = slash ? `${node.target}/${behind}` : node.target;
        continue;
      }
      if (isLast) return { last: 'name', directory: at, name, node, slash, detour, tooLong };
      if (!node) throw failure('ENOENT', syscall, path);
      [at, rest] = [node, behind];
    }
  }

  #nodeOfHandle(syscall: string, path: string, number: number): Node {
    const handle = this.#volume.handles.get(this.#process)?.get(number);
    const node = handle && this.#volume.nodes.get(handle.id);
    if (!node) throw failure('ENOENT', syscall, path);
    return node;
  }
}

/** The nodes and what they mean to each other: what the system calls are made of. */
class Volume {
  readonly options: DiskOptions;
  readonly nodes = new Map<number, Node>();
  readonly root: DirectoryNode;
  handles = new Map<string, Map<number, Handle>>();
  watchers: Watcher[] = [];
  /** Numbers of nodes that are gone and may be given again, in falling order. */
  #free: number[] = [];
  #next = ROOT + 1;
  #nextIno = ROOT + 1;

  constructor(options: DiskOptions, root?: DirectoryNode) {
    this.options = options;
    const at = options.now();
    const common = { id: ROOT, ino: ROOT, mode: 0o755, uid: 0, mtimeMs: at, ctimeMs: at };
    this.root = root ?? { ...common, kind: 'directory', parent: ROOT, removed: false, entries: new Map() };
    this.nodes.set(ROOT, this.root);
  }

  copy(): Volume {
    const copy = new Volume(this.options, copyDirectory(this.root));
    for (const [id, node] of this.nodes) {
      if (id !== ROOT) copy.nodes.set(id, node.kind === 'directory' ? copyDirectory(node) : { ...node });
    }
    copy.handles = copyHandles(this.handles);
    copy.#free = [...this.#free];
    copy.#next = this.#next;
    copy.#nextIno = this.#nextIno;
    return copy;
  }

  lookUp(directory: DirectoryNode, name: string): Node | undefined {
    const id = directory.entries.get(name);
    return id === undefined ? undefined : this.nodes.get(id);
  }

  parentOf(directory: DirectoryNode): DirectoryNode {
    const parent = this.nodes.get(directory.parent);
    return parent?.kind === 'directory' ? parent : this.root;
  }

  /** A path of what has a name; undefined for what was removed. */
  pathOf(node: Node): string | undefined {
    if (node === this.root) return '/';
    const [directory, name] = this.#namesOf(node)[0] ?? [];
    const above = directory && this.pathOf(directory);
    return above === undefined || name === undefined ? undefined : under(above, name);
  }

  #namesOf(node: Node): [DirectoryNode, string][] {
    const parents = node.kind === 'directory' ? [this.parentOf(node)] : [...this.nodes.values()];
    return parents.flatMap((parent) => {
      if (parent.kind !== 'directory') return [];
      const own = [...parent.entries].filter(([, id]) => id === node.id);
      return own.map(([name]): [DirectoryNode, string] => [parent, name]);
    });
  }

  /** In an order of its own, which only the names decide: nobody promises another one. */
  entriesOf({ entries }: DirectoryNode): Entry[] {
    const names = [...entries.keys()].map((name) => ({ name, rank: rankOf(name, this.options.order ?? 0) }));
    names.sort((one, other) => one.rank - other.rank || (one.name < other.name ? -1 : 1));
    return names.map(({ name }) => {
      const kind = this.nodes.get(entries.get(name) ?? 0)?.kind;
      return { name, ...kinds(kind) };
    });
  }

  /** The code of why something must not be moved. */
  refusalToMove(node: Node, source: Place, target: Place): string | undefined {
    const isDirectory = node.kind === 'directory';
    if (!isDirectory && (source.slash || target.slash)) return 'ENOTDIR';
    if (isDirectory && this.#isAbove(node, target.directory)) return 'EINVAL';
    if (target.node?.kind === 'directory' && this.#isAbove(target.node, source.directory)) return 'ENOTEMPTY';
    if (target.node === node || !target.node) return undefined;
    if (isDirectory && target.node.kind !== 'directory') return 'ENOTDIR';
    if (!isDirectory && target.node.kind === 'directory') return 'EISDIR';
    return target.node.kind === 'directory' && target.node.entries.size > 0 ? 'ENOTEMPTY' : undefined;
  }

  move(node: Node, source: Place, target: Place): void {
    if (target.node) this.#removeName(target.directory, target.name, target.node);
    source.directory.entries.delete(source.name);
    target.directory.entries.set(target.name, node.id);
    if (node.kind === 'directory') node.parent = target.directory.id;
    this.#touched(source.directory);
    this.#touched(target.directory);
    this.changed(node);
    this.#tell(source.directory.id, source.name);
    this.#tell(target.directory.id, target.name);
    this.#tellSelf(node.id);
  }

  #isAbove(directory: DirectoryNode, below: DirectoryNode): boolean {
    for (let at = below; ; at = this.parentOf(at)) {
      if (at === directory) return true;
      if (at === this.root) return false;
    }
  }

  add(node: Node): void {
    node.id = this.#next++;
    node.ino = this.#free.pop() ?? this.#nextIno++;
    this.nodes.set(node.id, node);
  }

  enter(directory: DirectoryNode, name: string, node: Node): void {
    directory.entries.set(name, node.id);
    this.#touched(directory);
    this.#tell(directory.id, name);
  }

  leave(directory: DirectoryNode, name: string, node: Node): void {
    this.#touched(directory);
    this.#removeName(directory, name, node);
    this.#tell(directory.id, name);
  }

  #removeName(directory: DirectoryNode, name: string, node: Node): void {
    directory.entries.delete(name);
    this.changed(node);
    if (node.kind === 'directory') node.removed = true;
    else {
      node.names--;
      this.#tellSelf(node.id);
    }
    this.forgetUnlessUsed(node.id);
  }

  /** What has no name lives on while somebody has it open, or something in it. */
  forgetUnlessUsed(id: number): void {
    const node = this.nodes.get(id);
    if (!node || (node.kind === 'directory' ? !node.removed : node.names > 0)) return;
    for (const own of this.handles.values()) for (const handle of own.values()) if (handle.id === id) return;
    if (node.kind === 'directory')
      for (const other of this.nodes.values()) if (other.kind === 'directory' && other.parent === id) return;
    this.nodes.delete(id);
    this.#giveBack(node.ino);
    this.#tellSelf(id);
    this.watchers = this.watchers.filter((watcher) => watcher.id !== id);
    if (node.kind === 'directory') this.forgetUnlessUsed(node.parent);
  }

  #giveBack(ino: number): void {
    if (this.options.inodes === 'never again') return;
    const at = this.#free.findIndex((other) => other < ino);
    this.#free.splice(at === -1 ? this.#free.length : at, 0, ino);
  }

  /** The lowest number that the process has free, as POSIX wants it. */
  hold(process: string, handle: Handle): number {
    const own = this.handles.get(process) ?? new Map<number, Handle>();
    this.handles.set(process, own);
    let number = 3;
    while (own.has(number)) number++;
    own.set(number, handle);
    return number;
  }

  hasRoomFor(node: Node): boolean {
    const { bytes = Number.POSITIVE_INFINITY, nodes = Number.POSITIVE_INFINITY } = this.options.capacity ?? {};
    return this.nodes.size < nodes && (node.kind !== 'link' || this.#used() + sizeOf(node) <= bytes);
  }

  /** How many bytes can be written into a file from a position on. */
  roomFor(node: FileNode, start: number): number {
    const bytes = this.options.capacity?.bytes;
    return bytes === undefined ? Number.POSITIVE_INFINITY : bytes - this.#used() + node.content.length - start;
  }

  #used(): number {
    let used = 0;
    for (const node of this.nodes.values()) if (node.kind !== 'directory') used += sizeOf(node);
    return used;
  }

  changed(node: Node): void {
    node.ctimeMs = this.options.now();
  }

  #touched(node: Node): void {
    node.mtimeMs = this.options.now();
    node.ctimeMs = node.mtimeMs;
  }

  /** Its content is another one. */
  modified(node: FileNode): void {
    this.#touched(node);
    this.tellOf(node);
  }

  /** To those who watch a directory that it is in, and to those who watch it. */
  tellOf(node: Node): void {
    if (this.watchers.length === 0) return;
    for (const [directory, name] of this.#namesOf(node)) this.#tell(directory.id, name);
    this.#tellSelf(node.id);
  }

  #tell(id: number, name: string): void {
    for (const watcher of this.watchers) if (watcher.id === id) watcher.listener(name);
  }

  /** What happens to a watched directory itself goes by the name it was watched under. */
  #tellSelf(id: number): void {
    for (const watcher of this.watchers) if (watcher.id === id) watcher.listener(watcher.name);
  }
}

class Stats implements FileStats {
  readonly dev = 1;
  readonly ino: number;
  readonly mode: number;
  readonly nlink: number;
  readonly uid: number;
  readonly size: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly #kind: Node['kind'];

  constructor(node: Node, nlink: number) {
    this.ino = node.ino;
    this.mode = TYPES[node.kind] | node.mode;
    this.nlink = nlink;
    this.uid = node.uid;
    this.size = sizeOf(node);
    this.mtimeMs = node.mtimeMs;
    this.ctimeMs = node.ctimeMs;
    this.#kind = node.kind;
  }

  isFile = () => this.#kind === 'file';
  isDirectory = () => this.#kind === 'directory';
  isSymbolicLink = () => this.#kind === 'link';
  isFIFO = () => false;
}

/** A directory has two names of its own, unless it was removed; those of the directories in it are not counted, as on btrfs. */
function statsOf(node: Node): FileStats {
  const own = node.kind === 'directory' && !node.removed ? 2 : 0;
  return new Stats(node, node.kind === 'directory' ? own : node.names);
}

function sizeOf(node: Node): number {
  if (node.kind === 'directory') return 4096;
  return node.kind === 'file' ? node.content.length : Buffer.byteLength(node.target);
}

function kinds(kind: Node['kind'] | undefined): Omit<Entry, 'name'> {
  return {
    isFile: () => kind === 'file',
    isDirectory: () => kind === 'directory',
    isSymbolicLink: () => kind === 'link',
  };
}

/** A slash behind the last name makes `open` follow a link there, and refuse to create anything. */
function followOfOpen(path: string, flags: number): Follow {
  const creates = (flags & O_CREAT) !== 0;
  if (!creates && path.endsWith('/')) return 'always';
  if (flags & O_NOFOLLOW || (creates && flags & O_EXCL)) return 'never';
  return creates ? 'unless slash' : 'always';
}

function describe({ root, nodes, handles }: Volume, wanted: { times: boolean; inodes: boolean }): string[] {
  const lines: string[] = [];
  const names = new Map<number, string>();

  function describeNode(node: Node): string {
    const parts: (string | number)[] = [node.kind];
    if (node.kind !== 'link') parts.push(node.mode.toString(8));
    if (wanted.inodes) parts.push(`#${node.ino}`);
    if (wanted.times) parts.push(node.mtimeMs, node.ctimeMs);
    if (node.kind === 'file') parts.push(JSON.stringify(node.content.toString('latin1')));
    if (node.kind === 'link') parts.push(JSON.stringify(node.target));
    return parts.join(' ');
  }

  function add(path: string, node: Node): void {
    const known = names.get(node.id);
    names.set(node.id, known ?? path);
    lines.push(`${path}: ${known === undefined ? describeNode(node) : `the same as ${known}`}`);
    if (node.kind !== 'directory') return;
    for (const name of [...node.entries.keys()].sort()) {
      const child = nodes.get(node.entries.get(name) ?? 0);
      if (child) add(under(path, name), child);
    }
  }

  add('/', root);
  for (const process of [...handles.keys()].sort()) {
    const own = [...(handles.get(process) ?? [])].sort(([one], [other]) => one - other);
    for (const [number, { id, flags, position }] of own) {
      const node = nodes.get(id);
      const isNew = node && !names.has(id);
      if (isNew) names.set(id, `removed ${process} ${number}`);
      const content = isNew ? ` = ${describeNode(node)}` : '';
      lines.push(`${process} ${number}: ${names.get(id)}${content}, ${flags}, ${position}`);
    }
  }
  return lines;
}

function copyDirectory(node: DirectoryNode): DirectoryNode {
  return { ...node, entries: new Map(node.entries) };
}

function copyHandles(handles: Volume['handles']): Volume['handles'] {
  return new Map([...handles].map(([process, own]) => [process, new Map([...own].map(([n, h]) => [n, { ...h }]))]));
}

function under(directory: string, name: string): string {
  return directory === '/' ? `/${name}` : `${directory}/${name}`;
}

function isTooLong(name: string): boolean {
  return isLonger(name, MAX_NAME);
}

/** Whether a text has more bytes than that. */
function isLonger(text: string, bytes: number): boolean {
  return text.length > bytes / 4 && Buffer.byteLength(text) > bytes;
}

function withoutSlashes(text: string): string {
  let start = 0;
  while (text[start] === '/') start++;
  return text.slice(start);
}

/** FNV-1a. */
function rankOf(name: string, seed: number): number {
  let rank = 0x811c9dc5 ^ seed;
  for (let i = 0; i < name.length; i++) rank = Math.imul(rank ^ name.charCodeAt(i), 0x01000193);
  return rank >>> 0;
}
