import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { CannotSplice, upsertCase } from '../../shared/cases/document/splice.ts';
import { conclusionOf, factsOfTrees } from '../../shared/conclusions/conclusion.ts';
import { executionSchema } from '../../shared/contract/execution.ts';
import { joinMembers } from '../../shared/contract/json/exact-json.ts';
import { parseJson } from '../../shared/contract/json/parse-json.ts';
import { visible, visibleJson, visibleLines } from '../../shared/contract/json/visible-text.ts';
import { treeSchema } from '../../shared/contract/rules-and-clients.ts';
import type { Verdict } from '../../shared/contract/verdict.ts';
import { recordedRun } from '../../shared/reasoning/trace/recorded-run.ts';
import { leftOut } from '../../shared/reasons/remarks.ts';
import type { AnsweredRecord } from '../runs/recorded-runs.ts';
import { CHANGED, openRunFile } from '../runs/run-file.ts';
import { exitCodes } from '../terminal/exit-codes.ts';
import { readAnswer } from '../terminal/http-api.ts';
import { openOutput } from '../terminal/output-file.ts';
import { CommandFailed, type Surroundings } from '../terminal/surroundings.ts';
import { createProcessRunner, ruleObjects } from './in-process.ts';
import { failureLines } from './print-failures.ts';
import { membersOfCase } from './record.ts';
import type { Suite } from './suite.ts';
import { exitCodeOfReport, type TestOptions } from './test.ts';

export type SavedRunOptions = TestOptions & { run?: string; real?: boolean; asCase?: string };

const NEEDS =
  '--run FILE takes a saved run in the place of cases: give --leaves to run it in this process, or --as-case to keep it.';

/**
 * Runs a saved run in this process, without effects unless `--real` is given, and reports whether the result is the same; or keeps it as a case.
 * Resolves to the exit code.
 */
export async function testSavedRun(paths: string[], options: SavedRunOptions, { stdout, stderr }: Surroundings) {
  const { run, leaves, rules, asCase, real = false, json = false } = options;
  if (
    paths.length > 0 ||
    options.saved ||
    options.update ||
    options.proposeIgnore ||
    run === undefined ||
    (!leaves && !asCase)
  )
    throw new CommandFailed(NEEDS, exitCodes.usage);
  const { suite, objects, changed, answered } = await readSavedRun(run);
  if (changed) stderr.write(`${CHANGED}\n`);
  if (asCase !== undefined) stderr.write(`${await keepAsCase(asCase, suite, answered)}\n`);
  if (leaves === undefined) return changed ? exitCodes.failed : exitCodes.ok;
  const runner = await createProcessRunner({ leaves, rules: rules ?? objects }, { stderr });
  const { report, json: printed } = await runner(suite, { dryRun: !real });
  const lines = [...failureLines(suite, report), ...report.items.map(({ verdict }) => wordsOf(verdict))];
  stdout.write(json ? visibleJson(`${printed.trim()}\n`) : visibleLines(`${lines.join('\n')}\n`));
  return changed ? exitCodes.failed : exitCodeOfReport(report);
}

function wordsOf(verdict: Verdict): string {
  if (verdict === 'same') return 'Reproduced: the same outcome, data and actions.';
  return verdict === 'not-checked'
    ? 'Whether it is reproduced is not known: --real calls every node.'
    : 'Not reproduced.';
}

/** A saved run as a suite of one case, which is compared with the result of that run, and the rules that it ran on. `changed`: the file was edited after it was saved. */
async function readSavedRun(path: string) {
  const { execution: text, changed } = await openRunFile(path);
  const execution = readAnswer(executionSchema, text, exitCodes.usage);
  const { app, ruleId, tree: own, state } = execution;
  const result = execution.lateResult ?? execution.result;
  const run = recordedRun(execution);
  const why = typeof run === 'string' ? leftOut[run] : own == null ? 'the tree of its rules was not kept' : null;
  if (typeof run === 'string' || own == null || ruleId === null || result === null)
    throw new CommandFailed(
      `${path} cannot be run again, because ${why ?? 'its answer was not kept'}.`,
      exitCodes.usage,
    );
  const tree = readAnswer(treeSchema, own, exitCodes.usage);
  const { mockId, input, ts } = run;
  const one = { name: mockId, of: mockId, input, ts, tags: [], skip: false, line: null, expect: null };
  const facts = factsOfTrees(tree.root === null ? [] : [tree.root]);
  const before = conclusionOf({ input, body: result, success: state === 'succeeded', facts });
  const origin = { kind: 'file', path } as const;
  const of = { app: String(app), ruleId, confId: null, ignore: [] };
  const suite: Suite = { origin, text, ...of, cases: [one], run: [one], before };
  const objects = ruleObjects({ root: tree.root, timeWindow: tree.rule?.timeWindow }, ruleId);
  return { suite, objects, changed, answered: { ...run, result, root: tree.root } };
}

/** Writes a run as a case into a document, or into a new one, and reports it. */
async function keepAsCase(path: string, { app, ruleId }: Suite, run: AnsweredRecord): Promise<string> {
  const write = await openOutput('--as-case', path);
  const text = existsSync(path) ? await readFile(path, 'utf8') : `app: ${app}\nruleId: ${ruleId}\ncases: []\n`;
  const members = membersOfCase(run);
  const name = String(parseJson(members.name));
  try {
    await write(upsertCase(text, { name, json: joinMembers(Object.entries(members)) }), 'Nothing was kept.');
  } catch (error) {
    if (error instanceof CannotSplice) throw new CommandFailed(`${path}: ${error.message}.`, exitCodes.usage);
    throw error;
  }
  return visible(`${path} has the case ${name}.`);
}
