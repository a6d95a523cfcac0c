import type { Batch } from '../../shared/cases/batch.ts';
import { type Conclusion, conclusionOf, factsOfTrees, type NodeFacts } from '../../shared/conclusions/conclusion.ts';
import type { ExecutionRecord } from '../../shared/contract/execution-record.ts';
import { stringifyExact } from '../../shared/contract/json/raw-number.ts';
import { treeSchema } from '../../shared/contract/rules-and-clients.ts';
import { sureDigest } from '../../shared/contract/rules-of-run.ts';
import { readAs } from '../../shared/contract/wire.ts';
import { readJson } from '../../shared/json-tree/read-json.ts';
import { ranAsOf } from '../../shared/reasoning/trace/recorded-run.ts';
import type { TreeNode } from '../../shared/reasoning/tree.ts';
import type { History } from '../../shared/store/history/history.ts';
import type { MetadataFor } from '../rules/leaves/leaf-metadata.ts';
import type { Rules } from '../rules/rules.ts';
import { readTree } from '../rules/tree/tree.ts';

type Dependencies = { history: History; rules: Rules; metadataFor: MetadataFor };

/** Facts from the trees of an earlier run and of the present one. */
type Facts = { before: NodeFacts; now: NodeFacts };

/** Where and how an earlier run can be made again: the target, and the digest of the rules that it ran on. */
export type Side = { input: string; ts: string; target: string; digest: string; derivedFrom: string; facts: NodeFacts };

/** The nodes of the rule as it is released now, and what an earlier run came to; null where its answer, or its rules, are not known. */
export type EarlierRuns = {
  facts(): Promise<NodeFacts>;
  read(mockId: string): Promise<{ before: Conclusion | null; facts: NodeFacts; side: Side | null }>;
};

/** Reads earlier runs for the items of one batch that are compared with them. A tree tells which leaves act, so both versions are read. */
export function createEarlierRuns(
  { app, ruleId, confId }: Pick<Batch, 'app' | 'ruleId' | 'confId'>,
  { history, rules, metadataFor }: Dependencies,
): EarlierRuns {
  let now: Promise<TreeNode[]> | undefined;
  const factsBy = new Map<string | null, Promise<Facts>>();

  async function readNow(): Promise<TreeNode[]> {
    const id = (text: string | null) => (text === null ? null : BigInt(text));
    const asked = { app, ruleId: id(ruleId), confId: id(confId), lane: null, address: null };
    const tree = await readTree(asked, { rules, metadataFor });
    return tree.kind === 'tree' ? rootsIn(stringifyExact(tree)) : [];
  }

  async function factsOf(record: ExecutionRecord | null): Promise<Facts> {
    now ??= readNow();
    const kept = record === null ? null : await history.pins.treeOf(record);
    const [before, present] = [kept === null ? [] : rootsIn(kept), await now];
    const all = [...before, ...present];
    const of = (own: TreeNode[]) => factsOfTrees(all, own.length === 0 ? all : own);
    return { before: of(before), now: of(present) };
  }

  function factsFor(record: ExecutionRecord | null): Promise<Facts> {
    const digest = record?.rules?.digest ?? null;
    const known = factsBy.get(digest) ?? factsOf(record);
    factsBy.set(digest, known);
    return known;
  }

  return {
    facts: async () => (await factsFor(null)).now,
    async read(mockId) {
      const own = await history.get(mockId);
      const part = own === null ? history.pins : history; // pinned records outlive the history
      const record = own ?? (await part.get(mockId));
      const facts = await factsFor(record);
      const [input, body] = await Promise.all([part.input(mockId), part.result(mockId)]);
      if (record?.ending?.code !== null || input === null || body === null)
        return { before: null, facts: facts.now, side: null };
      const success = record.state === 'succeeded';
      return {
        before: conclusionOf({ input, body, success, facts: facts.before }),
        facts: facts.now,
        side: sideOf(record, { input, body, facts: facts.before }),
      };
    },
  };
}

function sideOf(
  { mockId, lane, rules, ...record }: ExecutionRecord,
  { input, body, facts }: { input: string; body: string; facts: NodeFacts },
): Side | null {
  const digest = sureDigest(rules);
  if (digest === null) return null;
  const answer = readJson(body);
  const ts = ranAsOf(record, answer.kind === 'ok' ? answer.root : undefined);
  const target = lane === null ? 'all' : `lane:${lane}`;
  return { input, ts, target, digest, derivedFrom: mockId, facts };
}

function rootsIn(tree: string): TreeNode[] {
  const { root } = readAs(treeSchema, tree);
  return root === null ? [] : [root];
}
