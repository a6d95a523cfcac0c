import type { Counts } from '../cases/batch.ts';
import { occurrencesOf, type TimeWindow, type TreeNode } from './tree.ts';

/** One thing that a person must know before a release of a rule. `nodeId`: the node it is about. */
export type Finding = { code: FindingCode; message: string; nodeId: string | null };

/** The code of a finding says what it does to the answer. */
export const findingCodes = {
  'no-rule': 'stops',
  'missing-node': 'stops',
  'unusable-node': 'stops',
  circle: 'stops',
  'missing-class': 'stops',
  'wrong-setting': 'stops',
  failed: 'stops',
  unanswered: 'stops',
  'no-cases': 'untested',
  'never-run': 'untested',
  'other-rules': 'untested',
  'other-cases': 'untested',
  'classes-unknown': 'tells',
  'window-over': 'tells',
  'not-reached': 'tells',
  'dry-run': 'tells',
} as const satisfies Record<string, 'stops' | 'untested' | 'tells'>;
export type FindingCode = keyof typeof findingCodes;

export const readinessStates = ['can-ship', 'cannot-ship', 'not-tested'] as const;
export type Readiness = (typeof readinessStates)[number];

/** The last batch of the saved cases of a rule on one target. `onDigests`: the rules its runs ran on; null of a run where that is not known. */
export type LastVerdict = {
  createdAt: number;
  dryRun: boolean;
  counts: Counts;
  onDigests: ReadonlySet<string | null>;
  /** The ids of the nodes that its cases reached; null where no trace says. */
  reached: ReadonlySet<string> | null;
};

/** What is known of one rule. `casesChangedAt`: epoch ms; null when it has no saved cases. */
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

/** What one finding or several make of a rule. It can ship only if its cases passed on the rules and the target that are asked about. */
export function readinessOf(findings: readonly Finding[]): Readiness {
  const effects = findings.map(({ code }) => findingCodes[code]);
  if (effects.includes('stops')) return 'cannot-ship';
  return effects.includes('untested') ? 'not-tested' : 'can-ship';
}

/** Everything that speaks against a release of a rule, without a run and by the last verdict. `now`: epoch ms. */
export function findingsOf(known: Known, now: number): Finding[] {
  return [...inTheTree(known, now), ...ofVerdict(known)];
}

function inTheTree({ root, circle, windowEndsAt, missingClasses, target }: Known, now: number): Finding[] {
  const nodes = [...new Map(occurrencesOf(root).map(({ node }) => [node.id, node])).values()];
  const about = (code: FindingCode, message: string, nodeId: string | null = null): Finding => ({
    code,
    message,
    nodeId,
  });
  const classes = missingClasses ?? [];
  return [
    ...nodes
      .filter(({ state }) => state === 'missing')
      .map(({ id }) => about('missing-node', `Node ${id} is not released.`, id)),
    ...nodes
      .filter(({ state }) => state === 'unusable')
      .map(({ id, problems }) => about('unusable-node', `Node ${id} cannot be read: ${problems.join('; ')}.`, id)),
    ...(circle === null ? [] : [about('circle', `The nodes ${circle.join(', ')} stand in a circle.`)]),
    ...classes.map((name) =>
      about(
        'missing-class',
        `A client of ${target} does not have the class ${name}.`,
        nodes.find(({ className }) => className === name)?.id,
      ),
    ),
    ...(missingClasses === null
      ? [about('classes-unknown', `No client of ${target} is online and says which classes it has.`)]
      : []),
    ...nodes.flatMap((node) =>
      wrongSettings(node).map((message) => about('wrong-setting', `Node ${node.id}: ${message}`, node.id)),
    ),
    ...(windowEndsAt !== null && windowEndsAt < now
      ? [about('window-over', `The time window of the rule was over on ${new Date(windowEndsAt).toISOString()}.`)]
      : []),
    ...nodes
      .filter(({ timeWindow }) => (endOf(timeWindow) ?? now) < now)
      .map(({ id }) => about('window-over', `The time window of node ${id} is over: it counts as NONE.`, id)),
  ];
}

/** The end of a time window in epoch ms; null for one without an end. */
export function endOf({ type, end }: TimeWindow): number | null {
  return type === 'before' || type === 'between' ? Number(end ?? 0) : null;
}

function wrongSettings({ settings }: TreeNode): string[] {
  return settings.flatMap(({ field, type, value, configured }) =>
    configured && type != null && !fits(type, value) ? `${field} must be ${type}, and is ${value}.` : [],
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
  const one = (code: FindingCode, message: string): Finding[] => [{ code, message, nodeId: null }];
  if (casesChangedAt === null) return one('no-cases', 'The rule has no saved cases.');
  if (last === null) return one('never-run', `Its cases did not run on ${target} yet, as far as batches are kept.`);
  if ([...last.onDigests].some((ran) => ran === null || ran !== digest))
    return one('other-rules', `Its cases last ran on ${target} with other rules than are released now.`);
  if (casesChangedAt > last.createdAt)
    return one('other-cases', `Its cases have changed since they last ran on ${target}.`);
  const { passed, failed, error, unanswered, pending } = last.counts;
  if (passed + failed + error + unanswered + pending === 0) return one('no-cases', 'All its cases are to be skipped.');
  return [
    ...(failed + error > 0 ? one('failed', `${failed + error} of its cases failed on ${target}.`) : []),
    ...(unanswered + pending > 0
      ? one('unanswered', `${unanswered + pending} of its cases have no answer on ${target}.`)
      : []),
    ...(last.dryRun ? one('dry-run', `Its cases last ran on ${target} without effects.`) : []),
    ...notReached(root, last.reached),
  ];
}

function notReached(root: TreeNode, reached: ReadonlySet<string> | null): Finding[] {
  if (reached === null) return [];
  const ids = [...new Set(occurrencesOf(root).map(({ node }) => node.id))].filter((id) => !reached.has(id));
  return ids
    .slice(0, MOST_NAMED)
    .map((id) => ({ code: 'not-reached', message: `No case reaches node ${id}.`, nodeId: id }));
}
