import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const FIXTURES = join(import.meta.dirname, '../fixtures');

/** A shared directory of its own for one test, with the sentences tests write rules in. Removed by `remove`. */
export async function createRuleFiles() {
  const sharedDir = await mkdtemp(join(tmpdir(), 'rule-files-'));
  const pathOf = (...parts: (string | number | bigint)[]) => join(sharedDir, ...parts.map(String));

  async function write(path: string, text: string): Promise<void> {
    // At once: tests write thousands of them, and a trip to another thread costs many times what a small file does.
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(`${path}.tmp`, text);
    renameSync(`${path}.tmp`, path);
  }

  return {
    sharedDir,
    pathOf,

    /** Puts a whole text in place, as the rules' editors do: written aside, then renamed. */
    write: (text: string, ...parts: (string | number | bigint)[]) => write(pathOf(...parts), text),

    /** A released rule in app 7. */
    rule: (id: number | bigint | string, members: string, folder = '') =>
      write(pathOf(7, 'bases', folder, `${id}.json`), `{"id":${id},"app":7,"status":1,${members}}`),

    /** A released node in app 7. */
    node: (id: number | bigint | string, members: string) =>
      write(pathOf(7, 'confs', `${id}.json`), `{"id":${id},"app":7,"status":1,${members}}`),

    /** The captured rules and nodes of app 7. */
    useFixture: () => cp(join(FIXTURES, 'app-7'), pathOf(7), { recursive: true }),

    remove: () => rm(sharedDir, { recursive: true, force: true }),
  };
}
