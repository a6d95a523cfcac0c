import { rename, writeFile } from 'node:fs/promises';
import type { BatchReport } from '../../shared/contract/batches.ts';
import { visibleJson, visibleLines } from '../../shared/contract/json/visible-text.ts';
import { junitReport } from '../../shared/reports/junit.ts';
import { exitCodeOfAnswer, exitCodes } from '../terminal/exit-codes.ts';
import { createHttpApi, errorOf, type HttpApi } from '../terminal/http-api.ts';
import { openOutput } from '../terminal/output-file.ts';
import { CommandFailed, type Surroundings } from '../terminal/surroundings.ts';
import { announce } from './announce.ts';
import type { RunOptions } from './batch-request.ts';
import { countsLine } from './follow-batch.ts';
import { failureLines, githubLines } from './print-failures.ts';
import { proposeIgnore } from './propose-ignore.ts';
import { createServiceRunner, IN_PROCESS, type Ran, type Runner } from './runner.ts';
import { filtered, labelOf, queryOf, readSavedSuite, readSuites, type Suite } from './suite.ts';
import { updateExpectations } from './update.ts';

export type TestOptions = {
  app?: string;
  ruleId?: string;
  confId?: string;
  saved?: boolean;
  leaves?: string;
  rules?: string;
  target?: string[];
  junit?: string;
  json?: boolean;
  concurrency?: string;
  bail?: boolean;
  dryRun?: boolean;
  update?: boolean;
  proposeIgnore?: boolean;
  filter?: string;
  yes?: boolean;
  url: string;
  key?: string;
};

/** Runs cases on live clients, or in this process, and reports what is not as expected; resolves to the exit code. Ctrl-C cancels the batch. */
export async function test(paths: string[], options: TestOptions, surroundings: Surroundings): Promise<number> {
  const { stdout, stderr, environment, onInterrupt } = surroundings;
  const api = createHttpApi({ url: options.url, key: options.key });
  const junit = options.junit === undefined ? null : await openOutput('--junit', options.junit);
  const suites = await suitesOf(api, paths, options);
  if (options.update)
    for (const { origin } of suites) if (origin.kind === 'file') await openOutput('--update', origin.path);
  const interrupted = new AbortController();
  onInterrupt(() => interrupted.abort());
  const runner = await runnerOf(api, options, { stderr, signal: interrupted.signal });
  const targets = (options.target ?? ['all']).slice(0, options.proposeIgnore ? 1 : undefined);
  const times = options.proposeIgnore ? 2 : 1;
  if (options.leaves === undefined)
    for (const suite of suites)
      await announce(api, { which: whichOf(suite), cases: suite.run.length * times, targets }, { ...options, stderr });
  const how = { ...options, target: targets };
  if (options.proposeIgnore) {
    for (const suite of suites) stdout.write(visibleLines(`${(await proposal(runner, suite, how)).join('\n')}\n`));
    return exitCodes.ok;
  }

  const all: Ran[] = [];
  const codes: number[] = [];
  for (const suite of suites) {
    const ran = await runner(suite, how);
    all.push(ran);
    if (!options.json) stdout.write(visibleLines(`${summary(ran).join('\n')}\n`));
    if (environment.GITHUB_ACTIONS === 'true') stdout.write(`${githubLines(suite, ran.report).join('\n')}\n`);
    const left = options.update ? await update(api, ran, stderr) : null;
    codes.push(left === 0 ? exitCodes.ok : exitCodeOfReport(ran.report));
    if (options.bail && codes.at(-1) !== exitCodes.ok) break;
  }
  if (options.json) stdout.write(visibleJson(`{"batches":[${all.map(({ json }) => json.trim()).join(',')}]}\n`));
  await junit?.(junitReport(...all.map(({ report }) => report)), 'The cases ran: what came of them is printed above.');
  return worstOf(codes);
}

async function suitesOf(api: HttpApi, paths: string[], options: TestOptions): Promise<Suite[]> {
  if (
    options.saved === true &&
    (paths.length > 0 || options.app === undefined || (options.ruleId ?? options.confId) === undefined)
  )
    throw new CommandFailed(
      '--saved runs the cases saved at the service: give --app and --rule-id or --conf-id, and no path.',
      exitCodes.usage,
    );
  if (options.saved !== true && paths.length === 0)
    throw new CommandFailed('Give a file of cases, or a directory that has some; or --saved.', exitCodes.usage);
  const found = options.saved ? [await readSavedSuite(api, options)] : await readSuites(paths, options);
  const { filter } = options;
  const wanted = (filter === undefined ? found : found.map((suite) => filtered(suite, filter))).filter(
    ({ run }) => run.length > 0,
  );
  if (wanted.length > 0) return wanted;
  const where = filter === undefined ? '' : ` with ${JSON.stringify(filter)} in its name or tags`;
  throw new CommandFailed(`There is no case${where} to run.`, exitCodes.usage);
}

async function runnerOf(
  api: HttpApi,
  { leaves, rules }: TestOptions,
  around: Parameters<typeof createServiceRunner>[1],
): Promise<Runner> {
  if (leaves === undefined && rules === undefined) return createServiceRunner(api, around);
  if (leaves === undefined || rules === undefined)
    throw new CommandFailed(
      'In this process, --leaves names the module with the leaves, and --rules the folder with the rules: give both.',
      exitCodes.usage,
    );
  const { createProcessRunner } = await import('./in-process.ts');
  return createProcessRunner({ leaves, rules }, around);
}

/** Runs a suite twice, and proposes what its document ignores in the data. */
async function proposal(runner: Runner, suite: Suite, how: RunOptions): Promise<string[]> {
  const [first, second] = [await runner(suite, how), await runner(suite, how)];
  return [`# ${labelOf(suite)}`, ...proposeIgnore(first.report, second.report, suite.ignore)];
}

function summary({ suite, report }: Ran): string[] {
  const { counts, createdAt, endedAt, batchId } = report;
  const took = endedAt === null ? '' : ` in ${((endedAt - createdAt) / 1000).toFixed(2)} s`;
  const where = batchId === IN_PROCESS ? IN_PROCESS : `batch ${batchId}`;
  return [...failureLines(suite, report), `${labelOf(suite)}: ${countsLine(counts)}${took} (${where})`];
}

/** Updates the document, and resolves to how many cases still are not as expected. */
async function update(api: HttpApi, { suite, report }: Ran, stderr: Surroundings['stderr']): Promise<number> {
  const { text, updated, left } = updateExpectations(suite, report);
  if (updated.length > 0) await save(api, suite, text);
  for (const name of updated) stderr.write(`updated  ${name}\n`);
  for (const line of left) stderr.write(`left     ${line}\n`);
  return left.length;
}

async function save(api: HttpApi, suite: Suite, text: string): Promise<void> {
  const { origin } = suite;
  if (origin.kind === 'file') {
    await writeFile(`${origin.path}.tmp`, text);
    return rename(`${origin.path}.tmp`, origin.path);
  }
  const headers = { 'content-type': 'application/yaml', 'if-match': origin.etag };
  const path = `/rule-server/mock/cases?${queryOf(whichOf(suite))}`;
  const answer = await api.call(path, { method: 'PUT', headers, body: text });
  if (answer.status !== 200) throw new CommandFailed(errorOf(answer.text), exitCodeOfAnswer(answer.status));
}

function whichOf({ app, ruleId, confId }: Suite) {
  return { app, ...(ruleId !== null && { ruleId }), ...(confId !== null && { confId }) };
}

/** 0 when all is as expected or as before, 1 when something is not, else 4 when something was not answered, not run or cannot be told. */
export function exitCodeOfReport({ counts, state }: Pick<BatchReport, 'counts' | 'state'>): number {
  if (counts.failed + counts.changed + counts.error > 0) return exitCodes.failed;
  return counts.unanswered + counts['not-checked'] > 0 || state === 'cancelled' ? exitCodes.timedOut : exitCodes.ok;
}

function worstOf(codes: readonly number[]): number {
  return [exitCodes.failed, exitCodes.timedOut].find((code) => codes.includes(code)) ?? exitCodes.ok;
}
