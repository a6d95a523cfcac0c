import { sep } from 'node:path';
import { errnoOf } from '../runtime/errno.ts';
import { type Reading, unusable } from './reading.ts';

/**
 * The file that a link leads to, if it may be read: one inside the folder of its app, as Kubernetes makes it for a ConfigMap
 * (`1.json -> ..data/1.json`). `real`: the path of that folder without links. `resolve`: realpath(3).
 */
export async function followLink(
  path: string,
  { real, resolve }: { real: string; resolve: (path: string) => Promise<string> },
): Promise<Reading<string>> {
  try {
    const target = await resolve(path);
    return target.startsWith(real + sep)
      ? { kind: 'found', value: target }
      : unusable("is a link that leads out of its app's folder");
  } catch (error) {
    const code = errnoOf(error);
    if (code === 'ELOOP') return unusable('is a link that leads in a circle');
    if (code === 'ENOENT' || code === 'ENOTDIR') return unusable('is a link to nothing');
    return unusable(`is a link that cannot be followed (${code || error})`);
  }
}

/** The reading of the target of a link. */
export function ofTarget<T>(reading: Reading<T>): Reading<T> {
  return reading.kind === 'unusable' ? unusable(`is a link whose target ${reading.reason}`) : reading;
}
