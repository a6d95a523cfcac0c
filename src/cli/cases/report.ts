import { appendFile } from 'node:fs/promises';
import { batchBodySchema } from '../../shared/contract/batches.ts';
import { executionSchema } from '../../shared/contract/execution.ts';
import { type Tree, treeSchema } from '../../shared/contract/rules-and-clients.ts';
import { namedTarget } from '../../shared/contract/target.ts';
import { changesBetween, changeWords } from '../../shared/reasoning/changes.ts';
import { say } from '../../shared/reasoning/words/english.ts';
import { cell } from '../../shared/reports/markdown.ts';
import { exitCodes } from '../terminal/exit-codes.ts';
import { createHttpApi, get, type HttpApi, readAnswer } from '../terminal/http-api.ts';
import { openOutput } from '../terminal/output-file.ts';
import { CommandFailed, type Surroundings } from '../terminal/surroundings.ts';
import { type Rule, readinessWords, readReadiness } from './check.ts';
import { commentFor } from './comment.ts';
import { countsLine } from './follow-batch.ts';
import { type Lines, linesOf, makeAgain, recordedRuns } from './replay.ts';

type ReportOptions = {
  app: string;
  ruleId?: string;
  target: string;
  from?: string;
  to?: string;
  limit: string;
  out?: string;
  counts?: boolean;
  comment?: boolean;
  url: string;
  key?: string;
};

const MOST_GROUPS = 20;
const MOST_INPUT = 200;

/**
 * Writes in Markdown what a release would change of recorded runs, how the saved cases last ran, and what speaks against it. Recorded runs are
 * made again without effects. Resolves to the exit code.
 */
export async function report(options: ReportOptions, { stdout, stderr, environment, onInterrupt }: Surroundings) {
  const { app, target, out } = options;
  const api = createHttpApi({ url: options.url, key: options.key });
  const comment = options.comment ? commentFor(environment) : null;
  const write = out === undefined ? null : await openOutput('--out', out);
  const interrupted = new AbortController();
  onInterrupt(() => interrupted.abort());
  const { answer } = await readReadiness(api, options);
  const parts: Part[] = [];
  for (const rule of answer.rules) parts.push(await partOf(api, rule, { options, stderr, signal: interrupted.signal }));
  const [runs, changed] = [total(parts, 'runs'), total(parts, 'changed')];
  const text = [
    `<!-- rule-server report: app ${app} ${cell(target)} -->`,
    `## Rules of app ${app} on ${cell(target)}\n`,
    `**${changed} of ${runs} recorded runs would change. Can ship: ${answer.state === 'can-ship' ? 'yes' : `no, ${readinessWords[answer.state]}`}.**`,
    ...parts.map(({ lines }) => lines.join('\n')),
    '',
  ].join('\n');
  await write?.(text, 'The runs were made again.');
  stdout.write(write === null ? text : `${out} is written.\n`);
  const summary = environment.GITHUB_STEP_SUMMARY;
  if (summary) await appendFile(summary, text);
  await comment?.(text);
  return parts.every(({ isWhole }) => isWhole) ? exitCodes.ok : exitCodes.timedOut;
}

/** The section on one rule. `isWhole`: its recorded runs were made again, and all of them were answered. */
type Part = { lines: string[]; runs: number; changed: number; isWhole: boolean };
type Around = { options: ReportOptions; stderr: Surroundings['stderr']; signal: AbortSignal };

type Change = Lines['changes'][number];

const total = (parts: readonly Part[], what: 'runs' | 'changed') => parts.reduce((sum, part) => sum + part[what], 0);

async function partOf(api: HttpApi, rule: Rule, around: Around): Promise<Part> {
  const { ruleId, name, state, findings } = rule;
  const head = `\n### Rule ${ruleId}${name === null ? '' : ` ${cell(name)}`}: ${readinessWords[state]}\n`;
  const tests = [await casesLine(api, rule, around.options.target), ...findings.map(({ message }) => cell(message))];
  const replayed = await replayOf(api, ruleId, around);
  return { ...replayed, lines: [head, ...replayed.lines, '', ...tests.map((line) => `- ${line}`)] };
}

async function casesLine(api: HttpApi, { batchId }: Rule, target: string): Promise<string> {
  if (batchId === null) return 'Saved cases: not run on this target.';
  const { targets } = readAnswer(batchBodySchema, await get(api, `batches/${batchId}`, {}));
  const own = targets.find((each) => each.target === target);
  return `Saved cases, as they last ran: ${own ? countsLine(own.counts) : 'not run on this target'}.`;
}

async function replayOf(api: HttpApi, ruleId: string, { options, ...around }: Around): Promise<Part> {
  const { app, target, counts: hidesValues = false } = options;
  const none = { runs: 0, changed: 0 };
  const recorded = await recordedRuns(api, { ...options, ruleId }, around.signal);
  if (recorded.length === 0) return { lines: ['No run is recorded in this time.'], ...none, isWhole: true };
  const made = await makeAgain(api, recorded, { app, ruleId, target }, around).catch((error) => {
    if (error instanceof CommandFailed && error.exitCode < exitCodes.unreachable) return error;
    throw error;
  });
  if (made instanceof CommandFailed)
    return {
      lines: [`${recorded.length} recorded runs could not be made again: ${cell(made.message)}`],
      ...none,
      isWhole: false,
    };
  const { report } = made;
  const { head, changes, others } = linesOf(report, { target, real: false, hidesValues });
  const now = changes.length === 0 ? null : await readTree(api, ruleId, options).catch(noTree);
  const groups: string[] = [];
  for (const change of changes.slice(0, MOST_GROUPS))
    groups.push(`${cell(change.line)}${await exampleOf(api, change, { ruleId, options, now })}`);
  const more = changes.length - MOST_GROUPS;
  const rest = [...(more > 0 ? [`${more} more ways in which runs changed`] : []), ...others].map(cell);
  return {
    lines: [cell(head), '', ...[...groups, ...rest].map((line) => `- ${line}`)],
    ...{ runs: report.items.length, changed: report.counts.changed, isWhole: report.counts.unanswered === 0 },
  };
}

/** The tree of a rule as a target has it. */
async function readTree(api: HttpApi, ruleId: string, { app, target }: ReportOptions): Promise<Tree> {
  const known = namedTarget(target)?.target;
  const on = {
    lane: known?.kind === 'lane' ? known.lane : null,
    address: known?.kind === 'address' ? known.address : null,
  };
  return readAnswer(treeSchema, await get(api, 'tree', { app, ruleId, ...on }));
}

/** Without the tree, which may be too large, the examples do not say what changed in it. */
function noTree(error: unknown): null {
  if (error instanceof CommandFailed) return null;
  throw error;
}

type Asked = { ruleId: string; options: ReportOptions; now: Tree | null };

/** The recorded run that represents a group: what changed at the node where they part, a link to it, and its input. */
async function exampleOf(
  api: HttpApi,
  { at, parting, first }: Change,
  { ruleId, options, now }: Asked,
): Promise<string> {
  if (first === undefined) return '';
  const { app, counts: hidesValues = false } = options;
  const mockId = first.name;
  const kept = readAnswer(executionSchema, await get(api, `executions/${mockId}`, { include: 'tree' }));
  const changes = kept.tree && now ? changesBetween(readAnswer(treeSchema, kept.tree), now) : [];
  const own = changes.filter(({ id }) => id === parting?.id);
  const where = cell(own.length > 0 ? `, first at ${changeWords(own, say)}` : at);
  const input = kept.input ?? '';
  const shown =
    hidesValues || input === '' ? '' : `: ${cell(input.slice(0, MOST_INPUT))}${input.length > MOST_INPUT ? '…' : ''}`;
  return `${where}, such as [${mockId.slice(0, 8)}](${api.base}/?app=${app}&rule=${ruleId}&run=${mockId})${shown}`;
}
