import { DATA_FIELD } from '../../shared/contract/data-field.ts';
import { joinMembers } from '../../shared/contract/json/exact-json.ts';
import { visible, visibleJson } from '../../shared/contract/json/visible-text.ts';
import { firstDifference } from '../../shared/reasoning/trace/first-difference.ts';
import { RECORDED_RUNS, type RecordedRun } from '../../shared/reasoning/trace/recorded-run.ts';
import { csvLines } from '../../shared/reports/csv.ts';
import { junitReport } from '../../shared/reports/junit.ts';
import { announce } from '../cases/announce.ts';
import { junitBatch, type Report, readReport, runBatch, showProgress } from '../cases/follow-batch.ts';
import type { HistoryOptions } from '../runs/history.ts';
import { type Recorded, readRecorded, skippedWords, traceOf } from '../runs/recorded-runs.ts';
import { exitCodes } from '../terminal/exit-codes.ts';
import { createHttpApi, get, type HttpApi } from '../terminal/http-api.ts';
import { openOutput } from '../terminal/output-file.ts';
import { rawMember } from '../terminal/raw-member.ts';
import { CommandFailed, type Surroundings } from '../terminal/surroundings.ts';
import { typedNumber } from '../terminal/typed-number.ts';

export type ReplayOptions = HistoryOptions & {
  target?: string;
  real?: boolean;
  ts?: string;
  junit?: string;
  csv?: string;
  yes?: boolean;
};

/** Cases of one batch: their inputs fit into one request. */
const CASES = 500;

const ABOVE = 'The runs were made again: what came of them is printed above.';

/** A run that had another decision. `at`: the node at which it began to differ. */
type Change = { before: RecordedRun; now: string; mockId: string; at: string };
/** `unanswered`: why runs came to no decision, and how many for each reason. */
type Compared = { same: number; changes: Change[]; unanswered: Map<string, number> };

/**
 * Runs the inputs of recorded runs again, without effects unless `--real` is given, and tells which decisions come out otherwise, and at which
 * node; resolves to the exit code. It runs a batch whose cases expect the decisions of before, as of the time of each run, so a worker judges
 * them (`shared/cases/judging`); here and on the page (`console/cases/changed-decisions.ts`) the traces tell where both runs part.
 */
export async function replay(options: ReplayOptions, surroundings: Surroundings): Promise<number> {
  const { stdout, stderr, onInterrupt } = surroundings;
  const api = createHttpApi({ url: options.url, key: options.key });
  const junit = options.junit === undefined ? null : await openOutput('--junit', options.junit);
  const csv = options.csv === undefined ? null : await openOutput('--csv', options.csv);
  const interrupted = new AbortController();
  onInterrupt(() => interrupted.abort());
  const recorded = await readRecorded(api, { ...options, state: options.state ?? 'succeeded' }, interrupted.signal);
  if (recorded.runs.length === 0)
    throw new CommandFailed(`No run can be made again. ${skippedWords(recorded)}`.trim(), exitCodes.usage);
  const targets = [options.target ?? 'all'];
  const plan = {
    which: { app: options.app ?? '', ruleId: options.ruleId ?? '' },
    cases: recorded.runs.length,
    targets,
  };
  await announce(api, plan, { yes: options.yes ?? false, dryRun: !options.real, stderr });
  const reports = await runAll(api, recorded.runs, options, { surroundings, signal: interrupted.signal });
  const compared = await compare(api, recorded.runs, reports);
  stdout.write(options.json ? jsonOf(compared, recorded) : wordsOf(compared, { recorded, options }));
  const batches = reports.map((report) => junitBatch(report, { ruleId: options.ruleId ?? null, confId: null }));
  await junit?.(junitReport(...batches), ABOVE);
  await csv?.(csvOf(compared), ABOVE);
  if (compared.changes.length > 0) return exitCodes.failed;
  return compared.unanswered.size > 0 ? exitCodes.timedOut : exitCodes.ok;
}

type Around = { surroundings: Surroundings; signal: AbortSignal };

async function runAll(
  api: HttpApi,
  runs: readonly RecordedRun[],
  options: ReplayOptions,
  { surroundings: { stderr }, signal }: Around,
): Promise<Report[]> {
  const bar = stderr.isTTY && !options.json ? showProgress(stderr) : undefined;
  const reports: Report[] = [];
  for (let from = 0; from < runs.length; from += CASES) {
    const text = batchOf(runs.slice(from, from + CASES), options);
    const onProgress: Parameters<typeof runBatch>[2]['onProgress'] = (progress) => bar?.show(progress);
    const batchId = await runBatch(api, { text, type: 'application/json' }, { signal, onProgress });
    reports.push((await readReport(api, batchId)).report);
  }
  bar?.close();
  return reports;
}

/** Every number stays as it was written. */
function batchOf(runs: readonly RecordedRun[], { app, ruleId, target = 'all', real, ts: asOf }: ReplayOptions): string {
  const cases = runs.map(({ mockId, input, ts, decision }) =>
    joinMembers([
      ['name', JSON.stringify(mockId)],
      [DATA_FIELD, input],
      ...(asOf === 'now' ? [] : [['ts', asOf === undefined ? ts : typedNumber(asOf)] as [string, string]]),
      ['expect', JSON.stringify({ outcome: decision })],
    ]),
  );
  return joinMembers([
    ['app', typedNumber(app ?? '')],
    ['ruleId', typedNumber(ruleId ?? '')],
    ['targets', JSON.stringify([target])],
    ['dryRun', String(!real)],
    ['file', JSON.stringify(RECORDED_RUNS)],
    ['cases', `[${cases.join(',')}]`],
  ]);
}

async function compare(api: HttpApi, runs: readonly RecordedRun[], reports: readonly Report[]): Promise<Compared> {
  const byId = new Map(runs.map((run) => [run.mockId, run]));
  const compared: Compared = { same: 0, changes: [], unanswered: new Map() };
  for (const { name, verdict, outcome, mockId, error } of reports.flatMap(({ items }) => items)) {
    const before = byId.get(name);
    if (verdict === 'passed') compared.same++;
    else if (verdict !== 'failed' || before === undefined) {
      const why = error ?? verdict;
      compared.unanswered.set(why, (compared.unanswered.get(why) ?? 0) + 1);
    } else {
      const result = rawMember(await get(api, `executions/${mockId}`, {}), 'result') ?? '{}';
      const first = firstDifference(before.process, traceOf(result));
      const at = first === null ? 'a node that the traces do not tell' : `#${first.id} ${first.name}`;
      compared.changes.push({ before, now: outcome ?? 'no decision', mockId, at });
    }
  }
  return compared;
}

type Told = { recorded: Recorded; options: ReplayOptions };

function wordsOf({ same, changes, unanswered }: Compared, { recorded, options }: Told): string {
  const how = options.real ? 'for real' : 'without effects';
  const head = `${counted(recorded.runs.length)} made again on ${options.target ?? 'all'}, ${how}: ${same} came to the same decision, ${changes.length} to another one, ${sum(unanswered)} to none.`;
  const groups = Map.groupBy(changes, ({ before, now, at }) => `${before.decision} → ${now}, first at ${at}`);
  const lines = [...groups]
    .sort(([, a], [, b]) => b.length - a.length)
    .map(([what, [first, ...rest]]) => {
      const such = first === undefined ? '' : `, such as ${first.before.mockId} → ${first.mockId}`;
      return `${visible(what)}: ${rest.length + 1}${such}`;
    });
  const without = [...unanswered].map(([why, count]) => `No decision: ${count}: ${visible(why)}`);
  return `${[head, skippedWords(recorded), ...lines, ...without].filter(Boolean).join('\n')}\n`;
}

/** One line for each run that had another decision. */
function csvOf({ changes }: Compared): string {
  const lines = changes.map(({ before, now, mockId, at }) => [
    before.mockId,
    before.decision,
    mockId,
    now,
    at,
    before.ts,
  ]);
  return csvLines([['run', 'before', 'again', 'now', 'first difference', 'asOf'], ...lines]);
}

const counted = (count: number) => (count === 1 ? '1 run was' : `${count} runs were`);

const sum = (counts: ReadonlyMap<string, number>): number => [...counts.values()].reduce((all, one) => all + one, 0);

function jsonOf({ same, changes, unanswered }: Compared, { skipped }: Recorded): string {
  const changed = changes.map(({ before, now, mockId, at }) => {
    const { mockId: of, decision, ts } = before;
    return { of, mockId, before: decision, now, at, ts };
  });
  return `${visibleJson(JSON.stringify({ same, unanswered: sum(unanswered), skipped: Object.fromEntries(skipped), changed }))}\n`;
}
