import type { Registry } from '../leaves/registry.ts';
import { applyUpdate, type Released, readReleased, readUpdateFile, readVersion } from './released-files.ts';
import { createRuleSet, type RuleSet } from './rule-set.ts';

/** How often the update file of the newest version may be missing before everything is read again: it is written last. */
const PATIENCE = 3;
/** So far behind, reading everything is quicker than every update. */
const MAX_UPDATES = 100n;

type Options = {
  /** The app's folder in the shared directory. */
  directory: string;
  registry: Registry;
  strict?: boolean;
  /** Called with the problems of the released files, each time they were loaded. */
  onProblems: (problems: readonly string[]) => void;
};

export type RuleSource = Awaited<ReturnType<typeof openRuleSource>>;

/**
 * The newest released rules. `refresh` follows the app's version by its update files and reads everything again when one
 * is missing or makes no sense; refreshes at the same moment are one. A run keeps the rules it began with.
 */
export async function openRuleSource({ directory, registry, strict = false, onProblems }: Options) {
  let rules = createRuleSet(await readReleased(directory), registry, { strict });
  let refreshing: Promise<void> | undefined;
  let waited = 0;
  let onVersion: (version: bigint) => void = () => {};
  if (rules.problems.length > 0) onProblems(rules.problems);

  function take(released: Released): void {
    waited = 0;
    rules = createRuleSet(released, registry, { before: rules, strict });
    onVersion(rules.version);
    if (rules.problems.length > 0) onProblems(rules.problems);
  }

  async function follow(): Promise<void> {
    const version = await readVersion(directory);
    if (version === null || version === rules.version) return;
    const updated = await update(version);
    if (updated === 'wait') return;
    take(updated ?? (await readReleased(directory)));
  }

  /** The released files brought up to a version by its updates; null when that cannot be done. */
  async function update(version: bigint): Promise<Released | 'wait' | null> {
    let { released } = rules;
    if (version < released.version || version - released.version > MAX_UPDATES) return null;
    for (let next = released.version + 1n; next <= version; next++) {
      try {
        const changes = await readUpdateFile(directory, next);
        if (changes === null) {
          if (next < version || ++waited >= PATIENCE) return null;
          return released === rules.released ? 'wait' : released;
        }
        released = applyUpdate(released, changes, next);
      } catch {
        return null; // an unusable update is made up for by reading everything
      }
    }
    return released;
  }

  return {
    current: (): RuleSet => rules,

    /** The listener for every version loaded from now on. */
    onVersion(listener: (version: bigint) => void): void {
      onVersion = listener;
    },

    /** Looks whether there is a newer version. */
    refresh(): Promise<void> {
      refreshing ??= follow().finally(() => {
        refreshing = undefined;
      });
      return refreshing;
    },

    /** Reads everything again. */
    async reload(): Promise<void> {
      take(await readReleased(directory));
    },
  };
}
