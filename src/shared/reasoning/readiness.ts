import type { Counts } from '../cases/batch.ts';
import { type FindingCode, findingCodes, type Readiness } from '../contract/readiness.ts';
import { whatHappened } from '../reasons/words.ts';
import { endOf } from './time-window.ts';
import { occurrencesOf, type TreeNode } from './tree.ts';
import { shortened } from './words/fact-words.ts';
import { format, type Parameters } from './words/format.ts';
import { readinessEnglish } from './words/readiness-english.ts';

/** One thing that a person must know before a release of a rule. `nodeId`: the node it is about. `parameters`: what stands in its sentence. */
export type Finding = { code: FindingCode; message: string; nodeId: string | null; parameters: Parameters };

/** The last batch of the saved cases of a rule on one target. `onDigests`: the rules its runs ran on; null of a run where that is not known. */
export type LastVerdict = {
  createdAt: number;
  counts: Counts;
  onDigests: ReadonlySet<string | null>;
  /** The ids of the nodes that its cases reached; null where no trace says. */
  reached: ReadonlySet<string> | null;
};

/** The state of one rule. `casesChangedAt`: epoch ms; null when it has no saved cases. */
type Known = {
  root: TreeNode;
  digest: string | null;
  circle: readonly string[] | null;
  windowEndsAt: number | null;
  missingClasses: readonly string[] | null;
  target: string;
  casesChangedAt: number | null;
  last: LastVerdict | null;
};

const MOST_NAMED = 20;

/** The state that follows from a rule's findings. It can ship only if its cases passed on the requested rules and target. */
export function readinessOf(findings: readonly Pick<Finding, 'code'>[]): Readiness {
  const effects = findings.map(({ code }) => findingCodes[code]);
  if (effects.includes('stops')) return 'cannot-ship';
  return effects.includes('untested') ? 'not-tested' : 'can-ship';
}

/** Everything that speaks against a release of a rule, without a run and by the last verdict; what decides comes first. `now`: epoch ms. */
export function findingsOf(known: Known, now: number): Finding[] {
  const rank = ({ code }: Finding) => ['stops', 'untested', 'tells'].indexOf(findingCodes[code]);
  return [...inTheTree(known, now), ...ofVerdict(known)].sort((a, b) => rank(a) - rank(b));
}

/** A finding with its sentence in English. `why`: what its `{reason}` is, whose parameters are beside its own. */
export function finding(
  code: FindingCode,
  parameters: Parameters = {},
  why?: { reason: string; params: Parameters } | undefined,
): Finding {
  const { node } = parameters;
  const message = format(readinessEnglish[code], { ...parameters, ...(why && { reason: whatHappened(why) }) });
  const all = { ...why?.params, ...parameters, ...(why && { reason: why.reason }) };
  return { code, message, nodeId: node === undefined ? null : String(node), parameters: all };
}

function inTheTree({ root, circle, windowEndsAt, missingClasses, target }: Known, now: number): Finding[] {
  const nodes = [...new Map(occurrencesOf(root).map(({ node }) => [node.id, node])).values()];
  const inState = (state: TreeNode['state']) => nodes.filter((node) => node.state === state);
  return [
    ...inState('missing').map(({ id }) => finding('missing-node', { node: id })),
    ...inState('unusable').map(({ id, problems: [why] }) => finding('unusable-node', { node: id }, why)),
    ...(circle === null ? [] : [finding('circle', { nodes: circle.join(', ') })]),
    ...(missingClasses ?? []).map((name) => finding('missing-class', { class: name, target })),
    ...(missingClasses === null ? [finding('classes-unknown', { target })] : []),
    ...nodes.flatMap(wrongSettings),
    ...(windowEndsAt !== null && windowEndsAt < now ? [finding('rule-over')] : []),
    ...nodes
      .filter(({ timeWindow }) => (endOf(timeWindow) ?? now) < now)
      .map(({ id }) => finding('node-over', { node: id })),
  ];
}

function wrongSettings({ id, settings }: TreeNode): Finding[] {
  return settings.flatMap(({ field, type, value, configured }) =>
    configured && type != null && !fits(type, value)
      ? finding('wrong-setting', { node: id, field, type, value: shortened(value) })
      : [],
  );
}

/** Whether a value, as JSON text, can be a field of a type. Clients read a number or a boolean out of a text as well. */
function fits(type: string, value: string): boolean {
  const plain = value.replace(/^"(.*)"$/s, '$1');
  switch (type) {
    case 'int':
    case 'long':
      return /^-?\d+(\.0+)?$/.test(plain);
    case 'float':
    case 'double':
      return /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(plain);
    case 'boolean':
      return plain === 'true' || plain === 'false';
    case 'list':
      return value.startsWith('[');
    case 'map':
      return value.startsWith('{');
    default:
      return true;
  }
}

function ofVerdict({ root, digest, target, casesChangedAt, last }: Known): Finding[] {
  if (casesChangedAt === null) return [finding('no-cases')];
  if (last === null) return [finding('never-run', { target })];
  if ([...last.onDigests].some((ran) => ran === null || ran !== digest)) return [finding('other-rules', { target })];
  if (casesChangedAt > last.createdAt) return [finding('other-cases', { target })];
  const { skipped, unanswered, pending, ...ran } = last.counts;
  const [wrong, open, unchecked] = [ran.failed + ran.error, unanswered + pending, ran['not-checked']];
  if (open === 0 && Object.values(ran).every((count) => count === 0)) return [finding('no-cases')];
  return [
    ...(wrong + open + unchecked + ran.passed === 0 ? [finding('nothing-expected')] : []),
    ...(unchecked > 0 ? [finding('not-checked', { n: unchecked, target })] : []),
    ...(wrong > 0 ? [finding('failed', { n: wrong, target })] : []),
    ...(open > 0 ? [finding('unanswered', { n: open, target })] : []),
    ...notReached(root, last.reached),
  ];
}

function notReached(root: TreeNode, reached: ReadonlySet<string> | null): Finding[] {
  if (reached === null) return [];
  const ids = [...new Set(occurrencesOf(root).map(({ node }) => node.id))].filter((id) => !reached.has(id));
  return ids.slice(0, MOST_NAMED).map((node) => finding('not-reached', { node }));
}
