import { type Execution, executionSchema } from '../../shared/contract/execution.ts';
import { joinMembers, scanJson } from '../../shared/contract/json/exact-json.ts';
import { treeSchema } from '../../shared/contract/rules-and-clients.ts';
import { readJson } from '../../shared/json-tree/read-json.ts';
import { changesBetween, changeWords } from '../../shared/reasoning/changes.ts';
import { readResult } from '../../shared/reasoning/result.ts';
import { ranAsOf } from '../../shared/reasoning/trace/recorded-run.ts';
import { bareNode } from '../../shared/reasoning/tree.ts';
import { say } from '../../shared/reasoning/words/english.ts';
import { explain } from '../../shared/reasoning/words/explain.ts';
import { get, type HttpApi, readAnswer } from '../terminal/http-api.ts';
import { CommandFailed } from '../terminal/surroundings.ts';

type About = Pick<Execution, 'app' | 'ruleId' | 'confId' | 'address' | 'rules' | 'ending' | 'history' | 'ts'>;

/**
 * A run with what explains it. `execution` and `tree` are JSON text; the tree is null where none could be read. `knowsRules`: the tree is
 * the one that it ran on, so that its settings explain something. `about`: a sentence on which tree it is.
 */
type Explained = Pick<ReturnType<typeof explain>, 'outcome' | 'path' | 'sentences' | 'change'> & {
  execution: string;
  tree: string | null;
  knowsRules: boolean;
  about: string;
};

/** Reads one execution with the tree of its rule, and the reasons of its outcome. */
export async function explainRun(api: HttpApi, mockId: string): Promise<Explained> {
  return explainWhole(await get(api, `executions/${mockId}`, { include: 'tree' }), (about) => treeOfNow(api, about));
}

/** The same of an execution with its tree, as JSON text. `treeNow`: the tree of its rule as it is released now, where it can be read. */
export async function explainWhole(
  whole: string,
  treeNow: (about: About) => Promise<string | null> = async () => null,
): Promise<Explained> {
  const execution = joinMembers(membersOf(whole).filter(([name]) => name !== 'tree'));
  const about = readAnswer(executionSchema, whole);
  const now = await treeNow(about);
  // The tree of now is the one that ran where its digest is the same, also where the service did not keep it with the run.
  const isUnchanged =
    now !== null && about.rules !== null && about.rules.digest !== null && digestOf(now) === about.rules.digest;
  const own = about.tree ?? (isUnchanged ? now : null);
  const tree = own ?? now;
  const knowsRules = own !== null && !isOfAnother(about);
  const why = tree === null ? null : explainBy(tree, about, knowsRules);
  const { outcome = null, path = [], sentences = [], change = null } = why ?? {};
  const changes = knowsRules && !isUnchanged && now !== null ? [changesSince(own ?? now, now)].flat() : [];
  const sentence = [sentenceAbout(about, own !== null), ...changes].join(' ');
  return { execution, tree, knowsRules, about: sentence, outcome, path, sentences, change };
}

function digestOf(tree: string): string | null {
  return readAnswer(treeSchema, tree).digest;
}

/** Compares the tree of the run with the tree of now. Says in one sentence which nodes changed, and nothing where none did. */
function changesSince(before: string, now: string): string[] {
  const [old, present] = [before, now].map((tree) => readAnswer(treeSchema, tree));
  const changes = old && present ? changesBetween(old, present) : [];
  return changes.length === 0 ? [] : [say('rules.changed', { n: changes.length, nodes: changeWords(changes, say) })];
}

function explainBy(tree: string, execution: Execution, knowsRules: boolean) {
  const { root: node } = readAnswer(treeSchema, tree);
  const answer = execution.lateResult ?? execution.result;
  const result = answer === null ? null : readResult(answer);
  const data = readJson(execution.input ?? 'null');
  const input = data.kind === 'ok' ? data.root : null;
  const ranAt = Number(ranAsOf(execution, result?.root));
  return node && explain({ root: knowsRules ? node : bareNode(node), result, input, ranAt });
}

function membersOf(text: string): [string, string][] {
  const scanned = scanJson(text);
  return scanned.kind === 'complete' ? scanned.members.map(({ key, raw }) => [key, raw]) : [];
}

/** For the client that ran it. */
async function treeOfNow(api: HttpApi, { app, ruleId, confId, address }: About): Promise<string | null> {
  return get(api, 'tree', { app, ruleId, confId, address }).catch((error) => {
    if (!(error instanceof CommandFailed)) throw error;
    return null;
  });
}

/** It may have run on other rules: its client had reported another version than was released, or files or the version had changed. */
function isOfAnother({ rules }: About): boolean {
  const { released = null, loaded = null, told = false, unsure = false, about = false } = rules ?? {};
  if (unsure || about) return true;
  return !told && released !== null && loaded !== null && released !== loaded;
}

function versionWords({ released, loaded }: NonNullable<About['rules']>): string {
  if (loaded === '0') return 'This is the tree that its client says it ran.';
  const ran = `This is the tree of version ${loaded}, which its client says it ran.`;
  const isOther = released !== null && released !== loaded;
  return isOther ? `${ran} The released version was already ${released} when it was sent.` : ran;
}

function sentenceAbout(about: About, isKept: boolean): string {
  if (about.ending?.mayHaveRun === false) return 'It did not run. This is the tree of now.';
  if (!isKept)
    return 'This is the tree of now: that of the run is not known. Its settings may have been others, so they explain nothing.';
  if (about.rules?.unsure)
    return 'The files of this rule had changed without a new version when the run was sent: its client may have run them as they were before.';
  if (about.rules?.about)
    return `This is the tree of version ${about.rules.released}, which was released when the run was sent. Another version was released before its answer came: its client may have run that one.`;
  if (isOfAnother(about))
    return `This is the tree of version ${about.rules?.released}, which was released. The client had told that it has version ${about.rules?.loaded}: it may have run that one.`;
  if (about.rules?.told) return `${versionWords(about.rules)} It may have changed since.`;
  return 'This is the tree as it was when the run was sent. It may have changed since.';
}
