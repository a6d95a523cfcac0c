import { isMeant, namedTarget } from '../../shared/contract/target.ts';
import { type RecordedRun, recordedRun } from '../../shared/reasoning/trace/recorded-run.ts';
import type { LeftOut } from '../../shared/reasons/remarks.ts';
import { type Batch, batchesPath, beginBatch, type Verdict } from '../api/batches.ts';
import type { Client } from '../api/browse.ts';
import { getExecution, getHistory, type RunSearch } from '../api/executions.ts';
import { serviceNow } from '../api/request.ts';
import { createStored } from '../state/stored.ts';
import type { Inputs } from './inputs.ts';

type Rule = { app: string; ruleId: string | null; confId: string | null };
/** Where a batch runs. `against`: the target with whose runs the others are compared; null for none. `dryRun`: without effects. */
export type How = { targets: readonly string[]; against: string | null; dryRun: boolean };
type Options = Rule & How;

/** Runs the saved cases of a rule on each target. */
export function runSaved(options: Options, key: string): Promise<Batch> {
  return send(`{${membersOf(options)},"saved":true}`, key);
}

/** Runs the cases of an earlier batch again that came to one of these verdicts, where they ran before. */
export function repeatBatch(
  rule: Rule,
  { batchId, verdicts, dryRun }: { batchId: string; verdicts: readonly Verdict[]; dryRun: boolean },
  key: string,
): Promise<Batch> {
  const what = `"from":${JSON.stringify(batchId)},"verdict":${JSON.stringify(verdicts)},"dryRun":${dryRun}`;
  return send(`{${idsOf(rule)},${what}}`, key);
}

/** Runs inputs that were given, once on each target. Rows of CSV with mistakes are left out; their times are of `timeZone`. */
export function runInputs(
  { inputs, timeZone, ...options }: Options & { inputs: Inputs; timeZone: string },
  key: string,
): Promise<Batch> {
  const invalid = inputs.setAside.cases > 0 ? 'skip' : null;
  if (inputs.format === 'json') {
    const body = `{${membersOf(options)},"cases":${inputs.body}}`;
    return beginBatch({ path: batchesPath({ invalid }), type: 'application/json', body }, key);
  }
  const path = batchesPath({ ...options, dryRun: String(options.dryRun), invalid, timeZone });
  return beginBatch({ path, type: 'text/csv', body: inputs.body }, key);
}

/** Makes earlier runs again, each as of the time that it ran as of, or all as of now. Each is compared with what it came to before. */
export function runRecorded(
  { runs, asOfNow, ...options }: Options & { runs: readonly RecordedRun[]; asOfNow: boolean },
  key: string,
): Promise<Batch> {
  const when = asOfNow ? `"ts":${Math.round(serviceNow())},` : '';
  return send(`{${membersOf(options)},${when}"recorded":${JSON.stringify(runs.map(({ mockId }) => mockId))}}`, key);
}

function membersOf({ targets, against, dryRun, ...rule }: Options): string {
  const compared = against === null ? '' : `"against":${JSON.stringify(against)},`;
  return `${idsOf(rule)},"targets":${JSON.stringify(targets)},${compared}"dryRun":${dryRun}`;
}

/** Ids stay the digits they are. */
function idsOf({ app, ruleId, confId }: Rule): string {
  const ids = [`"app":${app}`];
  if (ruleId !== null) ids.push(`"ruleId":${ruleId}`);
  if (confId !== null) ids.push(`"confId":${confId}`);
  return ids.join(',');
}

function send(body: string, key: string): Promise<Batch> {
  return beginBatch({ type: 'application/json', body }, key);
}

export type Recorded = { runs: RecordedRun[]; leftOut: Map<LeftOut, number> };

type Wanted = { app: string; ruleId: string | null; search: RunSearch; count: number };

const PAGE = 100;
const AT_ONCE = 5;

/** Reads the newest runs that a search finds, to make them again. `onRead` is called with how many were read, of how many. */
export async function readRecorded(
  { count, ...wanted }: Wanted,
  { signal, onRead }: { signal: AbortSignal; onRead: (read: number, of: number) => void },
): Promise<Recorded> {
  const ids: string[] = [];
  for (let cursor: string | null = null; ids.length < count; ) {
    const page = await getHistory({ ...wanted, limit: Math.min(PAGE, count - ids.length), cursor }, signal);
    ids.push(...page.items.map(({ mockId }) => mockId));
    cursor = page.nextCursor;
    if (cursor === null) break;
  }
  const recorded: Recorded = { runs: [], leftOut: new Map() };
  let read = 0;
  const readOne = async (mockId: string) => {
    const { record, masked, input, result } = await getExecution(mockId, signal);
    onRead(++read, ids.length);
    return recordedRun({ ...record, masked, input, result });
  };
  for (let first = 0; first < ids.length; first += AT_ONCE)
    for (const one of await Promise.all(ids.slice(first, first + AT_ONCE).map(readOne))) {
      if (typeof one === 'string') recorded.leftOut.set(one, (recorded.leftOut.get(one) ?? 0) + 1);
      else recorded.runs.push(one);
    }
  return recorded;
}

/** Stands for each client that is online when the batch begins. */
export const EVERY_CLIENT = 'client:*';

/** The targets that cases ran on last, whatever the rule. */
export const chosenTargets = createStored<string[]>('batch-targets', {
  read: (stored) => {
    const known = Array.isArray(stored) ? stored.filter((one) => typeof one === 'string') : [];
    return known.length > 0 ? known : ['all'];
  },
});

/** How many runs so many cases are on these targets. */
export function countRuns(cases: number, targets: readonly string[], clients: readonly Client[]): number {
  const online = clients.filter((client) => client.online).length;
  return cases * targets.reduce((sum, target) => sum + (target === EVERY_CLIENT ? online : 1), 0);
}

/** The targets on which dry runs are known to be impossible: clients are online, and none that a run there could go to can make one. */
export function withoutDryRun(targets: readonly string[], clients: readonly Client[]): string[] {
  const online = clients.filter((client) => client.online);
  return targets.filter((written) => {
    if (written === EVERY_CLIENT) return online.some(({ dryRun }) => !dryRun);
    const target = namedTarget(written)?.target ?? { kind: 'all' };
    const meant = online.filter((client) => isMeant(target, client));
    return meant.length > 0 && meant.every(({ dryRun }) => !dryRun);
  });
}

/** Above so many real runs their number is typed before they start. */
export const MANY_RUNS = 100;

/** Whether a number was typed that is this one, in digits of any keyboard and grouped or not. */
export function isTyped(text: string, n: number): boolean {
  return text.normalize('NFKC').replace(/[\s.,’']/g, '') === String(n);
}
