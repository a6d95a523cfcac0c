import type { Item } from '../api/batch-items.ts';
import { versionRan } from '../run/rules-of-run.ts';

/** The versions of the rules that a batch ran on and that the one before ran on; null where they are the same, or not known. */
export type Releases = { before: string; now: string } | null;

export function releasesOf(before: readonly Item[], now: readonly Item[]): Releases {
  const [earlier, later] = [rulesIn(before), rulesIn(now)];
  if (earlier.size === 0 || later.size === 0) return null;
  const isSame = earlier.size === later.size && [...earlier.keys()].every((digest) => later.has(digest));
  return isSame ? null : { before: versionsIn(earlier), now: versionsIn(later) };
}

/** The version by the digest of the rules: one version may have had several. */
function rulesIn(items: readonly Item[]): Map<string, string> {
  return new Map(items.flatMap(({ rules }) => (rules?.digest ? [[rules.digest, versionRan(rules) ?? '?']] : [])));
}

const versionsIn = (rules: ReadonlyMap<string, string>) => [...new Set(rules.values())].join(', ');
