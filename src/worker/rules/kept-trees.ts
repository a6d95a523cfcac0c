import { stringifyExact } from '../../shared/contract/json/raw-number.ts';
import { TREE_KEPT_BEYOND_SECONDS } from '../../shared/contract/rules-of-run.ts';
import { time } from '../../shared/ports/time.ts';
import type { Privacy } from '../../shared/privacy/privacy.ts';
import type { Settings } from '../../shared/runtime/settings/settings.ts';
import { createThrottledAlert, type Logger } from '../../shared/runtime/telemetry/logger.ts';
import { type Trees, treeKey } from '../../shared/store/history/trees.ts';
import type { MetadataFor, Wanted } from './leaves/leaf-metadata.ts';
import type { Rules } from './rules.ts';
import type { RuleGraph, Selection } from './tree/rule-graph.ts';
import { readTree } from './tree/tree.ts';

/** A larger tree is not kept: it would take the room of many others, and its runs are shown without one. */
const MAX_SHARE = 1 / 8;
/** So often the time of a tree that is in use is begun anew. */
const KEEP_AGAIN_MS = 3_600_000;
/** A worker may see the files of a release later than a client did. */
const CHECK_AGAIN_MS = 10_000;
const MAX_REMEMBERED = 10_000;

type Source = Pick<Rules, 'readGraph' | 'readVersion'>;
/** The rules of a run: the version that they were said to be of, and their digest. */
type Ran = { digest: string; version: string | null };

type KeptTreesDependencies = {
  rules: Source & Pick<Rules, 'olderRules'>;
  metadataFor: MetadataFor;
  trees: Trees;
  privacy: Privacy;
  settings: Pick<Settings, 'HISTORY_SECONDS' | 'TREES_BYTES'>;
  log: Logger;
};

export type KeptTrees = ReturnType<typeof createKeptTrees>;

/** Keeps the trees of rules that ran, once for each digest, as long as a run on them may be in the history and they have room. */
export function createKeptTrees({ rules, metadataFor, trees, privacy, settings, log }: KeptTreesDependencies) {
  const keptAt = new Map<string, number>();
  const alert = createThrottledAlert(log, 'The rules of runs cannot be kept');
  const seconds = settings.HISTORY_SECONDS + TREE_KEPT_BEYOND_SECONDS;

  async function keep({ digest, version }: Ran, asked: Selection & Wanted, graph: RuleGraph | null): Promise<void> {
    const released = version === null ? null : BigInt(version);
    const read = graph && { readGraph: async () => graph, readVersion: async () => released };
    const text = (await readAs(digest, asked, read ?? rules)) ?? (await readOlder(digest, asked, version));
    const isKept = text !== null && Buffer.byteLength(text) <= settings.TREES_BYTES * MAX_SHARE;
    if (isKept) await trees.keep(treeKey(asked.app, digest), text, seconds);
    if (text === null) keptAt.set(treeKey(asked.app, digest), time.monotonic() - KEEP_AGAIN_MS + CHECK_AGAIN_MS);
    alert.ends();
  }

  /** The tree as JSON text; null when its rules are others than those of the digest. */
  async function readAs(digest: string, asked: Selection & Wanted, source: Source): Promise<string | null> {
    const { kind, ...tree } = await readTree(asked, { rules: source, metadataFor });
    return kind === 'tree' && 'digest' in tree && tree.digest === digest ? stringifyExact(tree) : null;
  }

  /** They changed since: update files may tell what they were. */
  async function readOlder(digest: string, asked: Selection & Wanted, version: string | null): Promise<string | null> {
    const source = version === null ? null : await (await rules.olderRules(asked.app))(BigInt(version));
    return source && readAs(digest, asked, source);
  }

  return {
    /** An execution runs on these rules. It does not wait for this. `graph`: they, as they were read; else they are read again. */
    use(
      { digest, version }: Pick<Ran, 'version'> & { digest: string | null },
      asked: Selection & Wanted,
      graph: RuleGraph | null = null,
    ): void {
      if (digest === null || privacy.isOff(asked.app)) return;
      const now = time.monotonic();
      const key = treeKey(asked.app, digest);
      if (now - (keptAt.get(key) ?? Number.NEGATIVE_INFINITY) < KEEP_AGAIN_MS) return;
      if (keptAt.size >= MAX_REMEMBERED) keptAt.clear();
      keptAt.set(key, now);
      keep({ digest, version }, asked, graph).catch((error) => {
        keptAt.delete(key);
        alert.begins(error, 'runs on them are shown without a tree once other rules are released');
      });
    },
  };
}
