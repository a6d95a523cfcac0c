import { type ExactValue, integerOf, stringifyExact } from '../../shared/contract/json/raw-number.ts';
import { digits, field, list } from '../../shared/contract/json/read-exact.ts';
import { absent, type Reading, unusable } from '../files/reading/reading.ts';
import type { ConfigFiles } from './config-files.ts';
import { parseNode, type RuleNode } from './node-file.ts';
import type { PlacedRule } from './rule-file.ts';
import { parseRule } from './rule-file.ts';
import { type GraphSources, readGraph, type Selection } from './tree/rule-graph.ts';

/** So many update files are read at the most, on either side of a version. */
const MAX_UPDATES = 100n;

/** The update file of one version, parsed; null where there is none that can be read. */
type ReadUpdate = (version: bigint) => Promise<ExactValue | null>;
type Read<T> = (id: bigint) => Promise<Reading<T>>;

type Kind<T> = { deleted: string; written: string; parse: (text: string, id: bigint) => Reading<T> };
const nodes: Kind<RuleNode> = { deleted: 'deleteConfIds', written: 'insertOrUpdateConfs', parse: parseNode };
const rules: Kind<PlacedRule> = { deleted: 'deleteBaseIds', written: 'insertOrUpdateBases', parse: parsePlaced };

/** An update does not say in which folder a rule stands. */
function parsePlaced(text: string, id: bigint): Reading<PlacedRule> {
  const parsed = parseRule(text, id);
  return parsed.kind === 'found' ? { kind: 'found', value: { ...parsed.value, folder: '' } } : parsed;
}

/**
 * Reads the rules of an earlier version; null where it is too long ago. An update file tells what was there after it, not before: what a later
 * one touched is as the newest earlier one says. Where no earlier one has it, nobody knows what it was.
 */
export function createRulesAt(files: Pick<ConfigFiles, 'version' | 'update'>, sources: GraphSources) {
  return async function rulesAt(app: number, version: bigint) {
    const now = await files.version(app);
    if (now === null || version > now || now - version > MAX_UPDATES) return null;
    const updates = new Map<bigint, Promise<ExactValue | null>>();
    const asOf = readsAsOf({ version, now }, (number) => {
      const reading = updates.get(number) ?? files.update(app, number);
      updates.set(number, reading);
      return reading;
    });
    const older: GraphSources = {
      ...sources,
      readRule: (_, ruleId) => asOf(rules, (id) => sources.readRule(app, id))(ruleId),
      nodesOf: async () => asOf(nodes, await sources.nodesOf(app)),
    };
    return { readVersion: async () => version, readGraph: (selection: Selection) => readGraph(selection, older) };
  };
}

function readsAsOf({ version, now }: { version: bigint; now: bigint }, updateOf: ReadUpdate) {
  async function isTouchedSince<T>(id: bigint, kind: Kind<T>): Promise<boolean> {
    for (let number = version + 1n; number <= now; number++) {
      const update = await updateOf(number);
      // A release without an update file may have changed any node, this one too.
      if (update === null || tells(update, id, kind) !== undefined) return true;
    }
    return false;
  }

  return <T>(kind: Kind<T>, readNow: Read<T>): Read<T> =>
    async (id) => {
      if (!(await isTouchedSince(id, kind))) return readNow(id);
      for (let number = version; number > 0n && number > version - MAX_UPDATES; number--) {
        const told = tells(await updateOf(number), id, kind);
        if (told !== undefined) return told;
      }
      return unusable(`is not known as of version ${version}`);
    };
}

/** The entry of an update for an id; undefined when there is none. */
function tells<T>(update: ExactValue | null, id: bigint, { deleted, written, parse }: Kind<T>): Reading<T> | undefined {
  if (update === null) return undefined;
  const object = list(field(update, written)).find((one) => idOf(field(one, 'id')) === id);
  if (object !== undefined) return parse(stringifyExact(object), id);
  return list(field(update, deleted)).some((one) => idOf(one) === id) ? absent : undefined;
}

function idOf(value: ExactValue | undefined): bigint | undefined {
  const text = typeof value === 'string' ? value : digits(value);
  return text === null ? undefined : integerOf(text);
}
