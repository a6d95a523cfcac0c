import { join } from 'node:path';
import { time } from '../../shared/ports/time.ts';
import { type Fault, fault } from '../../shared/reasons/causes.ts';
import { asFault } from '../../shared/reasons/template.ts';
import { chosen, faultOf, rivalsOf } from '../../shared/rules/entries.ts';
import type { RuleNode } from '../../shared/rules/node-file.ts';
import { absent, type Reading, unusable } from '../../shared/rules/reading.ts';
import { createJoinedReads } from '../files/reading/joined-reads.ts';
import { type ConfigFiles, createConfigFiles } from './config-files.ts';
import { createOlderRules } from './older-rules.ts';
import { type GraphSources, type PlacedRule, type RuleGraph, readGraph, type Selection } from './tree/rule-graph.ts';

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
      const rivals = rivalsOf(await files.strays(app, 'rule', index.value.strays), 'rule').get(ruleId);
      const { reading } = await readPlaces(files, { app, ruleId, places, rivals });
      // A file that is moved while folders are listed can be missed once: it stood in the one that was listed too early.
      if (reading.kind !== 'absent' || attempt > 0) return reading;
    }
  }

  const nodesOf = (app: number) => readerOfNodes(files, app);
  const sources = { readRule, nodesOf, hasConfiguration: (app: number) => hasConfiguration(files, app) };

  return {
    /** The apps that have a folder for rules or nodes, ascending. */
    listApps: files.apps,

    /** All rules of an app by id, and the files that were passed over. `no-rules` when it has no folder for them. */
    listRules: (app: number) => listRules(files, app),

    /** One rule, wherever below `bases` it stands. Of two files (one is being moved) the newer usable one counts. */
    readRule,

    /** One released node. */
    readNode: async (app: number, confId: bigint): Promise<Reading<RuleNode>> => (await nodesOf(app))(confId),

    /** The app's configuration version, null when there is none. */
    readVersion: files.version,

    versionStamp: files.versionStamp,

    /** The nodes that a selection reaches. Callers at the same moment share one read. */
    readGraph: (selection: Selection): Promise<RuleGraph> =>
      joinReads(`${selection.app}/${selection.ruleId}/${selection.confId}`, () => readGraph(selection, sources)),

    readEdited: createEditedRules(files, sources),
    olderRules: createOlderRules(files, sources),
  };
}

async function readerOfNodes(files: ConfigFiles, app: number) {
  const listing = await files.nodeFiles(app);
  if (listing.kind !== 'found') {
    const none = listing.kind === 'absent' ? absent : unusable(fault('behind-confs', asFault(listing.fault)));
    return async (): Promise<Reading<RuleNode>> => none;
  }
  const rivals = rivalsOf(await files.strays(app, 'node', listing.value.strays), 'node');
  return async (confId: bigint) => {
    const node = { file: `${confId}.json`, modifiedMs: 0, reading: await files.node(app, confId) };
    return rivals.has(confId) ? chosen([node], { kind: 'node', rivals: rivals.get(confId) }).reading : node.reading;
  };
}

async function listRules(files: ConfigFiles, app: number) {
  const index = await files.ruleIndex(app);
  if (index.kind === 'absent') return { kind: 'no-rules' as const };
  const version = await files.version(app);
  if (index.kind === 'unusable')
    return { kind: 'rules' as const, rules: [], skipped: [{ file: 'bases', fault: index.fault }], version };
  const strays = await files.strays(app, 'rule', index.value.strays);
  const rivals = rivalsOf(strays, 'rule');
  const found = await Promise.all(
    [...index.value.folders].map(([ruleId, places]) =>
      readPlaces(files, { app, ruleId, places, rivals: rivals.get(ruleId) }),
    ),
  );
  const rules = found.flatMap(({ reading }) => (reading.kind === 'found' ? [reading.value] : []));
  rules.sort((a, b) => (a.id < b.id ? -1 : 1));
  const passedOver = strays.map((stray) => ({ file: stray.file, fault: faultOf(stray, 'rule') }));
  const skipped = [...index.value.skipped, ...passedOver, ...found.flatMap((place) => place.skipped)];
  return { kind: 'rules' as const, rules, skipped, version };
}

async function hasConfiguration(files: ConfigFiles, app: number): Promise<boolean> {
  const [index, nodes] = await Promise.all([files.ruleIndex(app), files.nodeFiles(app)]);
  return (
    (index.kind === 'found' && index.value.folders.size > 0) || (nodes.kind === 'found' && nodes.value.ids.length > 0)
  );
}

type Places = { app: number; ruleId: bigint; places: readonly string[]; rivals: readonly Fault[] | undefined };

async function readPlaces(files: ConfigFiles, { app, ruleId, places, rivals }: Places) {
  const candidates = places.map(async (folder) => {
    const reading = await files.rule(app, folder, ruleId);
    const file = join(folder, `${ruleId}.json`);
    if (reading.kind !== 'found') return { file, modifiedMs: 0, reading };
    const { rule, modifiedMs } = reading.value;
    return { file, modifiedMs, reading: { kind: 'found' as const, value: { ...rule, folder } } };
  });
  return chosen<PlacedRule>(await Promise.all(candidates), { kind: 'rule', rivals });
}

type Files = Pick<ConfigFiles, 'edited' | 'edit'>;

/**
 * Reads a rule with its edits that are not released yet. An editor keeps them as `{app}/updates/{rule}/{node}.json`; no client reads them. Null
 * where there are none. An edit that cannot be read is passed over: the released node stands there.
 */
function createEditedRules(files: Files, sources: GraphSources) {
  return async function readEdited(selection: Selection & { ruleId: bigint }): Promise<RuleGraph | null> {
    const { app, ruleId } = selection;
    const edited = new Set(await files.edited(app, ruleId));
    if (edited.size === 0) return null;
    const released = await sources.nodesOf(app);
    const readNode = async (id: bigint) => {
      const edit = edited.has(id) ? await files.edit(app, ruleId, id) : null;
      return edit?.kind === 'found' ? edit : released(id);
    };
    return readGraph(selection, { ...sources, nodesOf: async () => readNode });
  };
}
