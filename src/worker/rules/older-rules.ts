import { fault } from '../../shared/reasons/causes.ts';
import { absent, type Reading, unusable } from '../../shared/rules/reading.ts';
import type { Rule } from '../../shared/rules/rule-file.ts';
import type { Changes, Update } from '../../shared/rules/update-file.ts';
import type { ConfigFiles } from './config-files.ts';
import { type GraphSources, readGraph, type Selection } from './tree/rule-graph.ts';

/** So many update files are read at the most, on either side of a version. */
const MAX_UPDATES = 100n;

/** The update file of one version; null where there is none that can be read. */
type ReadUpdate = (version: bigint) => Promise<Update | null>;
type Read<T> = (id: bigint) => Promise<Reading<T>>;
type ChangesOf<T> = (update: Update) => Changes<T>;

/**
 * Reads the rules of earlier versions, each file once; null of a version that is too long ago. An update file tells what a rule or a node was
 * after its release, not before. So one that a later update changed is as the newest earlier update says, and unknown where none tells it.
 */
export function createOlderRules(files: Pick<ConfigFiles, 'version' | 'updatesOf'>, sources: GraphSources) {
  return async function olderRules(app: number) {
    const now = await files.version(app);
    const updateOf = once(await files.updatesOf(app));
    const ruleNow = once((id) => sources.readRule(app, id));
    const nodeNow = once(await sources.nodesOf(app));
    return async (version: bigint) => {
      if (now === null || version < 1n || version > now || now - version > MAX_UPDATES) return null;
      const later = await Promise.all(
        Array.from({ length: Number(now - version) }, (_, at) => updateOf(now - BigInt(at))),
      );
      const asOf = readsAsOf(version, { later, updateOf });
      const older: GraphSources = {
        ...sources,
        readRule: async (_, ruleId) => {
          const rule = await asOf<Rule>(({ rules }) => rules, ruleNow)(ruleId);
          // An update does not say in which folder a rule stands.
          return rule.kind === 'found' ? { kind: 'found', value: { folder: '', ...rule.value } } : rule;
        },
        nodesOf: async () => asOf(({ nodes }) => nodes, nodeNow),
      };
      return { readVersion: async () => version, readGraph: (selection: Selection) => readGraph(selection, older) };
    };
  };
}

/** Reads each id once. */
function once<T>(read: (id: bigint) => Promise<T>): (id: bigint) => Promise<T> {
  const known = new Map<bigint, Promise<T>>();
  return (id) => {
    const reading = known.get(id) ?? read(id);
    known.set(id, reading);
    return reading;
  };
}

function readsAsOf(version: bigint, { later, updateOf }: { later: (Update | null)[]; updateOf: ReadUpdate }) {
  // A release without an update file may have changed any node.
  const isTouchedSince = <T>(id: bigint, changesOf: ChangesOf<T>) =>
    later.some((update) => update === null || tells(changesOf(update), id) !== undefined);

  return <T>(changesOf: ChangesOf<T>, readNow: Read<T>): Read<T> =>
    async (id) => {
      if (!isTouchedSince(id, changesOf)) return readNow(id);
      for (let number = version; number > 0n && number > version - MAX_UPDATES; number--) {
        const update = await updateOf(number);
        if (update === null) break;
        const known = tells(changesOf(update), id);
        if (known) return known;
      }
      return unusable(fault('not-known-then', { version: `${version}` }));
    };
}

/** What an update says of an id; undefined when nothing. */
function tells<T>({ deleted, written }: Changes<T>, id: bigint): Reading<T> | undefined {
  const value = written.get(id);
  if (value !== undefined) return { kind: 'found', value };
  return deleted.has(id) ? absent : undefined;
}
