import { triedIn } from '../../shared/conclusions/tried.ts';
import { executionSchema } from '../../shared/contract/execution.ts';
import { visibleJson, visibleLines } from '../../shared/contract/json/visible-text.ts';
import { clientListSchema, ruleVersionsSchema, treeSchema } from '../../shared/contract/rules-and-clients.ts';
import { readJson } from '../../shared/json-tree/read-json.ts';
import { readResult } from '../../shared/reasoning/result.ts';
import { ranAsOf } from '../../shared/reasoning/trace/recorded-run.ts';
import { runOn } from '../../shared/reasoning/trace/replay-result.ts';
import { occurrencesOf, type TreeNode } from '../../shared/reasoning/tree.ts';
import {
  createOutcomeOf,
  type RuleVersion,
  searchSince,
  type Try,
  type VersionOutcome,
  versionOf,
  versionsFrom,
} from '../../shared/reasoning/what-if/since.ts';
import { say } from '../../shared/reasoning/words/english.ts';
import { howFound, sinceLines, versionLine } from '../../shared/reasoning/words/since-words.ts';
import { leftOut } from '../../shared/reasons/remarks.ts';
import { beginRun } from '../runs/begin-run.ts';
import { statesOf } from '../runs/event-stream.ts';
import { explainRun } from '../runs/explain-run.ts';
import { exitCodes } from '../terminal/exit-codes.ts';
import { createHttpApi, get, type HttpApi, readAnswer } from '../terminal/http-api.ts';
import { CommandFailed, type Surroundings } from '../terminal/surroundings.ts';

type SinceOptions = {
  url: string;
  key?: string;
  json?: boolean;
  release?: string;
  leaves?: string;
  clients?: boolean;
};

/**
 * Finds since which version of its rule an execution has its outcome, or with `--release` the outcome on one version. Each version down to the
 * first other outcome is computed from the run. Where one cannot be, its leaves are tried without effects if that is asked for: those of a
 * module, or those of a client that holds the version.
 */
export async function since(mockId: string, options: SinceOptions, { stdout, stderr }: Surroundings): Promise<number> {
  const api = createHttpApi({ url: options.url, key: options.key });
  const ran = runOf(await explainRun(api, mockId));
  const attempt = await tryBy(api, ran, options, stderr);
  const { app, ruleId, confId, address } = ran.execution;
  const read = async (version: string) =>
    readAnswer(ruleVersionsSchema, await get(api, 'versions', { app, ruleId, confId, address, version }));
  if (options.release !== undefined) {
    const { value: version = ran.newest } = await versionsFrom(options.release, read).next();
    const looked = { ...(await createOutcomeOf(ran.run, ran.newest, attempt)(version)), ...version };
    stdout.write(
      options.json
        ? lineOf({ mockId, versions: [shown(looked)] })
        : wordsOf([versionLine(looked, say), howFound([looked], say)]),
    );
    return looked.outcome === null ? exitCodes.rejected : exitCodes.ok;
  }
  const earlier = (newest: string) => versionsFrom(newest, (version) => read(version).catch(notThere));
  const found = await searchSince(ran.run, ran, { versionsFrom: earlier, attempt });
  if (found === null) throw refusal('what it came to is not what its rules and its trace come to');
  const { outcome, since: first, from, looked } = found;
  const isKnown = from === null || (from.outcome !== null && from.outcome !== outcome);
  const answer = { since: Number(first.version), before: from && Number(from.version), versions: looked.map(shown) };
  stdout.write(options.json ? lineOf({ mockId, outcome, ...answer }) : wordsOf(sinceLines(found, say)));
  return isKnown ? exitCodes.ok : exitCodes.rejected;
}

/** Runs a version in this process with `--leaves`, or with `--clients` on a client that holds it. */
async function tryBy(
  api: HttpApi,
  { execution: { app, ruleId, confId }, run: { ranAt }, input }: Ran,
  { leaves, clients }: SinceOptions,
  stderr: Surroundings['stderr'],
): Promise<Try | undefined> {
  if (leaves !== undefined && clients)
    throw new CommandFailed('Give --leaves or --clients, not both.', exitCodes.usage);
  const triedBy =
    (answerOf: (version: RuleVersion & { root: TreeNode }) => Promise<string | null>): Try =>
    async ({ root, ...version }) => {
      const body = root && (await answerOf({ ...version, root }));
      return root && body ? triedIn({ input, body, root }) : null;
    };
  const ts = String(ranAt);
  if (leaves !== undefined) {
    const answer = await (await import('./in-process.ts')).createAnswers(leaves, { stderr });
    const start = ruleId === null ? { ruleId, confId } : { ruleId, confId: null };
    return triedBy((version) => answer(version, { ...start, ts, input, dryRun: true }));
  }
  if (!clients) return undefined;
  const { items } = readAnswer(clientListSchema, await get(api, 'clients', { app }));
  return triedBy(async ({ version, digest }) => {
    const client = items.find(
      ({ state, dryRun, loadedVersion }) => state !== 'offline' && dryRun && loadedVersion === version,
    );
    if (client === undefined || digest === null) return null;
    const asked = { app: String(app), ...(ruleId && { ruleId }), ...(confId && { confId }), ts };
    const target = `address:${client.address}`;
    const mockId = await beginRun(api, { ...asked, target, dryRun: true }, input);
    for await (const _ of statesOf(api, mockId, new AbortController().signal));
    const { result, rules } = readAnswer(executionSchema, await get(api, `executions/${mockId}`, {}));
    return rules?.told && rules.digest === digest ? result : null; // it may have another version by now
  });
}

const wordsOf = (lines: readonly string[]) => visibleLines(`${lines.join('\n')}\n`);
const lineOf = (value: unknown) => `${visibleJson(JSON.stringify(value))}\n`;

const refusal = (why: string) => new CommandFailed(`It cannot be told: ${why}.`, exitCodes.rejected);

type Ran = ReturnType<typeof runOf>;

/** An execution, as far as other versions of its rule can be computed from it. */
function runOf({ execution: text, tree, knowsRules }: Awaited<ReturnType<typeof explainRun>>) {
  const execution = readAnswer(executionSchema, text);
  const { rules, input, dryRun } = execution;
  if (dryRun) throw refusal(leftOut['was-dry']);
  if (input === null) throw refusal(leftOut['input-not-kept']);
  if (execution.masked.length > 0) throw refusal(leftOut['input-hidden']);
  const version = rules?.told ? rules.loaded : rules?.released;
  if (tree === null || version == null || !knowsRules) throw refusal('the rules that it ran on are not known for sure');
  const own = readAnswer(treeSchema, tree);
  const result = readResult(execution.lateResult ?? execution.result ?? '{}');
  const read = readJson(input);
  const ran = { result, input: read.kind === 'ok' ? read.root : null, ranAt: Number(ranAsOf(execution, result?.root)) };
  const { decision: outcome, toChange: run } = runOn(own.root === null ? [] : occurrencesOf(own.root), ran);
  if (outcome === null) throw refusal('it came to no outcome, or its trace does not say to which');
  return { execution, run, outcome, input, newest: versionOf(own, String(version)) };
}

/** Null for a version that can no longer be read, or that does not have the rule. */
function notThere(error: unknown): null {
  if (error instanceof CommandFailed && error.code === 'unknown-version') return null;
  throw error;
}

const shown = ({ version, outcome, assumed, unknown, tried, refused }: VersionOutcome) => ({
  ...{ version: Number(version), outcome },
  ...{ assumed: assumed.map(({ node }) => node.id), unknown: unknown.map(({ node }) => node.id) },
  ...(tried && { tried }),
  ...(refused && { refused: refused.node.id }),
});
