import { constants, watch } from 'node:fs';
import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { errnoOf } from '../../src/shared/runtime/errno.ts';
import { nodeFiles } from '../../src/worker/files/ports/node-files.ts';
import type { Entry, FileStats, Files, OpenDirectory, OpenFile } from '../../src/worker/files/ports/operations.ts';
import { canMountNetwork, mountNetwork } from '../support/mounts.ts';
import { createDisk, type Disk } from './world/disk.ts';
import { openGate } from './world/gate.ts';
import { createSimulatedFiles } from './world/simulated-files.ts';

/**
 * The simulated files are those of Linux: the same commands have the same results, error for error. A failure prints its seed and the
 * shortest sequence that shows it. FILES_SEED is another seed, FILES_RUNS another number of sequences.
 */

const seed = Number(process.env.FILES_SEED ?? 20_260_101);
const numRuns = Number(process.env.FILES_RUNS ?? 200);
const isUsual = process.env.FILES_SEED === undefined && process.env.FILES_RUNS === undefined;
const LENGTH = 60;
const PROCESS = 'worker';
const { O_WRONLY, O_RDWR, O_CREAT, O_EXCL, O_TRUNC, O_APPEND, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;

/** The files of one process, simulated or real, and what a sequence has open there. */
type Side = {
  files: Files;
  /** What is below it may be changed. */
  top: string;
  directories: (OpenDirectory | undefined)[];
  handles: (OpenFile | undefined)[];
};
/** Below the directory of the sequence, or below one that it has open; that of the sequence where it has none. */
type Path = { below: 'top' | 0 | 1; rest: string };
type Command = {
  name: keyof typeof commands;
  path: Path;
  to: Path;
  slot: 0 | 1;
  flags: string | number;
  mode: number;
  target: string;
  text: string;
  /** In the main thread. */
  quick: boolean;
};
type Run = (side: Side, path: string, command: Command, to: string) => Promise<unknown>;

const quickOf = ({ files }: Side, { quick }: Command) => (quick ? files.atOnce : files);

/** Each with how often it is chosen. */
const commands = {
  access: [1, ({ files }, path, { mode }) => files.access(path, (mode % 8) & constants.X_OK)],
  chmod: [1, (side, path, command) => quickOf(side, command).chmod(path, command.mode)],
  exists: [2, (side, path, command) => quickOf(side, command).exists(path)],
  lstat: [2, async (side, path, command) => shape(await quickOf(side, command).lstat(path))],
  stat: [2, async ({ files }, path) => shape(await files.stat(path))],
  statfs: [1, async ({ files }, path) => (await files.statfs(path)).type > 0],
  mkdir: [6, async ({ files }, path, { mode, quick }) => void (await files.mkdir(path, quick ? { mode } : undefined))],
  readdir: [1, async ({ files }, path) => (await files.readdir(path)).toSorted()],
  readEntries: [1, async ({ files }, path) => entriesOf(await files.readEntries(path))],
  opendir: [1, async ({ files }, path) => entriesOf(await listOf(await files.opendir(path)))],
  readFile: [2, ({ files }, path) => files.readFile(path)],
  readlink: [1, ({ files }, path) => files.readlink(path)],
  realpath: [1, ({ files }, path) => files.realpath(path)],
  rename: [5, (side, path, command, to) => quickOf(side, command).rename(path, to)],
  rm: [2, ({ files }, path, { quick, slot }) => files.rm(path, { recursive: quick, force: slot === 1 })],
  rmdir: [4, ({ files }, path) => files.rmdir(path)],
  symlink: [4, (side, path, command) => quickOf(side, command).symlink(command.target, path)],
  unlink: [2, (side, path, command) => quickOf(side, command).unlink(path)],
  writeFile: [4, (side, path, command) => quickOf(side, command).writeFile(path, command.text, writing(command))],
  open: [4, openFile],
  openDirectory: [6, openDirectory],
  read: [2, async ({ handles }, _, { slot, mode }) => readFrom(handles[slot], mode % 4)],
  write: [3, async ({ handles }, _, { slot, text }) => void (await handles[slot]?.write(text))],
  fstat: [1, async ({ handles }, _, { slot }) => shape(await handles[slot]?.stat())],
  sync: [1, async ({ handles }, _, { slot }) => handles[slot]?.sync()],
  close: [1, closeFile],
  removeOpen: [4, async (side, _, command) => side.files.rmdir(await homeOf(side, command))],
  moveOpen: [4, async (side, _, command, to) => side.files.rename(await homeOf(side, command), to)],
  statDirectory: [4, async ({ directories }, _, { slot }) => shape(await directories[slot]?.stat())],
} satisfies Record<string, [weight: number, run: Run]>;

async function openFile(side: Side, path: string, command: Command): Promise<void> {
  const opened = await quickOf(side, command).open(path, command.flags, command.mode & 0o777);
  await closeFile(side, path, command);
  side.handles[command.slot] = opened;
}

/** Once only: the number of a handle that was closed may be another file's. */
async function closeFile({ handles }: Side, _: string, { slot }: Command): Promise<void> {
  const opened = handles[slot];
  handles[slot] = undefined;
  await opened?.close();
}

async function openDirectory(side: Side, path: string, command: Command): Promise<void> {
  const opened = await quickOf(side, command).openDirectory(path, { noFollow: command.mode % 2 === 0 });
  await side.directories[command.slot]?.close();
  side.directories[command.slot] = opened;
}

/** Where a directory that is open stands now; another place where none is, or where it was removed. */
async function homeOf({ files, directories, top }: Side, { slot }: Command): Promise<string> {
  const path = directories[slot]?.path;
  const home = path && (await files.realpath(path).catch(() => undefined));
  return home === undefined || home === top ? `${top}/n1` : home;
}

function writing({ flags, mode, slot }: Command) {
  return slot === 0 ? { mode: mode & 0o777 } : { flag: typeof flags === 'string' ? flags : 'wx' };
}

async function readFrom(file: OpenFile | undefined, position: number): Promise<string | undefined> {
  const buffer = Buffer.alloc(8);
  const read = await file?.read(buffer, 1, 5, position);
  return read && buffer.toString('latin1', 1, 1 + read.bytesRead);
}

/** What is the same on every file system. */
function shape(stats: FileStats | undefined) {
  if (!stats) return undefined;
  if (stats.isSymbolicLink()) return 'link';
  const kind = stats.isDirectory() ? 'directory' : stats.isFile() ? 'file' : 'other';
  return { kind, size: stats.isFile() ? stats.size : undefined, names: stats.nlink > 0, mode: stats.mode & 0o7777 };
}

function entriesOf(entries: Entry[]): string[] {
  const kindOf = (entry: Entry) => (entry.isDirectory() ? 'directory' : entry.isFile() ? 'file' : 'link');
  return entries.map((entry) => `${entry.name}: ${kindOf(entry)}`).toSorted();
}

async function listOf(entries: AsyncIterable<Entry>): Promise<Entry[]> {
  const list: Entry[] = [];
  for await (const entry of entries) list.push(entry);
  return list;
}

const often = <T>(...choices: [number, fc.Arbitrary<T>][]) =>
  fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })));
const name = fc.constantFrom('n1', 'n2', 'n3');
const rest = fc
  .tuple(fc.array(name, { minLength: 1, maxLength: 3 }), often([12, fc.constant('')], [1, fc.constant('/.')]))
  .map(([parts, end]) => `/${parts.join('/')}${end}`);
const path: fc.Arbitrary<Path> = often(
  [8, fc.record<Path>({ below: fc.constant('top'), rest })],
  [5, fc.record<Path>({ below: fc.constantFrom(0, 1), rest })],
  [2, fc.record<Path>({ below: fc.constantFrom(0, 1), rest: fc.constant('/.') })],
);
const flags = often<string | number>(
  [1, fc.constantFrom('r', 'w', 'wx', 'a', 'r+')],
  [
    1,
    fc
      .tuple(
        fc.constantFrom(0, O_WRONLY, O_RDWR),
        fc.subarray([O_CREAT, O_EXCL, O_TRUNC, O_APPEND, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK], { maxLength: 3 }),
      )
      .filter(([, more]) => (more.includes(O_CREAT) ? !more.includes(O_DIRECTORY) : !more.includes(O_EXCL))) // else nobody says what it means
      .map(([access, more]) => more.reduce((all, flag) => all | flag, access)),
  ],
);
const target = fc.constantFrom('n1', 'n2', 'n3', 'n1/n2', 'n2/n1');

function commandOf(isChosen: (name: Command['name']) => boolean): fc.Arbitrary<Command> {
  const chosen = (Object.keys(commands) as Command['name'][]).filter(isChosen);
  return fc.record<Command>({
    name: often(...chosen.map((key): [number, fc.Arbitrary<Command['name']>] => [commands[key][0], fc.constant(key)])),
    path,
    to: path,
    slot: fc.constantFrom(0, 1),
    flags,
    mode: fc.constantFrom(0o600, 0o644, 0o700, 0o755, 0o2775, 0o1777, 0o777),
    target,
    text: fc.constantFrom('', 'a', 'bb', 'ccc ü'),
    quick: fc.boolean(),
  });
}

const all = commandOf(() => true);
/** SFTP does not tell how many names a file has, and what is open there is no matter of names alone. */
const NOT_ON_SERVER = 'open openDirectory read write fstat sync close statDirectory removeOpen moveOpen'.split(' ');
/** As the service uses a file server: through names. */
const byName = commandOf((each) => !NOT_ON_SERVER.includes(each)).map(
  (command): Command => ({
    ...command,
    ...{ path: { below: 'top', rest: command.path.rest }, to: { below: 'top', rest: command.to.rest } },
  }),
);

function pathOf({ top, directories }: Side, { below, rest: parts }: Path): string {
  const directory = below === 'top' ? undefined : directories[below]?.path;
  return (directory ?? top) + parts;
}

/** Something of each kind, and a link that leads to a directory. */
async function furnish({ files, top }: Side): Promise<void> {
  await files.mkdir(`${top}/n1`);
  await files.mkdir(`${top}/n1/n2`);
  await files.symlink('n1', `${top}/n1/n1`);
  await files.writeFile(`${top}/n2`, 'text');
  await files.symlink('n1', `${top}/n3`);
}

async function furnishWithHandles(side: Side): Promise<void> {
  await furnish(side);
  side.directories[0] = await side.files.openDirectory(`${side.top}/n1/n2`, { noFollow: true });
  side.handles[0] = await side.files.open(`${side.top}/n2`, 'r+');
}

/** What a command came to: its value, or the code of its error. */
async function outcomeOf(side: Side, command: Command): Promise<string> {
  const [, run]: [number, Run] = commands[command.name];
  try {
    const value = await run(side, pathOf(side, command.path), command, pathOf(side, command.to));
    return `= ${JSON.stringify(value) ?? 'done'}`;
  } catch (error) {
    if (errnoOf(error) === '') throw error;
    return errnoOf(error);
  }
}

/** Everything below a directory. */
async function treeOf(files: Files, directory: string): Promise<string[]> {
  const found = (await files.readdir(directory)).toSorted().map(async (entry) => {
    const at = `${directory}/${entry}`;
    const stats = await files.lstat(at);
    const line = `${at}: ${JSON.stringify(shape(stats))}`;
    if (stats.isDirectory()) return [line, ...(await treeOf(files, at))];
    return [`${line} ${stats.isFile() ? await files.readFile(at) : await files.readlink(at)}`];
  });
  return (await Promise.all(found)).flat();
}

const bases: string[] = [];
afterAll(() => Promise.all(bases.map((base) => rm(base, { recursive: true, force: true }))));

async function baseIn(folder: string): Promise<string> {
  const base = await nodeFiles.realpath(await mkdtemp(join(folder, 'rule-server-')));
  bases.push(base);
  return base;
}

/** The same empty directory on both sides. */
async function twoSides(directory: string): Promise<{ simulated: Side; real: Side; disk: Disk }> {
  await mkdir(directory, { recursive: true });
  const disk = createDisk({ now: Date.now, umask: process.umask() });
  const parts = directory.slice(1).split('/');
  for (let depth = 1; depth <= parts.length; depth++) disk.as(PROCESS).mkdir(`/${parts.slice(0, depth).join('/')}`);
  const files = createSimulatedFiles({ process: PROCESS, gate: openGate(disk) });
  const sideOf = (own: Files): Side => ({ files: own, top: directory, directories: [], handles: [] });
  return { simulated: sideOf(files), real: sideOf(nodeFiles), disk };
}

async function closeAll({ directories, handles }: Side): Promise<void> {
  for (const opened of [...directories, ...handles]) await opened?.close().catch(() => {});
}

type How = {
  command: fc.Arbitrary<Command>;
  runs: number;
  known: Known;
  /** What half of the sequences begin with. */
  furnish(side: Side): Promise<void>;
};
/** How often each command came to what. */
type Outcomes = Map<string, number>;
/** Differences that are known, by the command and the outcomes on the simulated and on the real side. */
type Known = (command: Command, simulated: string, real: string) => boolean;

const hasFailed = (outcome: string) => !outcome.startsWith('=');

/** `realpath` goes by the text of the link to a handle, through what stands there now: it may fail of something else. */
const knownAnywhere: Known = ({ name, path }, simulated, real) =>
  name === 'realpath' && path.below !== 'top' && hasFailed(simulated) && hasFailed(real);

/** What a file server tells otherwise: Linux' outcome, its own, and why. */
const ON_SERVER: [linux: string, server: string, why: string][] = [
  ['ENOTEMPTY', 'EPERM', 'SFTP has no code for it: a failure'],
];

const knownOnServer: Known = (command, simulated, real) =>
  knownAnywhere(command, simulated, real) ||
  ON_SERVER.some(([linux, server]) => simulated === linux && real === server);

/** Runs sequences of commands on both sides, until one has another outcome. */
async function compare(base: string, how: How): Promise<Outcomes> {
  const outcomes: Outcomes = new Map();
  let begun = 0;

  function count({ name }: Command, outcome: string): void {
    const kind = outcome.includes('"names":false') ? 'removed' : outcome.startsWith('=') ? 'done' : outcome;
    outcomes.set(`${name} ${kind}`, (outcomes.get(`${name} ${kind}`) ?? 0) + 1);
  }

  async function run(furnished: boolean, chosen: Command[]): Promise<void> {
    const own = join(base, String(begun++));
    const { simulated, real } = await twoSides(own);
    try {
      if (furnished) for (const side of [simulated, real]) await how.furnish(side);
      for (const next of chosen) {
        if (next.name === 'rm' && next.path.rest.endsWith('/.')) continue; // Node's own way of it
        const [expected, found] = [await outcomeOf(simulated, next), await outcomeOf(real, next)];
        count(next, expected);
        if (!how.known(next, expected, found)) expect(expected, `simulated, ${next.name}`).toBe(found);
      }
      expect(await treeOf(simulated.files, own)).toEqual(await treeOf(real.files, own));
    } finally {
      await closeAll(simulated);
      await closeAll(real);
      await rm(own, { recursive: true, force: true });
    }
  }

  const sequence = fc.array(how.command, { minLength: 1, maxLength: LENGTH, size: 'max' });
  const details = await fc.check(fc.asyncProperty(fc.boolean(), sequence, run), { seed, numRuns: how.runs });
  if (details.failed) throw new Error(told(details), { cause: details.errorInstance });
  return outcomes;
}

/** A failure, with the shortest sequence that has it. */
function told({ counterexample, errorInstance }: fc.RunDetails<[boolean, Command[]]>): string {
  const [furnished = false, chosen = []] = counterexample ?? [];
  const lines = chosen.map((command) => JSON.stringify(Object.values(command)));
  return [
    errorInstance,
    `FILES_SEED=${seed}${furnished ? ', after furnish()' : ''}`,
    Object.keys(chosen[0] ?? {}),
    ...lines,
  ].join('\n');
}

/** What must have come up with the usual seed: without it the sequences would prove little. */
const SEEN = [
  'access chmod exists lstat stat statfs mkdir readdir readEntries opendir readFile realpath rename: ELOOP done',
  'access chmod lstat stat statfs mkdir opendir readFile realpath rename rm rmdir unlink: ENOENT ENOTDIR done',
  'mkdir open symlink writeFile: EEXIST',
  'open: EISDIR ELOOP ENOTDIR',
  'openDirectory: ELOOP ENOENT ENOTDIR done',
  'read: EISDIR EBADF done',
  'readlink: EINVAL done',
  'rename: EBUSY EINVAL EISDIR ENOTEMPTY',
  'rm: ERR_FS_EISDIR',
  'rmdir: EINVAL ENOTEMPTY',
  'statDirectory: removed',
  'unlink: EISDIR',
  'write: EBADF done',
].flatMap((line) => {
  const [names = '', kinds = ''] = line.split(': ');
  return names.split(' ').flatMap((each) => kinds.split(' ').map((kind) => `${each} ${kind}`));
});

/** Changes of a directory `w`, beside a directory `o`. */
const changes: [string, (side: Side, at: (name: string) => string) => Promise<unknown>][] = [
  ['a file is made', ({ files }, at) => files.writeFile(at('w/n'), '')],
  ['a file is made with a text', ({ files }, at) => files.writeFile(at('w/t'), 'text')],
  ['a file is written', ({ files }, at) => files.writeFile(at('w/f'), 'other')],
  ['an empty file is emptied', ({ files }, at) => files.writeFile(at('w/n'), '')],
  ['a mode is changed', ({ files }, at) => files.chmod(at('w/f'), 0o600)],
  ['a file is renamed', ({ files }, at) => files.rename(at('w/f'), at('w/g'))],
  ['a file takes the place of another', ({ files }, at) => files.rename(at('w/t'), at('w/g'))],
  ['a file leaves', ({ files }, at) => files.rename(at('w/g'), at('o/g'))],
  ['a file comes', ({ files }, at) => files.rename(at('o/g'), at('w/h'))],
  ['a link is made', ({ files }, at) => files.symlink('h', at('w/l'))],
  ['another file is made', ({ files }, at) => files.writeFile(at('w/i'), 'text')],
  ['a file is removed', ({ files }, at) => files.unlink(at('w/h'))],
  ['a directory is made', ({ files }, at) => files.mkdir(at('w/d'))],
  ['something is made in that', ({ files }, at) => files.writeFile(at('w/d/f'), 'text')],
  ['all of that is removed', ({ files }, at) => files.rm(at('w/d'), { recursive: true })],
  ['what is there cannot be made', ({ files }, at) => files.mkdir(at('w/i')).catch(() => {})],
  ['it is read', async ({ files }, at) => [await files.readdir(at('w')), await files.readFile(at('w/i'))]],
  ['its own mode is changed', ({ files }, at) => files.chmod(at('w'), 0o700)],
  ['it is renamed', ({ files }, at) => files.rename(at('w'), at('v'))],
  ['something is made under its new name', ({ files }, at) => files.writeFile(at('v/x'), 'text')],
  ['another takes its name', ({ files }, at) => files.mkdir(at('w'))],
  ['something is made in the other', ({ files }, at) => files.writeFile(at('w/y'), 'text')],
  // Node's `rm` removes what is in it in no certain order.
  ['it is emptied', ({ files }, at) => inTurn(['i', 'l', 'n', 'x'], (name) => files.unlink(at(`v/${name}`)))],
  ['it is removed', ({ files }, at) => files.rmdir(at('v'))],
];

async function inTurn(names: string[], act: (name: string) => Promise<void>): Promise<void> {
  for (const name of names) await act(name);
}

async function twoSidesToChange() {
  const sides = await twoSides(await baseIn(tmpdir()));
  const at = (name: string) => `${sides.real.top}/${name}`;
  for (const { files } of [sides.simulated, sides.real]) {
    for (const name of ['w', 'o']) await files.mkdir(at(name));
    await files.writeFile(at('w/f'), 'text');
  }
  return { ...sides, at };
}

/** Which of the files and directories on a side are changed by `change`, after all were made old. */
async function changedBy(side: Side, setTime: (path: string, ms: number) => unknown, change: () => Promise<unknown>) {
  const OLD = 1_000_000_000_000;
  const lines = (await treeOf(side.files, side.top)).filter((line) => !line.includes(': "link"'));
  const paths = lines.map((line) => line.replace(/: .*/s, ''));
  for (const path of paths) await setTime(path, OLD);
  await change();
  const stats = await Promise.all(paths.map((path) => side.files.stat(path).catch(() => undefined)));
  return paths.filter((_, index) => stats[index] && stats[index].mtimeMs !== OLD);
}

describe.skipIf(!nodeFiles.hasHandles)('simulated files (needs Linux)', () => {
  it.each([
    ['a disk', tmpdir()],
    ['memory', '/dev/shm'],
  ])('do what the real ones on %s do', async (_, folder) => {
    const outcomes = await compare(await baseIn(folder), {
      command: all,
      runs: numRuns,
      known: knownAnywhere,
      furnish: furnishWithHandles,
    });
    if (isUsual) expect(SEEN.filter((outcome) => !outcomes.has(outcome))).toEqual([]);
  });

  it('have the times of the real ones after the same changes', async () => {
    const { simulated, real, disk, at } = await twoSidesToChange();
    for (const [name, change] of changes) {
      const setTime = (path: string, ms: number) => disk.as(PROCESS).utimes(path, ms);
      const found = await changedBy(simulated, setTime, () => change(simulated, at));
      const setReal = (path: string, ms: number) => utimes(path, ms / 1000, ms / 1000);
      expect(found, name).toEqual(await changedBy(real, setReal, () => change(real, at)));
    }
  });

  it('tell a watcher what the kernel tells', async () => {
    const { simulated, real, at } = await twoSidesToChange();
    const [told, toldReal]: [string[], string[]] = [[], []];
    const watching = simulated.files.watch(at('w'), {
      armed: () => {},
      event: (name) => told.push(name),
      error: () => {},
    });
    const watcher = watch(at('w'), (_, name) => toldReal.push(name ?? ''));
    for (const [name, change] of changes) {
      for (const side of [simulated, real]) await change(side, at);
      const home = (await nodeFiles.exists(at('v'))) ? at('v') : at('w');
      // Events come in their order: with this one all are there. Those of a directory that is gone end with its own name.
      const last = name === 'it is removed' ? 'w' : `last ${name}`;
      if (last !== 'w') await writeFile(join(home, last), '');
      await expect.poll(() => toldReal).toContain(last);
      if (last !== 'w') await rm(join(home, last));
      const names = (list: string[]) =>
        list.splice(0).filter((each, index, them) => each !== them[index - 1] && !each.startsWith('last '));
      expect(names(told), name).toEqual(names(toldReal));
    }
    watcher.close();
    await watching.close();
  });
});

describe.skipIf(!canMountNetwork)('simulated files and a file server (needs root and sshfs)', () => {
  it('do the same', async () => {
    await using mount = await mountNetwork();
    await compare(join(await nodeFiles.realpath(mount.path), 'mock'), {
      command: byName,
      runs: numRuns / 8,
      known: knownOnServer,
      furnish,
    });
  });
});
