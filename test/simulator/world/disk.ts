import { constants } from 'node:fs';
import type { DiskSpace } from '../../../src/shared/runtime/disk-space.ts';
import type { Entry, FileStats } from '../../../src/worker/files/ports/operations.ts';

/**
 * A file system in memory, for the simulator: everything happens at once, the same calls lead to the same disk, and a call that fails
 * does so with the code that Linux has for it (`files-like-real.test.ts` compares them), as far as the service and its clients go: absolute
 * paths without `..`, whose last part may be `.`, also through `/proc/self/fd`; one name for each file. Nobody lacks a permission here.
 */

const { O_WRONLY, O_RDWR, O_CREAT, O_EXCL, O_TRUNC, O_APPEND, O_DIRECTORY, O_NOFOLLOW, X_OK } = constants;
const FLAGS = new Map([
  ['r', 0],
  ['r+', O_RDWR],
  ['w', O_WRONLY | O_CREAT | O_TRUNC],
  ['wx', O_WRONLY | O_CREAT | O_TRUNC | O_EXCL],
  ['a', O_WRONLY | O_CREAT | O_APPEND],
]);
const EXT4 = 0xef53;
const SPACE: DiskSpace = { blocks: 1, bavail: 1, files: 1, ffree: 1 };
const MAX_LINKS = 40;
const ROOT = 1;
const SET_GROUP = 0o2000;
/** What Linux shows there, with what follows: a file that this process has open. */
const HANDLE = /^\/proc\/self\/fd\/(\d+)(\/.*)?$/s;
const TYPES = { file: constants.S_IFREG, directory: constants.S_IFDIR, link: constants.S_IFLNK };
const NOTHING = Buffer.alloc(0);

/** Where a node stands: under a name in a directory, or under none any more. */
type Position = { parent: number; name: string; removed: boolean };
/** `id` is its own for ever; `ino`, which `stat` tells, may be that of an earlier one. */
type Common = Position & { id: number; ino: number; mode: number; mtimeMs: number; ctimeMs: number };
/** The content is never changed, only replaced. */
type FileNode = Common & { kind: 'file'; content: Buffer };
type LinkNode = Common & { kind: 'link'; target: string };
type DirectoryNode = Common & { kind: 'directory'; entries: Map<string, number> };
type Node = FileNode | LinkNode | DirectoryNode;
type New = Pick<FileNode, 'kind' | 'content'> | Pick<LinkNode, 'kind' | 'target'> | Pick<DirectoryNode, 'kind'>;
type Handle = { id: number; flags: number; position: number };
type Watcher = { process: string; id: number; name: string; listener: (name: string) => void };

/** Where a path leads: the name in a directory, and what stands there. Without a name it leads to the node itself, as `.` and handles do. */
type Place = { directory: DirectoryNode; name: string; node: Node | undefined };

export type DiskOptions = {
  /** Epoch ms, for the times of files. */
  now: () => number;
  umask?: number;
  /** As ext4 gives the number of a removed file to the next one, or as tmpfs never gives it again. */
  inodes?: 'reused' | 'never again';
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

  /** What is on the disk and who has what open, the same for equal disks however they came about. `times` are part of it only when asked for. */
  state({ times = false } = {}): string[] {
    return describe(this.#volume, times);
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
    this.#find('utime', path).mtimeMs = mtimeMs;
  }

  lstat(path: string): FileStats {
    return new Stats(this.#find('lstat', path, 'never'));
  }

  stat(path: string): FileStats {
    return new Stats(this.#find('stat', path));
  }

  /** Whether something stands there; false also where a part of the path is missing. */
  exists(path: string): boolean {
    return this.#whether(['ENOENT', 'ENOTDIR'], () => this.lstat(path));
  }

  statfs(path: string): DiskSpace & { type: number } {
    this.#find('statfs', path);
    return { type: EXT4, ...SPACE };
  }

  mkdir(path: string, { mode = 0o777 }: { mode?: number } = {}): void {
    const place = this.#free('mkdir', path);
    const inherited = place.directory.mode & SET_GROUP;
    this.#make('mkdir', path, place, { kind: 'directory' }, this.#masked(mode & 0o1777) | inherited);
  }

  symlink(target: string, path: string): void {
    this.#make('symlink', path, this.#free('symlink', path), { kind: 'link', target }, 0o777);
  }

  unlink(path: string): void {
    const node = this.#find('unlink', path, 'never');
    if (node.kind === 'directory') throw failure('EISDIR', 'unlink', path);
    this.#volume.leave(node);
  }

  rmdir(path: string): void {
    const { name, node } = this.#way('rmdir', path, 'never');
    if (name === '') throw failure('EINVAL', 'rmdir', path);
    if (!node) throw failure('ENOENT', 'rmdir', path);
    if (node.kind !== 'directory') throw failure('ENOTDIR', 'rmdir', path);
    if (node.entries.size > 0) throw failure('ENOTEMPTY', 'rmdir', path);
    this.#volume.leave(node);
  }

  rename(from: string, to: string): void {
    const source = this.#way('rename', from, 'never');
    const target = this.#way('rename', to, 'never');
    if (source.name === '' || target.name === '') throw failure('EBUSY', 'rename', from);
    if (!source.node || target.directory.removed) throw failure('ENOENT', 'rename', from);
    const code = this.#volume.refusalToMove(source.node, source, target);
    if (code) throw failure(code, 'rename', from);
    if (target.node !== source.node) this.#volume.move(source.node, target);
  }

  /** Opens a file or a directory, and returns the number of the handle. */
  open(path: string, flags: string | number = 'r', mode = 0o666): number {
    const bits = typeof flags === 'number' ? flags : FLAGS.get(flags);
    if (bits === undefined) throw failure('ERR_INVALID_ARG_VALUE', 'open', path);
    const node = this.#opened(path, bits, mode);
    return this.#volume.hold(this.#process, { id: node.id, flags: bits, position: 0 });
  }

  openDirectory(path: string, { noFollow }: { noFollow: boolean }): number {
    return this.open(path, O_DIRECTORY | (noFollow ? O_NOFOLLOW : 0));
  }

  fstat(handle: number): FileStats {
    return new Stats(this.#node('fstat', this.#handle('fstat', handle).id));
  }

  /** Reads up to `length` bytes, and returns those there are. */
  read(handle: number, length: number, position: number): Buffer {
    const { id, flags } = this.#handle('read', handle);
    const node = this.#node('read', id);
    if (flags & O_WRONLY) throw failure('EBADF', 'read');
    if (node.kind !== 'file') throw failure('EISDIR', 'read');
    return node.content.subarray(position, position + length);
  }

  /** Writes where the last write ended. */
  write(handle: number, text: string | Buffer): number {
    const opened = this.#handle('write', handle);
    const node = this.#node('write', opened.id);
    if ((opened.flags & (O_WRONLY | O_RDWR)) === 0 || node.kind !== 'file') throw failure('EBADF', 'write');
    const bytes = Buffer.from(text);
    if (bytes.length === 0) return 0;
    const start = opened.flags & O_APPEND ? node.content.length : opened.position;
    const before = Buffer.concat([node.content.subarray(0, start)], start); // a hole is filled with zeros
    node.content = Buffer.concat([before, bytes, node.content.subarray(start + bytes.length)]);
    opened.position = start + bytes.length;
    this.#volume.modified(node);
    return bytes.length;
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
    return this.#volume.entriesOf(this.#find('scandir', path), path);
  }

  /** The entries of an open directory. */
  readEntriesOf(handle: number): Entry[] {
    return this.#volume.entriesOf(this.#node('scandir', this.#handle('scandir', handle).id));
  }

  readFile(path: string): string {
    return this.#with(this.open(path), (handle) => this.read(handle, Number.MAX_SAFE_INTEGER, 0).toString());
  }

  writeFile(path: string, text: string, { flag = 'w', mode = 0o666 }: { flag?: string; mode?: number } = {}): void {
    this.#with(this.open(path, flag, mode), (handle) => this.write(handle, text));
  }

  readlink(path: string): string {
    const node = this.#find('readlink', path, 'never');
    if (node.kind !== 'link') throw failure('EINVAL', 'readlink', path);
    return node.target;
  }

  realpath(path: string): string {
    const real = this.#volume.pathOf(this.#find('realpath', path));
    if (real === undefined) throw failure('ENOENT', 'realpath', path);
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

  /** Tells the name of what changes in a directory, as inotify does: of this very directory, wherever its name leads later. */
  watch(path: string, listener: (name: string) => void): () => void {
    const { id } = this.#find('watch', path);
    const watcher = { process: this.#process, id, name: path.replace(/.*\//s, ''), listener };
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
      const { directory, name, node } = this.#way('locate', path, 'never');
      const at = name === '' ? (node ?? directory) : directory;
      const found = this.#volume.pathOf(at) ?? `(removed ${at.id})`;
      return name === '' ? found : under(found, name);
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
  #node(syscall: string, id: number, path = ''): Node {
    const node = this.#volume.nodes.get(id);
    if (!node) throw failure('ENOENT', syscall, path);
    return node;
  }

  #masked(mode: number): number {
    return mode & ~(this.#volume.options.umask ?? 0o022);
  }

  /** A place where something can be made. */
  #free(syscall: string, path: string): Place {
    const place = this.#way(syscall, path, 'never');
    if (place.node) throw failure('EEXIST', syscall, path);
    return place;
  }

  #make(syscall: string, path: string, { directory, name }: Place, made: New, mode: number): Node {
    if (directory.removed) throw failure('ENOENT', syscall, path);
    return this.#volume.add(made, mode, { directory, name });
  }

  /** What `open` leads to, made or emptied where the flags say so. */
  #opened(path: string, flags: number, mode: number): Node {
    const creates = (flags & O_CREAT) !== 0;
    const isFirst = creates && (flags & O_EXCL) !== 0;
    const place = this.#way('open', path, flags & O_NOFOLLOW || isFirst ? 'never' : 'always');
    const { node } = place;
    if (creates && !node)
      return this.#make('open', path, place, { kind: 'file', content: NOTHING }, this.#masked(mode & 0o7777));
    if (isFirst) throw failure('EEXIST', 'open', path);
    if (!node) throw failure('ENOENT', 'open', path);
    if (creates && node.kind === 'directory') throw failure('EISDIR', 'open', path);
    if (flags & O_DIRECTORY && node.kind !== 'directory') throw failure('ENOTDIR', 'open', path);
    if (node.kind === 'link') throw failure('ELOOP', 'open', path);
    if (node.kind === 'directory' && flags & (O_WRONLY | O_RDWR | O_TRUNC)) throw failure('EISDIR', 'open', path);
    if (node.kind === 'file' && flags & O_TRUNC) {
      node.content = NOTHING;
      this.#volume.modified(node);
    }
    return node;
  }

  #find(syscall: string, path: string, follow: 'always' | 'never' = 'always'): Node {
    const { node } = this.#way(syscall, path, follow);
    if (!node) throw failure('ENOENT', syscall, path);
    return node;
  }

  /** Goes along a path, part by part. `follow`: whether a link in its last part is followed. */
  #way(syscall: string, path: string, follow: 'always' | 'never'): Place {
    const { root } = this.#volume;
    let [at, rest, links]: [Node, string, number] = [root, path, 0];
    for (;;) {
      if (rest.startsWith('/')) {
        const [, number, behind = ''] = (rest.startsWith('/proc/') && HANDLE.exec(rest)) || [];
        at = number === undefined ? root : this.#nodeOfHandle(syscall, path, Number(number));
        rest = (number === undefined ? rest : behind).slice(1);
      }
      if (rest === '') return { directory: root, name: '', node: at };
      if (at.kind !== 'directory') throw failure('ENOTDIR', syscall, path);
      if (rest === '.') return { directory: at, name: '', node: at };
      const end = rest.indexOf('/');
      const [name, behind] = end === -1 ? [rest, ''] : [rest.slice(0, end), rest.slice(end + 1)];
      const node = this.#volume.lookUp(at, name);
      if (node?.kind === 'link' && (behind !== '' || follow === 'always')) {
        if (++links > MAX_LINKS) throw failure('ELOOP', syscall, path);
        rest = behind === '' ? node.target : `${node.target}/${behind}`;
        continue;
      }
      if (behind === '') return { directory: at, name, node };
      if (!node) throw failure('ENOENT', syscall, path);
      [at, rest] = [node, behind];
    }
  }

  #nodeOfHandle(syscall: string, path: string, number: number): Node {
    const handle = this.#volume.handles.get(this.#process)?.get(number);
    if (!handle) throw failure('ENOENT', syscall, path);
    return this.#node(syscall, handle.id, path);
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
    const common = {
      id: ROOT,
      ino: ROOT,
      mode: 0o755,
      mtimeMs: at,
      ctimeMs: at,
      parent: ROOT,
      name: '',
      removed: false,
    };
    this.root = root ?? { ...common, kind: 'directory', entries: new Map() };
    this.nodes.set(ROOT, this.root);
  }

  copy(): Volume {
    const copy = new Volume(this.options, copyNode(this.root));
    for (const [id, node] of this.nodes) if (id !== ROOT) copy.nodes.set(id, copyNode(node));
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

  parentOf({ parent }: Node): DirectoryNode {
    const node = this.nodes.get(parent);
    return node?.kind === 'directory' ? node : this.root;
  }

  /** The path of what has a name; undefined for what was removed. */
  pathOf(node: Node): string | undefined {
    if (node === this.root) return '/';
    const above = node.removed ? undefined : this.pathOf(this.parentOf(node));
    return above === undefined ? undefined : under(above, node.name);
  }

  /** In an order of its own, which only the names decide: nobody promises another one. */
  entriesOf(directory: Node, path = ''): Entry[] {
    if (directory.kind !== 'directory') throw failure('ENOTDIR', 'scandir', path);
    const ranked = [...directory.entries].map(([name, id]) => ({ name, id, rank: rankOf(name) }));
    ranked.sort((one, other) => one.rank - other.rank || (one.name < other.name ? -1 : 1));
    return ranked.map(({ name, id }) => ({ name, ...kindsOf(this.nodes.get(id)?.kind) }));
  }

  /** The code of why something must not be moved. */
  refusalToMove(node: Node, source: Place, target: Place): string | undefined {
    const isDirectory = node.kind === 'directory';
    if (isDirectory && this.#isAbove(node, target.directory)) return 'EINVAL';
    if (target.node?.kind === 'directory' && this.#isAbove(target.node, source.directory)) return 'ENOTEMPTY';
    if (target.node === node || !target.node) return undefined;
    if (isDirectory && target.node.kind !== 'directory') return 'ENOTDIR';
    if (!isDirectory && target.node.kind === 'directory') return 'EISDIR';
    return target.node.kind === 'directory' && target.node.entries.size > 0 ? 'ENOTEMPTY' : undefined;
  }

  move(node: Node, { directory, name, node: replaced }: Place): void {
    if (replaced) this.#removeName(replaced);
    const before = { directory: this.parentOf(node), name: node.name };
    before.directory.entries.delete(before.name);
    directory.entries.set(name, node.id);
    Object.assign(node, { parent: directory.id, name } satisfies Partial<Position>);
    for (const changed of [before.directory, directory]) this.#touched(changed);
    this.changed(node);
    this.#tell(before.directory.id, before.name);
    this.#tell(directory.id, name);
    this.#tellSelf(node.id);
  }

  #isAbove(directory: DirectoryNode, below: DirectoryNode): boolean {
    for (let at = below; ; at = this.parentOf(at)) {
      if (at === directory) return true;
      if (at === this.root) return false;
    }
  }

  add(made: New, mode: number, { directory, name }: Pick<Place, 'directory' | 'name'>): Node {
    const at = this.options.now();
    const common: Common = {
      ...{ id: this.#next++, ino: this.#free.pop() ?? this.#nextIno++, mode, mtimeMs: at, ctimeMs: at },
      ...{ parent: directory.id, name, removed: false },
    };
    const node: Node = made.kind === 'directory' ? { ...common, ...made, entries: new Map() } : { ...common, ...made };
    this.nodes.set(node.id, node);
    directory.entries.set(name, node.id);
    this.#touched(directory);
    this.#tell(directory.id, name);
    return node;
  }

  leave(node: Node): void {
    const directory = this.parentOf(node);
    this.#touched(directory);
    this.#removeName(node);
    this.#tell(directory.id, node.name);
  }

  #removeName(node: Node): void {
    this.parentOf(node).entries.delete(node.name);
    this.changed(node);
    node.removed = true;
    if (node.kind !== 'directory') this.#tellSelf(node.id);
    this.forgetUnlessUsed(node.id);
  }

  /** What has no name lives on while somebody has it open. */
  forgetUnlessUsed(id: number): void {
    const node = this.nodes.get(id);
    if (!node?.removed) return;
    for (const own of this.handles.values()) for (const handle of own.values()) if (handle.id === id) return;
    this.nodes.delete(id);
    this.#giveBack(node.ino);
    this.#tellSelf(id);
    this.watchers = this.watchers.filter((watcher) => watcher.id !== id);
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

  /** To those who watch the directory that it is in, and to those who watch it. */
  tellOf(node: Node): void {
    if (!node.removed) this.#tell(node.parent, node.name);
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
  readonly uid = 0;
  readonly ino: number;
  readonly mode: number;
  readonly nlink: number;
  readonly size: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly #kind: Node['kind'];

  constructor(node: Node) {
    this.ino = node.ino;
    this.mode = TYPES[node.kind] | node.mode;
    this.nlink = node.removed ? 0 : 1;
    this.size = node.kind === 'file' ? node.content.length : 4096;
    this.mtimeMs = node.mtimeMs;
    this.ctimeMs = node.ctimeMs;
    this.#kind = node.kind;
  }

  isFile = () => this.#kind === 'file';
  isDirectory = () => this.#kind === 'directory';
  isSymbolicLink = () => this.#kind === 'link';
  isFIFO = () => false;
}

function kindsOf(kind: Node['kind'] | undefined): Omit<Entry, 'name'> {
  return {
    isFile: () => kind === 'file',
    isDirectory: () => kind === 'directory',
    isSymbolicLink: () => kind === 'link',
  };
}

function describe({ root, nodes, handles }: Volume, times: boolean): string[] {
  const lines: string[] = [];
  const names = new Map<number, string>();

  function describeNode(node: Node): string {
    const parts: (string | number)[] = [node.kind];
    if (node.kind !== 'link') parts.push(node.mode.toString(8));
    if (times) parts.push(node.mtimeMs, node.ctimeMs);
    if (node.kind === 'file') parts.push(JSON.stringify(node.content.toString('latin1')));
    if (node.kind === 'link') parts.push(JSON.stringify(node.target));
    return parts.join(' ');
  }

  function add(path: string, node: Node): void {
    names.set(node.id, path);
    lines.push(`${path}: ${describeNode(node)}`);
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

function copyNode<Kind extends Node>(node: Kind): Kind {
  return node.kind === 'directory' ? { ...node, entries: new Map(node.entries) } : { ...node };
}

function copyHandles(handles: Volume['handles']): Volume['handles'] {
  return new Map([...handles].map(([process, own]) => [process, new Map([...own].map(([n, h]) => [n, { ...h }]))]));
}

function under(directory: string, name: string): string {
  return directory === '/' ? `/${name}` : `${directory}/${name}`;
}

/** FNV-1a. */
function rankOf(name: string): number {
  let rank = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) rank = Math.imul(rank ^ name.charCodeAt(i), 0x01000193);
  return rank >>> 0;
}
