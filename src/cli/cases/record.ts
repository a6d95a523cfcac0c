import { printPath } from '../../shared/cases/path.ts';
import { actionsOf, changedIn, conclusionOf, factsOfTrees } from '../../shared/conclusions/conclusion.ts';
import { JsonText, stringifyExact } from '../../shared/contract/json/raw-number.ts';
import { visible, visibleJson } from '../../shared/contract/json/visible-text.ts';
import { timeOfCase } from '../../shared/contract/time-of-case.ts';
import { nameOfCase, type Way, waysOf } from '../../shared/reasoning/trace/recorded-run.ts';
import type { HistoryOptions } from '../runs/history.ts';
import { type AnsweredRecord, readRecorded, skippedWords } from '../runs/recorded-runs.ts';
import { exitCodes } from '../terminal/exit-codes.ts';
import { createHttpApi } from '../terminal/http-api.ts';
import { openNewOutput } from '../terminal/output-file.ts';
import { CommandFailed, type Surroundings } from '../terminal/surroundings.ts';
import { typedNumber } from '../terminal/typed-number.ts';

type RecordOptions = HistoryOptions & { out?: string; every?: boolean; force?: boolean };

/**
 * Writes a document of cases from recorded runs: one case for each way through the tree, or one for each run; what each came to is expected.
 * Resolves to the exit code. Never over a file that is there, unless `--force` is given.
 */
export async function record(options: RecordOptions, { stdout, onInterrupt }: Surroundings): Promise<number> {
  const { app = '', ruleId = '', out = `rule-${ruleId}.cases.yaml`, every = false, force = false } = options;
  const ids = { app: typedNumber(app), ruleId: typedNumber(ruleId) };
  const api = createHttpApi({ url: options.url, key: options.key });
  const write = await openNewOutput('--out', out, force);
  const interrupted = new AbortController();
  onInterrupt(() => interrupted.abort());
  const recorded = await readRecorded(api, { ...options, state: options.state ?? 'succeeded' }, interrupted.signal);
  if (interrupted.signal.aborted) return exitCodes.interrupted;
  if (recorded.runs.length === 0)
    throw new CommandFailed(`No run can become a case. ${skippedWords(recorded)}`.trim(), exitCodes.usage);
  const ways = waysOf(recorded.runs);
  const cases = every
    ? ways.flatMap((way) => [linesOf(way), ...way.others.map((run) => linesOfRun(run))])
    : ways.map(linesOf);
  const head = [`app: ${ids.app}`, `ruleId: ${ids.ruleId}`, 'cases:'];
  await write(`${[...head, ...cases].join('\n')}\n`, 'Nothing was recorded.');
  const summary = { out, cases: cases.length, runs: recorded.runs.length, ways: ways.length };
  if (options.json)
    stdout.write(visibleJson(`${JSON.stringify({ ...summary, skipped: Object.fromEntries(recorded.skipped) })}\n`));
  else {
    const words = `${visible(out)} is written: ${counted(cases.length, 'case')} from ${counted(summary.runs, 'run')} that took ${counted(summary.ways, 'way')} through the tree.`;
    stdout.write(`${[words, skippedWords(recorded)].filter(Boolean).join('\n')}\n`);
  }
  return exitCodes.ok;
}

function linesOf({ newest, others }: Way<AnsweredRecord>): string {
  return `  # ${others.length === 0 ? 'one run' : `${others.length + 1} runs`} took this way\n${linesOfRun(newest)}`;
}

/** The input stays JSON text inside the YAML document, so that numbers keep every digit. */
function linesOfRun(run: AnsweredRecord): string {
  const lines = Object.entries(membersOfCase(run)).map(([name, json]) => `${name}: ${json}`);
  return `  - ${lines.join('\n    ')}`;
}

/** A recorded run as a case: its members as JSON text. */
export function membersOfCase(run: AnsweredRecord) {
  return {
    name: JSON.stringify(nameOfCase(run)),
    ...{ input: run.input, asOf: timeOfCase(run.ts), tags: '["recorded"]', expect: expectedOf(run) },
  };
}

/** Expects the outcome of a run, the keys that it changed, and the nodes that acted, if its trace and its tree have them. */
function expectedOf({ input, result, outcome: ranTo, root }: AnsweredRecord): string {
  if (result === null || ranTo === 'ERROR') return stringifyExact({ outcome: ranTo });
  const facts = factsOfTrees(root === null ? [] : [root]);
  const conclusion = conclusionOf({ input, body: result, success: true, facts });
  const { known, unknown, isWhole } = actionsOf(conclusion);
  const data = changedIn(conclusion) ?? {};
  const absent = [...conclusion.changed].filter((key) => !Object.hasOwn(data, key));
  return stringifyExact({
    outcome: ranTo,
    ...(isWhole && unknown.length === 0 && { actions: new JsonText(`[${known.join(', ')}]`) }),
    ...(Object.keys(data).length > 0 && { data }),
    ...(absent.length > 0 && { absent: absent.map((key) => printPath([key])) }),
  });
}

const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`;
