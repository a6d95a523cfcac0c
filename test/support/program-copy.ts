import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

export type Edit = readonly [from: string, to: string];
/** A copy of this program in a directory of its own. */
export type ProgramCopy = { root: string; [Symbol.asyncDispose](): Promise<void> };

/** Copies the source with some texts changed and some files added, so that nothing in the source itself knows of them. */
export async function copyProgram(
  changed: Record<string, readonly Edit[]>,
  added: Record<string, string> = {},
): Promise<ProgramCopy> {
  const root = await mkdtemp(join(tmpdir(), 'rule-server-copy-'));
  for (const part of ['bin', 'src', 'package.json', 'test/support/fault-worker.ts'])
    await cp(join(ROOT, part), join(root, part), { recursive: true, filter: (path) => !path.endsWith('src/console') });
  await symlink(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  for (const [file, edits] of Object.entries(changed)) await change(join(root, 'src', file), edits);
  for (const [file, text] of Object.entries(added)) await writeFile(join(root, 'src', file), text);
  return { root, [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }) };
}

async function change(path: string, edits: readonly Edit[]): Promise<void> {
  let text = await readFile(path, 'utf8');
  for (const [from, to] of edits) {
    if (text.split(from).length !== 2) throw new Error(`${path} does not have "${from}" exactly once`);
    text = text.replace(from, () => to);
  }
  await writeFile(path, text);
}
