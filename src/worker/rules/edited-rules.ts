import type { ConfigFiles } from './config-files.ts';
import { type GraphSources, type RuleGraph, readGraph, type Selection } from './rule-graph.ts';

type Files = Pick<ConfigFiles, 'idsIn' | 'edit'>;

/**
 * Reads a rule with its edits that are not released yet. An editor keeps them as `{app}/updates/{rule}/{node}.json`; no client reads them. Null
 * where there are none. An edit that cannot be read is passed over: the released node stands there.
 */
export function createEditedRules(files: Files, sources: GraphSources) {
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
