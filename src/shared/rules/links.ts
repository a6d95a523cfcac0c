import { sep } from 'node:path';
import { fault } from '../reasons/causes.ts';
import { asFault } from '../reasons/template.ts';
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
    return target.startsWith(real + sep) ? { kind: 'found', value: target } : unusable(fault('link-outwards', {}));
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'ELOOP') return unusable(fault('link-in-circle', {}));
    if (errno === 'ENOENT' || errno === 'ENOTDIR') return unusable(fault('link-to-nothing', {}));
    return unusable(fault('link-unreadable', { errno: errno || `${error}` }));
  }
}

/** The reading of the target of a link. */
export function ofTarget<T>(reading: Reading<T>): Reading<T> {
  return reading.kind === 'unusable' ? unusable(fault('link-target', asFault(reading.fault))) : reading;
}
