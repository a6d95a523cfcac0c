import { mkdir, mkdtemp, open, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { type Mount, mounted, removed, works } from './mounting.ts';

/** Of Debian, as python3-fusepy is: another Python may come first on the PATH. */
const PYTHON = '/usr/bin/python3';
const RECORDER = join(import.meta.dirname, 'recording-file-system.py');

const named = { node: z.int(), parent: z.int(), name: z.string() };
const changeSchema = z.discriminatedUnion('op', [
  z.object({
    ...named,
    op: z.literal('make'),
    kind: z.enum(['file', 'directory', 'link', 'other']),
    mode: z.int(),
    target: z.string().optional(),
  }),
  z.object({ ...named, op: z.literal('link') }),
  z.object({ ...named, op: z.literal('remove') }),
  z.object({ ...named, op: z.literal('move'), before: z.int(), oldName: z.string() }),
  z.object({ op: z.literal('write'), node: z.int(), offset: z.int(), start: z.int(), length: z.int() }),
  z.object({ op: z.literal('size'), node: z.int(), size: z.int() }),
  z.object({ op: z.literal('mode'), node: z.int(), mode: z.int() }),
  // Ended here, and covers the changes before the place `covers`: what came while it was under way is not covered.
  z.object({ op: z.literal('flush'), node: z.int(), covers: z.int() }),
  z.object({ op: z.literal('mark'), text: z.string() }),
]);
export type Change = z.infer<typeof changeSchema>;

/** Everything that was done to a file system, in order. A node is a file or directory, whatever its names; 0 is the root. */
export type Journal = { changes: readonly Change[]; data: Buffer };

export type RecordedMount = Mount & {
  /** Writes a line into the journal; once it resolves, the line stands behind all that was done before. */
  mark(text: string): Promise<void>;
  journal(): Promise<Journal>;
};

/** Whether changes can be recorded here: root, FUSE and python3-fusepy. */
export const canRecord = await works(mountRecorded());

/** An empty directory on a file system that writes down what is done to it. */
export async function mountRecorded(): Promise<RecordedMount> {
  const path = await mkdtemp(join(tmpdir(), 'rule-server-'));
  const behind = await mkdtemp(join(tmpdir(), 'rule-server-'));
  const [disk, journal] = [join(behind, 'disk'), join(behind, 'journal')];
  await mkdir(disk);
  const mount = await mounted(path, [PYTHON, RECORDER, disk, path, journal]);
  const marks = await open(join(path, '.marks'), 'w');
  return {
    path,
    async mark(text) {
      await marks.write(text, 0);
    },
    journal: () => readJournal(journal),
    async [Symbol.asyncDispose]() {
      await marks.close();
      await mount[Symbol.asyncDispose]();
      await removed(behind);
    },
  };
}

export async function readJournal(path: string): Promise<Journal> {
  const lines = (await readFile(path, 'utf8')).trim().split('\n');
  return { changes: lines.map((line) => changeSchema.parse(JSON.parse(line))), data: await readFile(`${path}.data`) };
}

export async function writeJournal(path: string, { changes, data }: Journal): Promise<void> {
  await writeFile(path, changes.map((change) => JSON.stringify(change)).join('\n'));
  await writeFile(`${path}.data`, data);
}
