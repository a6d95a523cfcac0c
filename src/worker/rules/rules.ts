import { join } from 'node:path';
import type { RuleNode } from '../../shared/rules/node-file.ts';
import { absent, type Reading, unusable } from '../../shared/rules/reading.ts';
import type { Rule } from '../../shared/rules/rule-file.ts';
import { time } from '../../shared/seams/time.ts';
import { createJoinedReads } from '../files/reading/joined-reads.ts';
import { type ConfigFiles, createConfigFiles } from './config-files.ts';
import type { Skipped } from './folder-listing.ts';
import { createRulesAt } from './older-rules.ts';
import { type GraphSources, type PlacedRule, type RuleGraph, readGraph, type Selection } from './tree/rule-graph.ts';

/** All rules of an app by id, and the files that were passed over. */
type RuleList =
  | { kind: 'rules'; rules: PlacedRule[]; skipped: Skipped[]; version: bigint | null }
  | { kind: 'no-rules' };

export type Rules = ReturnType<typeof createRules>;

/**
 * The released rules and nodes in the shared directory, read only. Every answer is as fresh as the call: each file is
 * looked at, and parsed again when it changed. `now` is a monotonic clock in ms.
 */
export function createRules({ sharedDir, now = () => time.monotonic() }: { sharedDir: string; now?: () => number }) {
  const files = createConfigFiles({ sharedDir, now });
  const joinReads = createJoinedReads<RuleGraph>();

  async function readRule(app: number, ruleId: bigint): Promise<Reading<PlacedRule>> {
    for (let attempt = 0; ; attempt++) {
      const index = await files.ruleIndex(app);
      if (index.kind !== 'found') return index;
      const places = index.value.folders.get(ruleId) ?? [];
      const { reading } = await readPlaces(files, { app, ruleId, places });
      // A file that is moved while folders are listed can be missed once: it stood in the one that was listed too early.
      if (reading.kind !== 'absent' || attempt > 0) return reading;
    }
  }

  const nodesOf = async (app: number) => {
    const has = await files.hasNodes(app);
    return async (confId: bigint): Promise<Reading<RuleNode>> => (has ? files.node(app, confId) : absent);
  };

  const sources = { readRule, nodesOf, hasConfiguration: (app: number) => hasConfiguration(files, app) };

  return {
    /** The apps that have a folder for rules or nodes, ascending. */
    listApps: files.apps,

    /** All rules of an app. `no-rules` when it has no readable folder for them. */
    async listRules(app: number): Promise<RuleList> {
      const index = await files.ruleIndex(app);
      if (index.kind !== 'found') return { kind: 'no-rules' };
      const found = await Promise.all(
        [...index.value.folders].map(([ruleId, places]) => readPlaces(files, { app, ruleId, places })),
      );
      const rules = found.flatMap(({ reading }) => (reading.kind === 'found' ? [reading.value] : []));
      const skipped = [...index.value.skipped, ...found.flatMap((place) => place.skipped)];
      rules.sort((a, b) => (a.id < b.id ? -1 : 1));
      return { kind: 'rules', rules, skipped, version: await files.version(app) };
    },

    /** One rule, wherever below `bases` it stands. Of two files (one is being moved) the newer usable one counts. */
    readRule,

    /** One released node. */
    readNode: async (app: number, confId: bigint): Promise<Reading<RuleNode>> => (await nodesOf(app))(confId),

    /** The app's configuration version, null when there is none. */
    readVersion: files.version,

    /** The nodes that a selection reaches. Callers at the same moment share one read. */
    readGraph: (selection: Selection): Promise<RuleGraph> =>
      joinReads(`${selection.app}/${selection.ruleId}/${selection.confId}`, () => readGraph(selection, sources)),

    readEdited: createEditedRules(files, sources),
    rulesAt: createRulesAt(files, sources),
  };
}

async function hasConfiguration(files: ConfigFiles, app: number): Promise<boolean> {
  const index = await files.ruleIndex(app);
  return (index.kind === 'found' && index.value.folders.size > 0) || (await files.idsIn(app, 'confs')).length > 0;
}

type Places = { app: number; ruleId: bigint; places: readonly string[] };

async function readPlaces(files: ConfigFiles, { app, ruleId, places }: Places) {
  const readings = await Promise.all(
    places.map(async (folder) => ({ folder, reading: await files.rule(app, folder, ruleId) })),
  );
  const skipped: Skipped[] = [];
  const skip = (folder: string, reason: string) => skipped.push({ file: join(folder, `${ruleId}.json`), reason });
  const usable = [];
  for (const { folder, reading } of readings) {
    if (reading.kind === 'unusable') skip(folder, reading.reason);
    if (reading.kind === 'found') usable.push({ folder, ...reading.value });
  }
  const [newest, ...older] = usable.sort((a, b) => b.modifiedMs - a.modifiedMs);
  for (const { folder } of older) skip(folder, 'stands twice: the newer file counts');
  return { reading: readingOf(newest, skipped), skipped };
}

function readingOf(newest: { folder: string; rule: Rule } | undefined, skipped: Skipped[]): Reading<PlacedRule> {
  if (newest) return { kind: 'found', value: { ...newest.rule, folder: newest.folder } };
  const [problem] = skipped;
  return problem ? unusable(problem.reason) : absent;
}

type Files = Pick<ConfigFiles, 'idsIn' | 'edit'>;

/**
 * Reads a rule with its edits that are not released yet. An editor keeps them as `{app}/updates/{rule}/{node}.json`; no client reads them. Null
 * where there are none. An edit that cannot be read is passed over: the released node stands there.
 */
function createEditedRules(files: Files, sources: GraphSources) {
  return async function readEdited(selection: Selection & { ruleId: bigint }): Promise<RuleGraph | null> {
    const { app, ruleId } = selection;
    const edited = new Set(await files.idsIn(app, 'updates', String(ruleId)));
    if (edited.size === 0) return null;
    const released = await sources.nodesOf(app);
    const readNode = async (id: bigint) => {
      const edit = edited.has(id) ? await files.edit(app, ruleId, id) : null;
      return edit?.kind === 'found' ? edit : released(id);
    };
    return readGraph(selection, { ...sources, nodesOf: async () => readNode });
  };
}
