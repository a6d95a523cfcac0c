import { join } from 'node:path';
import { MAX_CASES_BYTES } from '../../shared/cases/document/document.ts';
import { etagOf } from '../../shared/cases/etag.ts';
import type { SavedFile } from '../../shared/contract/saved-cases.ts';
import { fault } from '../../shared/reasons/causes.ts';
import { absent, type Reading, readingOfError, unusable } from '../../shared/rules/reading.ts';
import { errnoOf, unless } from '../../shared/runtime/errno.ts';
import { type ClientDirectory, directoryAt } from '../files/client-directory.ts';
import { privateDirectory } from '../files/file-names.ts';
import { readWhole, refusal } from '../files/file-system.ts';
import { mkdir } from '../files/ports/files.ts';
import { mapInBulk } from '../files/reading/bulk.ts';
import type { FileClock } from '../files/shared-directory.ts';
import { LockLost, withLock, writeTemporary } from './lock-file.ts';

/** The rule or the node that the cases belong to. Ids are decimal text. */
type CasesOf = { app: number; ruleId: string | null; confId: string | null };
/** `changed`: they are not those that `expected` is the ETag of; `reading` is what is there. */
type Saving = { kind: 'saved' } | { kind: 'changed'; reading: Reading<string> } | { kind: 'busy' };

type CaseFilesDependencies = {
  sharedDir: string;
  clock: FileClock;
  /** Tests put a worker to sleep here. */
  beforeRename?: () => Promise<void>;
};

const FORM = /^(rule|conf)-([1-9]\d{0,18})\.yaml$/;
const LEFT_BEHIND_MS = 60 * 60_000;

/**
 * Saved cases, a document each. Removing one leaves an empty file, which counts as none: what is there changes by a rename
 * alone, and that cannot hit the document of somebody who was quicker.
 */
export function createCaseFiles({ sharedDir, clock, beforeRename = async () => {} }: CaseFilesDependencies) {
  const root = join(privateDirectory(sharedDir), 'cases');
  const folderOf = (app: number) => directoryAt(join(root, String(app)));

  async function read(cases: CasesOf): Promise<Reading<string>> {
    return readText(folderOf(cases.app), nameOf(cases)).catch(readingOfFolder);
  }

  async function compareAndRename(folder: ClientDirectory, name: string, change: Change): Promise<Saving> {
    const reading = await readText(folder, name);
    if (reading.kind === 'unusable') return { kind: 'changed', reading };
    const etag = reading.kind === 'found' ? etagOf(reading.value) : null;
    if (etag === etagOrNull(change.text)) return { kind: 'saved' }; // a repeat, when the first answer was lost
    if (etag !== change.expected) return { kind: 'changed', reading };
    await beforeRename();
    await folder.rename(change.temporary, name);
    return { kind: 'saved' };
  }

  async function saveIn(folder: ClientDirectory, name: string, change: Omit<Change, 'temporary'>): Promise<Saving> {
    const temporary = await writeTemporary(folder, change.text ?? '');
    try {
      const lock = { folder, name: `${name}.lock`, temporary, clock };
      return await withLock(lock, () => compareAndRename(folder, name, { ...change, temporary }));
    } catch (error) {
      if (error instanceof LockLost || errnoOf(error) === 'ENOENT') return { kind: 'busy' };
      throw error;
    } finally {
      await folder.remove(temporary);
    }
  }

  return {
    /** The text of saved cases. A link, or a file that is too large, is `unusable`. */
    read,

    /** Replaces cases by `text`, or removes them, when they are still those whose ETag is `expected` (null: none). */
    async save(cases: CasesOf, change: Omit<Change, 'temporary'>): Promise<Saving> {
      await mkdir(root).catch(unless('EEXIST')); // not recursive: what is above must be there
      const folder = folderOf(cases.app);
      await mkdir(folder.path).catch(unless('EEXIST'));
      await removeLeftBehind(folder, await clock.touch());
      return saveIn(folder, nameOf(cases), change);
    },

    /** The cases that are saved for an app. */
    async list(app: number): Promise<SavedFile[]> {
      const folder = folderOf(app);
      const names = (await folder.list().catch(unless('ENOENT'))) ?? [];
      const files = await mapInBulk(names, (name) => look(folder, name));
      return files.filter((file) => file !== null).sort((a, b) => b.changedAt - a.changedAt);
    },
  };
}
export type CaseFiles = ReturnType<typeof createCaseFiles>;

type Change = { expected: string | null; text: string | null; temporary: string };

const etagOrNull = (text: string | null) => (text === null ? null : etagOf(text));
const nameOf = ({ ruleId, confId }: CasesOf) => (ruleId !== null ? `rule-${ruleId}.yaml` : `conf-${confId}.yaml`);

async function readText(folder: ClientDirectory, name: string): Promise<Reading<string>> {
  const reading = await folder.read(name, (file) => readWhole(file, MAX_CASES_BYTES)).catch(readingOfFile);
  return reading.kind === 'found' && reading.value === '' ? absent : reading;
}

/** What is wrong with the folder is for `readingOfFolder`. */
function readingOfFile(error: unknown): Reading<string> {
  if (errnoOf(error) === 'ENOTDIR') throw error;
  return readingOfError(error);
}

/** A link in the place of the folder is refused like one in the place of the file. */
function readingOfFolder(error: unknown): Reading<string> {
  return errnoOf(error) === 'ENOTDIR' ? unusable(fault('behind-link', {})) : readingOfError(error);
}

async function look(folder: ClientDirectory, name: string): Promise<SavedFile | null> {
  const [, kind, id = ''] = FORM.exec(name) ?? [];
  const found = kind === undefined ? undefined : await folder.stat(name).catch(unless('ENOENT'));
  if (!found || found.size === 0 || refusal(found, MAX_CASES_BYTES)) return null;
  const ids = kind === 'rule' ? { ruleId: id, confId: null } : { ruleId: null, confId: id };
  return { ...ids, bytes: found.size, changedAt: Math.round(found.mtimeMs) };
}

/** Temporary files of workers that were killed. */
async function removeLeftBehind(folder: ClientDirectory, now: number): Promise<void> {
  for (const name of await folder.list()) {
    if (!name.endsWith('.tmp')) continue;
    const found = await folder.stat(name).catch(unless('ENOENT'));
    if (found && now - found.mtimeMs > LEFT_BEHIND_MS) await folder.remove(name);
  }
}
