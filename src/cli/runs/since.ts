import { executionSchema } from '../../shared/contract/execution.ts';
import { visible, visibleJson, visibleLines } from '../../shared/contract/json/visible-text.ts';
import { treeSchema } from '../../shared/contract/rules-and-clients.ts';
import { readJson } from '../../shared/json-tree/read-json.ts';
import { changesBetween, changeWords } from '../../shared/reasoning/changes.ts';
import { readResult } from '../../shared/reasoning/result.ts';
import { decisionOf } from '../../shared/reasoning/trace/mark.ts';
import { replayResult } from '../../shared/reasoning/trace/replay-result.ts';
import { nameOf, type Occurrence, occurrencesOf } from '../../shared/reasoning/tree.ts';
import { type Looked, type RuleVersion, type Since, sinceWhen, toldOn } from '../../shared/reasoning/what-if/since.ts';
import { reasonEnglish } from '../../shared/reasoning/words/english.ts';
import { format } from '../../shared/reasoning/words/format.ts';
import { exitCodes } from '../terminal/exit-codes.ts';
import { createHttpApi, get, type HttpApi, readAnswer } from '../terminal/http-api.ts';
import { CommandFailed, type Surroundings } from '../terminal/surroundings.ts';
import { explainRun } from './explain-run.ts';

export type SinceOptions = { url: string; key?: string; json?: boolean; release?: string };

const AT_ONCE = 8;

/**
 * Tells since which version of its rule an execution comes to what it came to, or with `--release` what one version would have said. Every
 * version down to the first other outcome is computed from the run; nothing runs.
 */
export async function since(mockId: string, options: SinceOptions, { stdout }: Surroundings): Promise<number> {
  const api = createHttpApi({ url: options.url, key: options.key });
  const ran = runOf(await explainRun(api, mockId));
  if (options.release !== undefined) {
    const version = await versionAt(api, ran, options.release);
    const looked = { ...toldOn(ran.run, version), ...version };
    stdout.write(
      options.json ? lineOf({ mockId, versions: [shown(looked)] }) : visibleLines(`${wordsOf(looked)}\n${COMPUTED}\n`),
    );
    return looked.outcome === null ? exitCodes.rejected : exitCodes.ok;
  }
  const found = await search(api, ran);
  const { outcome, since: first, from, looked } = found;
  const isTold = from === null || (from.outcome !== null && from.assumed.length === 0) || from.outcome !== outcome;
  const told = { since: Number(first.version), before: from && Number(from.version), versions: looked.map(shown) };
  stdout.write(options.json ? lineOf({ mockId, outcome, ...told }) : visibleLines(`${linesOf(found).join('\n')}\n`));
  return isTold && from?.outcome !== null ? exitCodes.ok : exitCodes.rejected;
}

const COMPUTED = 'This is computed, not run, with the classes of the client that ran it.';
const lineOf = (value: unknown) => `${visibleJson(JSON.stringify(value))}\n`;

const refusal = (why: string) => new CommandFailed(`It cannot be told: ${why}.`, exitCodes.rejected);

type Ran = ReturnType<typeof runOf>;

/** An execution, as far as other versions of its rule can be computed from it. */
function runOf({ execution: text, tree, knowsRules }: Awaited<ReturnType<typeof explainRun>>) {
  const execution = readAnswer(executionSchema, text);
  const { rules, input, dryRun, ts, history } = execution;
  if (dryRun) throw refusal('it was a dry run');
  if (input === null) throw refusal('its input is not kept');
  if (execution.masked.length > 0) throw refusal('fields of its input are hidden');
  const version = rules?.told ? rules.loaded : rules?.released;
  if (tree === null || version == null || !knowsRules) throw refusal('the rules that it ran on are not known for sure');
  const own = readAnswer(treeSchema, tree);
  const result = readResult(execution.lateResult ?? execution.result ?? '{}');
  const occurrences = own.root === null ? [] : occurrencesOf(own.root);
  const { trace, replay } = replayResult(result, occurrences);
  const [root] = occurrences;
  const mark = root && replay.marks.get(root);
  const outcome = mark ? decisionOf(mark) : null;
  if (outcome === null) throw refusal('it came to no outcome, or its trace does not say to which');
  const read = readJson(input);
  const ranAt = Number(ts ?? result?.executeAt ?? history[0]?.at ?? 0);
  const run = {
    occurrences,
    marks: replay.marks,
    tracesReads: trace === 'steps',
    ranAt,
    input: read.kind === 'ok' ? read.root : null,
  };
  const newest: RuleVersion = { version: String(version), root: own.root, timeWindow: own.rule?.timeWindow ?? null };
  return { execution, run, outcome, newest };
}

/** Reads version after version, so many at once, until one came to something else. */
async function search(api: HttpApi, ran: Ran): Promise<Since> {
  const looked: Looked[] = [];
  let last = ran.newest;
  for (let next = BigInt(ran.newest.version) - 1n; ; next -= BigInt(AT_ONCE)) {
    const numbers = Array.from({ length: AT_ONCE }, (_, index) => next - BigInt(index)).filter((number) => number > 0n);
    const read = await Promise.all(
      numbers.map((number) => versionAt(api, ran, String(number)).catch((error) => notThere(error))),
    );
    const older = read.slice(0, read.includes(null) ? read.indexOf(null) : undefined).filter((one) => one !== null);
    // All before came to the same.
    const found = sinceWhen(ran.run, ran.outcome, [last, ...older]);
    if (found === null) throw refusal('what it came to is not what its rules and its trace come to');
    looked.push(...found.looked.slice(looked.length === 0 ? 0 : 1));
    last = older.at(-1) ?? last;
    if (found.from !== null || older.length < AT_ONCE) return { ...found, looked };
  }
}

async function versionAt(api: HttpApi, { execution }: Ran, version: string): Promise<RuleVersion> {
  const { app, ruleId, confId, address } = execution;
  const { root, rule } = readAnswer(treeSchema, await get(api, 'tree', { app, ruleId, confId, address, version }));
  return { version, root, timeWindow: rule?.timeWindow ?? null };
}

/** A version that nobody has any more, or in which the rule was not there. */
function notThere(error: unknown): null {
  if (error instanceof CommandFailed && error.exitCode === exitCodes.rejected) return null;
  throw error;
}

function linesOf({ outcome, since: first, from, looked }: Since): string[] {
  const versions = looked.map(({ version }) => version);
  const seen = `${COMPUTED} Versions looked at: ${versions.join(', ')}.`;
  if (from === null)
    return [`It comes to ${outcome} at least since version ${first.version}: no earlier one can be read.`, seen];
  const isOther = from.outcome !== null && from.outcome !== outcome;
  const head = isOther
    ? `It comes to ${outcome} since version ${first.version}.`
    : `Since when it comes to ${outcome} cannot be told: on version ${first.version} it still does.`;
  const [before, now] = [from, first].map(ofRule);
  const changes = before && now ? changesBetween(before, now) : [];
  const words = changeWords(changes, (key, parameters) => format(reasonEnglish[key], parameters ?? {}));
  return [head, wordsOf(from), ...(words === '' ? [] : [`Version ${first.version} changed ${words}.`]), seen];
}

const ofRule = ({ root, timeWindow }: Looked) => ({ root, rule: timeWindow && { name: null, timeWindow } });

/** What one version would have said. */
function wordsOf({ version, outcome, assumed, unknown }: Looked): string {
  if (outcome === null)
    return `Version ${version}: it cannot be told, because nothing is known of ${named(unknown)} there.`;
  if (outcome === 'NOTHING') return `Version ${version}: nothing would have run.`;
  return `Version ${version}: ${outcome}${assumed.length === 0 ? '' : `, if ${named(assumed)} ${assumed.length === 1 ? 'comes' : 'come'} to TRUE`}.`;
}

const MAX_NAMED = 4;

function named(all: readonly Occurrence[]): string {
  const names = all.slice(0, MAX_NAMED).map(({ node }) => visible(`“${nameOf(node)}” #${node.id}`));
  return names.length === 0
    ? 'what its nodes write'
    : `${names.join(', ')}${all.length > MAX_NAMED ? ' and others' : ''}`;
}

const shown = ({ version, outcome, assumed, unknown }: Looked) => ({
  ...{ version: Number(version), outcome },
  ...{ assumed: assumed.map(({ node }) => node.id), unknown: unknown.map(({ node }) => node.id) },
});
