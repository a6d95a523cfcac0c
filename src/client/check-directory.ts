import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { nearest } from '../shared/contract/nearest.ts';
import { shown } from './check-options.ts';

/** The fault of a shared directory; undefined where there is none. */
export function checkDirectory(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.trim() === '') return `sharedDir must be a directory, not ${shown(value)}`;
  const path = resolve(value);
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory()) return undefined;
  if (found) return `sharedDir must be a directory, and ${path} is none`;
  const similar = nearest(basename(path), directoriesIn(dirname(path)));
  const hint =
    similar === undefined ? 'make it first, or name the one that the rule server uses' : `did you mean ${similar}?`;
  return `sharedDir: there is no directory ${path}; ${hint}`;
}

function directoriesIn(path: string): string[] {
  try {
    return readdirSync(path, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  } catch {
    return [];
  }
}
