import { stringifyExact } from '../../shared/contract/raw-number.ts';
import { TREE_KEPT_BEYOND_SECONDS } from '../../shared/contract/rules-of-run.ts';
import type { Privacy } from '../../shared/privacy/privacy.ts';
import { createThrottledAlert, type Logger } from '../../shared/runtime/logger.ts';
import type { Settings } from '../../shared/runtime/settings.ts';
import { time } from '../../shared/seams/time.ts';
import type { Trees } from '../../shared/store/trees.ts';
import type { MetadataFor, Wanted } from './leaf-metadata.ts';
import type { Selection } from './rule-graph.ts';
import type { Rules } from './rules.ts';
import { readTree } from './tree.ts';

/** A larger tree is not kept: it would take the room of many others, and its runs are shown without one. */
const MAX_SHARE = 1 / 8;
/** So often the time of a tree that is in use is begun anew. */
const KEEP_AGAIN_MS = 3_600_000;
const MAX_REMEMBERED = 10_000;

type Dependencies = {
  rules: Pick<Rules, 'readGraph' | 'readVersion'>;
  metadataFor: MetadataFor;
  trees: Trees;
  privacy: Privacy;
  settings: Pick<Settings, 'HISTORY_SECONDS' | 'TREES_BYTES'>;
  log: Logger;
};

export type KeptTrees = ReturnType<typeof createKeptTrees>;

/** Keeps the trees of rules that ran, once for each digest, as long as a run on them may be in the history and they have room. */
export function createKeptTrees({ rules, metadataFor, trees, privacy, settings, log }: Dependencies) {
  const keptAt = new Map<string, number>();
  const alert = createThrottledAlert(log, 'The rules of runs cannot be kept');
  const seconds = settings.HISTORY_SECONDS + TREE_KEPT_BEYOND_SECONDS;

  async function keep(digest: string, asked: Selection & Wanted): Promise<void> {
    const { kind, ...tree } = await readTree(asked, { rules, metadataFor });
    // Where they changed since, the tree of that run is gone.
    if (kind !== 'tree' || !('digest' in tree) || tree.digest !== digest) return;
    const text = stringifyExact(tree);
    if (Buffer.byteLength(text) <= settings.TREES_BYTES * MAX_SHARE) await trees.keep(digest, text, seconds);
    alert.ends();
  }

  return {
    /** An execution is about to run on these rules. It does not wait for this. */
    use(digest: string | null, asked: Selection & Wanted): void {
      if (digest === null || privacy.isOff(asked.app)) return;
      const now = time.monotonic();
      if (now - (keptAt.get(digest) ?? Number.NEGATIVE_INFINITY) < KEEP_AGAIN_MS) return;
      if (keptAt.size >= MAX_REMEMBERED) keptAt.clear();
      keptAt.set(digest, now);
      keep(digest, asked).catch((error) => {
        keptAt.delete(digest);
        alert.begins(error, 'runs on them are shown without a tree once other rules are released');
      });
    },
  };
}
