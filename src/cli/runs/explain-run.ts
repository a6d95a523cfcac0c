import { z } from 'zod';
import { joinMembers, parseExact, scanJson } from '../../shared/contract/json/exact-json.ts';
import { parseJson } from '../../shared/contract/json/parse-json.ts';
import type { ExactValue } from '../../shared/contract/json/raw-number.ts';
import { field, text } from '../../shared/contract/json/read-exact.ts';
import { readJson } from '../../shared/json-tree/read-json.ts';
import { changesBetween, changeWords } from '../../shared/reasoning/changes.ts';
import { readNode, readWindow } from '../../shared/reasoning/read-node.ts';
import { readResult } from '../../shared/reasoning/result.ts';
import { bareNode } from '../../shared/reasoning/tree.ts';
import { type ReasonKey, reasonEnglish } from '../../shared/reasoning/words/english.ts';
import { explain } from '../../shared/reasoning/words/explain.ts';
import { format, type Parameters } from '../../shared/reasoning/words/format.ts';
import { get, type HttpApi } from '../terminal/http-api.ts';
import { rawMember } from '../terminal/raw-member.ts';
import { CommandFailed } from '../terminal/surroundings.ts';

const version = z.union([z.number(), z.string()]).nullable();
const aboutSchema = z.object({
  app: z.number(),
  address: z.string().nullable(),
  rules: z
    .object({
      released: version,
      loaded: version,
      digest: z.string().nullable(),
      told: z.boolean().optional(),
      unsure: z.boolean().optional(),
      about: z.boolean().optional(),
    })
    .nullish(),
  outcome: z.object({ mayHaveRun: z.boolean() }).nullish(),
  history: z.array(z.object({ at: z.number() })),
  ts: z.union([z.number(), z.string()]).nullable(),
});
type About = z.infer<typeof aboutSchema>;

/**
 * A run with what explains it. `execution` and `tree` are JSON text; the tree is null where none could be read. `knowsRules`: the tree is
 * the one that it ran on, so that its settings explain something. `about`: a sentence on which tree it is.
 */
type Explained = Pick<ReturnType<typeof explain>, 'decision' | 'path' | 'sentences' | 'change'> & {
  execution: string;
  tree: string | null;
  knowsRules: boolean;
  about: string;
};

/** Reads one execution with the tree of its rule, and tells why it came out as it did. */
export async function explainRun(api: HttpApi, mockId: string): Promise<Explained> {
  const whole = await get(api, `executions/${mockId}`, { include: 'tree' });
  const execution = joinMembers(membersOf(whole).filter(([name]) => name !== 'tree'));
  const about = aboutSchema.parse(parseJson(execution));
  const now = await treeOfNow(api, execution, about);
  // The tree of now is the one that ran where its digest is the same, also where the service did not keep it with the run.
  const isUnchanged = now !== null && about.rules?.digest != null && digestOf(now) === about.rules.digest;
  const own = rawMember(whole, 'tree') ?? (isUnchanged ? now : null);
  const tree = own ?? now;
  const knowsRules = own !== null && !isOfAnother(about);
  const why = tree === null ? null : explainBy(tree, { execution, about, knowsRules });
  const { decision = null, path = [], sentences = [], change = null } = why ?? {};
  const changes = knowsRules && !isUnchanged && now !== null ? [changesSince(own ?? now, now)].flat() : [];
  const told = [sentenceAbout(about, own !== null), ...changes].join(' ');
  return { execution, tree, knowsRules, about: told, decision, path, sentences, change };
}

function digestOf(tree: string): string | null {
  return text(field(parseExact(tree), 'digest'));
}

/** Compares the tree of the run with the tree of now. Says in one sentence which nodes changed, and nothing where none did. */
function changesSince(before: string, now: string): string[] {
  const [old, present] = [before, now].map((tree) => readOfRule(parseExact(tree)));
  const changes = old && present ? changesBetween(old, present) : [];
  return changes.length === 0 ? [] : [say('rules.changed', { n: changes.length, nodes: changeWords(changes, say) })];
}

const say = (key: ReasonKey, parameters: Parameters = {}) => format(reasonEnglish[key], parameters);

function readOfRule(tree: ExactValue) {
  const [root, rule] = [field(tree, 'root'), field(tree, 'rule')];
  const ofRule = rule && { name: text(field(rule, 'name')), timeWindow: readWindow(field(rule, 'timeWindow')) };
  return { root: root ? readNode(root) : null, rule: ofRule || null };
}

type By = { execution: string; about: About; knowsRules: boolean };

function explainBy(tree: string, { execution, about, knowsRules }: By) {
  const root = field(parseExact(tree), 'root');
  if (!root) return null;
  const node = readNode(root);
  const result = rawMember(execution, 'lateResult') ?? rawMember(execution, 'result');
  const input = readJson(rawMember(execution, 'input') ?? 'null');
  return explain({
    root: knowsRules ? node : bareNode(node),
    result: result === undefined ? null : readResult(result),
    input: input.kind === 'ok' ? input.root : null,
    ranAt: Number(about.ts ?? about.history[0]?.at ?? 0),
  });
}

function membersOf(text: string): [string, string][] {
  const scanned = scanJson(text);
  return scanned.kind === 'complete' ? scanned.members.map(({ key, raw }) => [key, raw]) : [];
}

/** For the client that ran it. */
async function treeOfNow(api: HttpApi, execution: string, { app, address }: About): Promise<string | null> {
  const [ruleId, confId] = [rawMember(execution, 'ruleId'), rawMember(execution, 'confId')];
  return get(api, 'tree', { app, ruleId, confId, address: address ?? undefined }).catch((error) => {
    if (!(error instanceof CommandFailed)) throw error;
    return null;
  });
}

/** It may have run on others: its client had told another version than was released, or files or the version had changed. */
function isOfAnother({ rules }: About): boolean {
  const { released = null, loaded = null, told = false, unsure = false, about = false } = rules ?? {};
  if (unsure || about) return true;
  return !told && released !== null && loaded !== null && String(released) !== String(loaded);
}

function toldWords({ released, loaded }: NonNullable<About['rules']>): string {
  if (String(loaded) === '0') return 'This is the tree that its client says it ran.';
  const ran = `This is the tree of version ${loaded}, which its client says it ran.`;
  const isOther = released !== null && String(released) !== String(loaded);
  return isOther ? `${ran} The released version was already ${released} when it was sent.` : ran;
}

function sentenceAbout(about: About, isKept: boolean): string {
  if (about.outcome?.mayHaveRun === false) return 'It did not run. This is the tree of now.';
  if (!isKept && about.rules == null)
    return 'This run was kept before rules were recorded. This is the tree of now: its settings may have been others, so they explain nothing.';
  if (!isKept)
    return 'This is the tree of now: that of the run is not known. Its settings may have been others, so they explain nothing.';
  if (about.rules?.unsure)
    return 'The files of this rule had changed without a new version when the run was sent: its client may have run them as they were before.';
  if (about.rules?.about)
    return `This is the tree of version ${about.rules.released}, which was released when the run was sent. Another version was released before its answer came: its client may have run that one.`;
  if (isOfAnother(about))
    return `This is the tree of version ${about.rules?.released}, which was released. The client had told that it has version ${about.rules?.loaded}: it may have run that one.`;
  if (about.rules?.told) return `${toldWords(about.rules)} It may have changed since.`;
  return 'This is the tree as it was when the run was sent. It may have changed since.';
}
