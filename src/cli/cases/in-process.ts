import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type AnyLeaves, openInProcess, type RuleObjects } from '../../client/requests/answer-in-process.ts';
import { failuresIn, type ItemDetail, type ItemHead, noCounts } from '../../shared/cases/batch.ts';
import type { Case } from '../../shared/cases/case.ts';
import { factsOfTrees } from '../../shared/conclusions/conclusion.ts';
import { itemOfAnswer, skippedItem } from '../../shared/conclusions/item-of-answer.ts';
import type { BatchReport } from '../../shared/contract/batches.ts';
import { isLeaf, occurrencesOf, type TimeWindow, type TreeNode } from '../../shared/reasoning/tree.ts';
import { skip } from '../../shared/reasons/remarks.ts';
import { jsonReport } from '../../shared/reports/json.ts';
import { numberOfType } from '../../shared/rules/node-types.ts';
import { windowNumbers } from '../../shared/rules/time-window.ts';
import { exitCodes } from '../terminal/exit-codes.ts';
import { rawMember } from '../terminal/raw-member.ts';
import { CommandFailed, type Surroundings } from '../terminal/surroundings.ts';
import type { RunOptions } from './batch-request.ts';
import { IN_PROCESS, type Ran, type Runner } from './runner.ts';
import type { Suite } from './suite.ts';

/** The name of the target in reports. */
const HERE = 'this process';

type InProcess = Awaited<ReturnType<typeof openInProcess>>;

/** Runs suites in this process: with the leaves of a module, on the rules of a folder or of a saved run. Problems of the rules go to standard error. */
export async function createProcessRunner(
  { leaves, rules }: { leaves: string; rules: string | RuleObjects },
  { stderr }: Pick<Surroundings, 'stderr'>,
): Promise<Runner> {
  const found = typeof rules === 'string' ? await stat(rules).catch(() => null) : null;
  if (typeof rules === 'string' && !found?.isDirectory())
    throw new CommandFailed(
      `--rules: there is no directory ${rules}; name the folder of one app, with bases and confs in it.`,
      exitCodes.usage,
    );
  const onError = (error: unknown) => void stderr.write(`${error}\n`);
  const process = await openInProcess(rules, { leaves: await importLeaves(leaves), onError });
  for (const problem of process.problems) stderr.write(`${problem}\n`);
  return (suite, options) => runSuite(process, suite, options);
}

/** Answers one input as a client with the leaves of a module would, on a version of the rule that is given each time. */
export async function createAnswers(leaves: string, { stderr }: Pick<Surroundings, 'stderr'>) {
  const imported = await importLeaves(leaves);
  const onError = (error: unknown) => void stderr.write(`${error}\n`);
  return async (rule: RuleOfTree, asked: Parameters<InProcess['answer']>[0]): Promise<string> =>
    (await openInProcess(ruleObjects(rule, asked.ruleId), { leaves: imported, onError })).answer(asked);
}

/** The leaves that a module exports as `leaves`, or as its default. */
async function importLeaves(path: string): Promise<AnyLeaves> {
  const module = await import(pathToFileURL(resolve(path)).href).catch((error) => cannotImport(path, error));
  const found = module.leaves ?? module.default?.leaves ?? module.default;
  if (typeof found === 'object' && found !== null) return found;
  throw new CommandFailed(
    `--leaves: ${path} exports no leaves: export what createRuleClient is given, as "leaves" or as the default.`,
    exitCodes.usage,
  );
}

function cannotImport(path: string, error: Error & { code?: string }): never {
  const isTypeScript =
    error.code === 'ERR_UNKNOWN_FILE_EXTENSION' || error.code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX';
  const wayOut = isTypeScript
    ? ` Node ${process.versions.node} does not run it as it is: use Node 22.18 or later and TypeScript that only has types to take out, or give the compiled .js.`
    : '';
  throw new CommandFailed(`--leaves: ${path} cannot be loaded: ${error.message}.${wayOut}`, exitCodes.usage);
}

async function runSuite(inProcess: InProcess, suite: Suite, options: RunOptions): Promise<Ran> {
  const createdAt = Date.now();
  const counts = noCounts();
  const items: BatchReport['items'] = [];
  for (const [index, one] of suite.run.entries()) {
    const bad = failuresIn([counts]);
    const why = one.skip
      ? skip('skip-asked', {})
      : options.bail && bad > 0
        ? skip('enough-failures', { failures: bad })
        : null;
    const ran = why === null ? await runCase(inProcess, suite, one, options) : { head: skippedItem(why), detail: null };
    counts[ran.head.verdict]++;
    items.push(reported(one, index + 1, ran));
  }
  const { app, ruleId, confId, ignore, run, origin } = suite;
  const { bail = false, dryRun = false } = options;
  const report: BatchReport = {
    ...{ batchId: IN_PROCESS, app: Number(app), ruleId, confId, cases: run.length, concurrency: 1, keyName: null },
    ...{ stopAfterFailures: bail ? 1 : null, createdAt, endedAt: Date.now(), state: 'finished', dryRun, ignore },
    ...{ file: origin.kind === 'file' ? origin.path : null, etag: null, from: null },
    ...{ targets: [{ target: HERE, counts }], counts, items },
  };
  return { suite, report, json: jsonReport(report) };
}

type Item = { head: ItemHead; detail: ItemDetail | null };

async function runCase(
  inProcess: InProcess,
  { ruleId, confId, ignore, before }: Suite,
  one: Case,
  { dryRun = false }: RunOptions,
): Promise<Item> {
  const begun = performance.now();
  const body = await inProcess.answer({ ruleId, confId, ts: one.ts, input: one.input, dryRun });
  const tookMs = performance.now() - begun;
  const success = rawMember(body, 'success') === 'true';
  const facts = { ...factsOfTrees([]), acts: ({ id }: { id: string }) => inProcess.acts(id) };
  return itemOfAnswer(
    one,
    { body, success, address: HERE, rules: null, tookMs },
    { ignore, facts, ...(before && { before }) },
  );
}

function reported({ name, line }: Case, n: number, { head, detail }: Item): BatchReport['items'][number] {
  const tookMs = head.tookMs === null ? null : Math.round(head.tookMs);
  const where = { n, name, line, target: HERE, mockId: `case-${n}` };
  const { differences = [], notChecked = [], data: changed = null, cut = false } = detail ?? {};
  return { ...head, ...where, tookMs, differences, notChecked, changed, cut };
}

/** A rule as its tree has it. */
type RuleOfTree = { root: TreeNode | null; timeWindow: TimeWindow | null | undefined };

/** The files that a tree was read from, as far as it tells them. */
export function ruleObjects({ root, timeWindow }: RuleOfTree, ruleId: string | null): RuleObjects {
  const nodes = new Map((root === null ? [] : occurrencesOf(root)).map(({ node }) => [node.id, node]));
  return {
    rules: ruleId === null ? [] : [{ id: ruleId, confId: root?.id, ...windowOf(timeWindow) }],
    nodes: [...nodes.values()]
      .filter(({ state }) => state === 'released')
      .map((node) => ({
        ...{ id: node.id, name: node.label ?? '', type: numberOfType(node.type), confName: node.className ?? '' },
        ...{ confField: node.values, inverse: node.inverse, errorState: node.errorState ?? undefined },
        ...(node.forward && { forwardId: node.forward.id }),
        ...(!isLeaf(node) && { sonIds: node.children.map(({ id }) => id).join(',') }),
        ...windowOf(node.timeWindow),
      })),
  };
}

function windowOf(window: TimeWindow | null | undefined) {
  if (window == null || window.type === 'always') return {};
  const { type, start, end } = window;
  return { timeType: windowNumbers[type], ...(start !== null && { start }), ...(end !== null && { end }) };
}
