import { readCsv } from '../../shared/cases/csv/csv-cases.ts';
import { refusalLines } from '../../shared/cases/document/refusal.ts';
import type { SetAsideBody } from '../../shared/contract/batches.ts';
import { visible, visibleJson } from '../../shared/contract/json/visible-text.ts';
import { isTimeZone } from '../../shared/contract/moment.ts';
import { readText } from '../../shared/runtime/read-text.ts';
import { exitCodes } from '../terminal/exit-codes.ts';
import { createHttpApi } from '../terminal/http-api.ts';
import { openOutput } from '../terminal/output-file.ts';
import { CommandFailed, type Surroundings } from '../terminal/surroundings.ts';
import { announce } from './announce.ts';
import { countsLine, readReportAs, runBatch } from './follow-batch.ts';
import { queryOf } from './suite.ts';
import { exitCodeOfReport } from './test.ts';

type BatchOptions = {
  csv: string;
  app: string;
  ruleId?: string;
  confId?: string;
  target?: string[];
  out?: string;
  concurrency?: string;
  dryRun?: boolean;
  skipInvalid?: boolean;
  timeZone?: string;
  yes?: boolean;
  json?: boolean;
  url: string;
  key?: string;
};

const FORMATS = new Map([
  ['csv', 'csv'],
  ['json', 'json'],
  ['xml', 'junit'],
  ['md', 'markdown'],
]);

/** Runs each row of a CSV file, without expectations, and writes what came of it; resolves to the exit code. */
export async function batch(options: BatchOptions, surroundings: Surroundings): Promise<number> {
  const { stdout, stderr, onInterrupt } = surroundings;
  const format = formatOf(options.out);
  const out = options.out === undefined ? null : await openOutput('--out', options.out);
  const { timeZone, skipInvalid = false } = options;
  if (timeZone !== undefined && !isTimeZone(timeZone))
    throw new CommandFailed(
      `--time-zone ${timeZone} is not the name of a time zone, such as Europe/Berlin.`,
      exitCodes.usage,
    );
  const api = createHttpApi({ url: options.url, key: options.key });
  const text = await readText(options.csv).catch((error) => {
    throw new CommandFailed(`--csv ${options.csv} cannot be read: ${error.message}`, exitCodes.usage);
  });
  const read = readCsv(text, { typeOf: () => 'text', timeZone, skipInvalid }); // the service knows the types; here the rows are counted
  if (read.kind === 'refused') throw new CommandFailed(refusalLines(options.csv, read.refusals), exitCodes.usage);
  const targets = options.target ?? ['all'];
  await announce(api, { which: options, cases: read.cases.length, targets }, { ...options, stderr });
  const interrupted = new AbortController();
  onInterrupt(() => interrupted.abort());
  const body = { text, type: 'text/csv', query: `?${queryOf(options)}&${more(targets, options)}` };
  const { batchId, report, json } = await runBatch(api, body, {
    ...{ signal: interrupted.signal, stderr, json: options.json },
    onSetAside: (setAside) => stderr.write(setAsideLines(options.csv, setAside)),
  });
  await out?.(
    await readReportAs(api, batchId, format),
    `The batch is over: GET …/batches/${batchId}/report has its report.`,
  );
  if (options.json) stdout.write(visibleJson(json));
  else stdout.write(`${visible(options.csv)}: ${countsLine(report.counts)} (batch ${batchId})\n`);
  return exitCodeOfReport(report);
}

function setAsideLines(file: string, { cases, errors }: SetAsideBody): string {
  const head = `${file}: ${cases === 1 ? '1 row is' : `${cases} rows are`} set aside; the others run.`;
  return [head, ...errors.map(({ field, message }) => `  ${field} ${message}`)]
    .map((line) => `${visible(line)}\n`)
    .join('');
}

function formatOf(out: string | undefined): string {
  const format = out === undefined ? 'csv' : FORMATS.get(out.split('.').at(-1)?.toLowerCase() ?? '');
  if (format !== undefined) return format;
  throw new CommandFailed(`--out ${out} must end with .csv, .json, .xml (JUnit) or .md.`, exitCodes.usage);
}

function more(targets: string[], { concurrency, dryRun, skipInvalid, timeZone }: BatchOptions): string {
  const parameters = new URLSearchParams(targets.map((target) => ['targets', target]));
  if (concurrency !== undefined) parameters.set('concurrency', concurrency);
  if (dryRun) parameters.set('dryRun', 'true');
  if (skipInvalid) parameters.set('invalid', 'skip');
  if (timeZone !== undefined) parameters.set('timeZone', timeZone);
  return parameters.toString();
}
