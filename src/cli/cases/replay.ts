import { changeGroups, notCheckedLines } from '../../shared/conclusions/words.ts';
import type { BatchReport } from '../../shared/contract/batches.ts';
import { joinMembers } from '../../shared/contract/json/exact-json.ts';
import { visible, visibleJson } from '../../shared/contract/json/visible-text.ts';
import { type HistoryOptions, limitOf, pagesOf } from '../runs/history.ts';
import { exitCodes } from '../terminal/exit-codes.ts';
import { createHttpApi, type HttpApi } from '../terminal/http-api.ts';
import { openOutput } from '../terminal/output-file.ts';
import { CommandFailed, type Surroundings } from '../terminal/surroundings.ts';
import { typedNumber } from '../terminal/typed-number.ts';
import { announce } from './announce.ts';
import { type RanBatch, readReportAs, refuseInterrupted, runBatch, type Watching } from './follow-batch.ts';
import { exitCodeOfReport } from './test.ts';

type ReplayOptions = HistoryOptions & {
  target?: string;
  real?: boolean;
  ts?: string;
  junit?: string;
  csv?: string;
  yes?: boolean;
};

const ABOVE = 'The runs were made again: what came of them is printed above.';

/**
 * Runs the inputs of recorded runs again as one batch, without effects unless `--real` is given, and reports which results differ, how, and
 * from which node on; resolves to the exit code.
 */
export async function replay(options: ReplayOptions, surroundings: Surroundings): Promise<number> {
  const { target = 'all', real = false } = options;
  const { stdout, stderr, onInterrupt } = surroundings;
  const api = createHttpApi({ url: options.url, key: options.key });
  const junit = options.junit === undefined ? null : await openOutput('--junit', options.junit);
  const csv = options.csv === undefined ? null : await openOutput('--csv', options.csv);
  const interrupted = new AbortController();
  onInterrupt(() => interrupted.abort());
  const recorded = await recordedRuns(api, options, interrupted.signal);
  if (recorded.length === 0) throw new CommandFailed('The search finds no run.', exitCodes.usage);
  const around = { stderr, signal: interrupted.signal };
  const { batchId, report, json } = await makeAgain(api, recorded, options, around);
  stdout.write(options.json ? visibleJson(json) : wordsOf(report, { target, real }));
  await junit?.(await readReportAs(api, batchId, 'junit'), ABOVE);
  await csv?.(await readReportAs(api, batchId, 'csv'), ABOVE);
  return exitCodeOfReport(report);
}

/** The ids of the runs that a search finds. */
export async function recordedRuns(api: HttpApi, options: HistoryOptions, signal: AbortSignal): Promise<string[]> {
  const recorded: string[] = [];
  for await (const { items } of pagesOf(api, options, limitOf(options), signal))
    recorded.push(...items.map(({ mockId }) => mockId));
  refuseInterrupted(signal);
  return recorded;
}

/** Runs the inputs of recorded runs again, as one batch. */
export async function makeAgain(
  api: HttpApi,
  recorded: readonly string[],
  { app = '', ruleId = '', target = 'all', real = false, ts, yes = false, json = false }: Partial<ReplayOptions>,
  around: Pick<Watching, 'stderr' | 'signal'>,
): Promise<RanBatch> {
  await announce(
    api,
    { which: { app, ruleId }, cases: recorded.length, targets: [target] },
    { yes, dryRun: !real, stderr: around.stderr },
  );
  const text = joinMembers([
    ['app', typedNumber(app)],
    ['ruleId', typedNumber(ruleId)],
    ['targets', JSON.stringify([target])],
    ['dryRun', String(!real)],
    ...(ts === undefined ? [] : [['ts', ts === 'now' ? String(Date.now()) : typedNumber(ts)] as const]),
    ['recorded', JSON.stringify(recorded)],
  ]);
  return runBatch(api, { text, type: 'application/json' }, { ...around, json });
}

function wordsOf(report: BatchReport, how: { target: string; real: boolean }): string {
  const { head, changes, others } = linesOf(report, how);
  const changed = changes.map(({ line, at, first }) => `${line}${at}, such as ${first?.name} → ${first?.mockId}`);
  return [head, ...changed, ...others].map((line) => `${visible(line)}\n`).join('');
}

type Item = BatchReport['items'][number];
export type Lines = {
  head: string;
  changes: { line: string; at: string; parting: Item['parting']; first: Item | undefined }[];
  others: string[];
};

/**
 * The counts in the first line, then each kind of change, the most frequent first, and remarks. `hidesValues`: names of data and errors, no
 * values.
 */
export function linesOf(
  { items, counts, setAside }: BatchReport,
  { target, real, hidesValues = false }: { target: string; real: boolean; hidesValues?: boolean },
): Lines {
  const share = (count: number) => `${count} (${((100 * count) / items.length).toFixed(1)} %)`;
  const otherWay = items.filter(({ verdict, parting }) => verdict === 'same' && parting !== null).length;
  const parts = [
    `${share(counts.same)} the same${otherWay > 0 ? `, ${otherWay} of them on another way` : ''}`,
    `${share(counts.changed)} changed`,
    ...(counts.noise > 0 ? [`${share(counts.noise)} noise`] : []),
    ...(counts['not-checked'] > 0 ? [`${share(counts['not-checked'])} not checked`] : []),
    ...(counts.unanswered + counts.skipped > 0 ? [`${counts.unanswered + counts.skipped} without an answer`] : []),
  ];
  const runs = items.length === 1 ? '1 run was' : `${items.length} runs were`;
  const head = `${runs} made again on ${target}, ${real ? 'for real' : 'without effects'}: ${parts.join(', ')}.`;
  const left = (setAside?.errors ?? []).map(({ message }) => message).join(', ');
  const changes = changeGroups(hidesValues ? items.map(withoutValues) : items).map(
    ({ what, parting, items: [first, ...rest] }) => {
      const at = parting === null ? '' : `, first at #${parting.id} ${parting.name}`;
      return { line: `${share(rest.length + 1)} changed: ${what.join(', ')}`, at, parting, first };
    },
  );
  const reasons = items.flatMap(({ verdict, notChecked, code, error }) => {
    if (verdict === 'noise') return 'differ from themselves: their runs of before, made again, came to something else';
    if (verdict === 'not-checked') return notCheckedLines(notChecked).join('; ');
    return verdict === 'unanswered' || verdict === 'skipped'
      ? `no answer: ${code ?? ''} ${hidesValues ? '' : (error ?? '')}`.trim()
      : [];
  });
  const others = [...Map.groupBy(reasons, (reason) => reason)].map(([reason, all]) => `${share(all.length)} ${reason}`);
  const hint = !real && counts['not-checked'] > 0 ? ['With --real, or on a test system, every node is called.'] : [];
  return { head, changes, others: [...(left === '' ? [] : [`Left out: ${left}.`]), ...others, ...hint] };
}

/** Outcomes and actions are shown with `hidesValues` too: they are not the caller's data. */
function withoutValues(item: Item): Item {
  const parts = item.differences.map((one): Item['differences'][number] =>
    one.path === 'outcome' || one.path === 'actions'
      ? one
      : { ...one, path: one.path.replace(/[.[].*/, ''), how: 'differs', expected: null, actual: null },
  );
  return { ...item, differences: [...new Map(parts.map((one) => [one.path, one])).values()] };
}
