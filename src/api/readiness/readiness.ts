import { type Batch, type BatchProgress, placeOfItem } from '../../shared/cases/batch.ts';
import { QUERY_VERSION } from '../../shared/contract/query.ts';
import type { RuleReadiness } from '../../shared/contract/readiness.ts';
import { type RuleSummary, ruleListSchema, treeSchema } from '../../shared/contract/rules-and-clients.ts';
import { savedCasesListSchema } from '../../shared/contract/saved-cases.ts';
import { formatTarget, type Target } from '../../shared/contract/target.ts';
import { readAs } from '../../shared/contract/wire.ts';
import { type Finding, finding, findingsOf, type LastVerdict, readinessOf } from '../../shared/reasoning/readiness.ts';
import { endOf } from '../../shared/reasoning/time-window.ts';
import { refusals } from '../../shared/reasons/refusals.ts';
import { type Refused, refused } from '../../shared/runtime/http-refusals.ts';
import type { BatchStore } from '../../shared/store/batches/batch-store.ts';
import type { AskWorker } from '../ask-worker.ts';
import { coverageOf } from '../batches/items.ts';
import { allHeads } from '../batches/whole-batch.ts';
import type { SavedCases } from '../cases/saved-cases.ts';

const v = QUERY_VERSION;
/** So many rules are looked at in one answer: each costs a question to a worker. */
const MOST_RULES = 500;

type Asked = { app: number; ruleId: string | null; target: Target };
type Answer = { kind: 'found'; rules: RuleReadiness[] } | Refused;
type ReadinessDependencies = { ask: AskWorker['ask']; savedCases: SavedCases; store: BatchStore };

/** Whether the rules of an app can be released to a target: by their trees, their saved cases, and how these last ran there. */
export function createReadiness({ ask, savedCases, store }: ReadinessDependencies) {
  return async function readinessOfApp({ app, ruleId, target }: Asked): Promise<Answer> {
    const [rules, saved] = await Promise.all([ask({ v, ask: 'rules', app }), savedCases.list(app)]);
    if (rules.kind === 'refused') return rules;
    if (saved.kind === 'refused') return saved;
    const all = readAs(ruleListSchema, rules.body).items;
    const wanted = all.filter((rule) => ruleId === null || rule.ruleId === ruleId);
    if (ruleId !== null && wanted.length === 0) return refused('unknown-rule', { app, ruleId });
    if (wanted.length > MOST_RULES) return refused('too-many-rules', { app, rules: wanted.length, most: MOST_RULES });
    const { items } = readAs(savedCasesListSchema, saved.body);
    const changedAt = new Map(items.map((item) => [item.ruleId, item.changedAt]));
    const batches = await lastBatches({ app, target: formatTarget(target) }, store);
    const found: RuleReadiness[] = [];
    for (const rule of wanted) {
      const one = await ofRule(rule, { ask, store, app, target, changedAt, batches });
      if (one.kind === 'refused') return one;
      found.push(one.rule);
    }
    return { kind: 'found', rules: found };
  };
}

/** `changedAt`: when the saved cases of each rule were changed. */
type Surroundings = Pick<ReadinessDependencies, 'ask' | 'store'> & {
  app: number;
  target: Target;
  changedAt: ReadonlyMap<string | null, number>;
  batches: Batches;
};

async function ofRule(
  { ruleId, name, timeWindow }: RuleSummary,
  { ask, store, app, target, changedAt, batches }: Surroundings,
) {
  const about = { ruleId, name, batchId: batches.get(ruleId)?.batch.batchId ?? null };
  const lane = target.kind === 'lane' ? target.lane : null;
  const address = target.kind === 'address' ? target.address : null;
  const reply = await ask({ v, ask: 'tree', app, ruleId, confId: null, lane, address });
  if (reply.kind === 'refused' && refusals[reply.code].status === 503) return reply;
  const tree = reply.kind === 'found' ? readAs(treeSchema, reply.body) : null;
  if (!tree?.root) {
    const { code: reason, params } = reply.kind === 'refused' ? reply : { code: 'no-root', params: {} };
    return read({ ...about, digest: null }, [finding('no-rule', {}, { reason, params })]);
  }
  const last = batches.get(ruleId);
  const known = {
    digest: tree.digest,
    circle: tree.cycle,
    missingClasses: tree.missingClasses ?? null,
    root: tree.root,
    windowEndsAt: endOf(timeWindow),
    target: formatTarget(target),
    casesChangedAt: changedAt.get(ruleId) ?? null,
    last: last ? await verdictOf(last, formatTarget(target), store) : null,
  };
  return read({ ...about, digest: known.digest }, findingsOf(known, Date.now()));
}

function read(about: Omit<RuleReadiness, 'state' | 'findings'>, findings: Finding[]) {
  const reported = findings.map(({ parameters, ...finding }) => ({
    ...finding,
    parameters: Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, String(value)])),
  }));
  return { kind: 'read' as const, rule: { ...about, state: readinessOf(findings), findings: reported } };
}

type Last = { batch: Batch; progress: BatchProgress };
type Batches = ReadonlyMap<string, Last>;

/**
 * Of each rule the last batch of all its saved cases that has ended on a target, and was judged by what they expect there. A dry run cannot tell
 * what a release will do.
 */
async function lastBatches({ app, target }: { app: number; target: string }, store: BatchStore): Promise<Batches> {
  const last = new Map<string, Last>();
  for (const batchId of await store.list()) {
    const found = await store.read(batchId);
    if (found === null || found === 'gone') continue;
    const { batch, progress } = found;
    const isJudged = batch.against === undefined || batch.against === target;
    const isOfAll = batch.etag !== null && batch.from === null && batch.ruleId !== null && batch.confId === null;
    const isWanted =
      batch.app === app && batch.targets.includes(target) && progress.state === 'finished' && !batch.dryRun;
    if (isOfAll && isWanted && isJudged && batch.ruleId !== null && !last.has(batch.ruleId))
      last.set(batch.ruleId, found);
  }
  return last;
}

async function verdictOf({ batch, progress }: Last, target: string, store: BatchStore): Promise<LastVerdict | null> {
  const index = batch.targets.indexOf(target);
  const counts = progress.counts[index];
  if (!counts) return null;
  const heads = (await allHeads(batch, store)).filter(({ n }) => placeOfItem(batch, n).targetIndex === index);
  const ran = heads.filter(({ head }) => head.outcome !== null);
  const { nodes, unknown } = await coverageOf(batch, heads, { target, store });
  return {
    createdAt: batch.createdAt,
    counts,
    onDigests: new Set(ran.map(({ head }) => head.rules?.digest ?? null)),
    reached: unknown > 0 ? null : new Set(Object.keys(nodes).filter((id) => (nodes[id]?.ran ?? 0) > 0)),
  };
}
