import { changesBetween, changeWords } from '../changes.ts';
import type { TreeNode } from '../tree.ts';
import type { Since, VersionOutcome } from '../what-if/since.ts';
import type { Say } from './english.ts';
import { nodesText } from './fact-words.ts';

/** Since which version a rule decides as it does, what that version changed, and which ones were looked at. */
export function sinceLines({ outcome, since: first, from, looked }: Since, say: Say): string[] {
  const version = first.version;
  const seen = [howFound(looked, say), say('sinceWhen.looked', { versions: versionsIn(looked) })].join(' ');
  if (from === null) return [say('sinceWhen.atLeast', { decision: outcome, version }), seen];
  const isOther = from.outcome !== null && from.outcome !== outcome;
  const words = changeWords(changesTo(first, from), say);
  return [
    say(isOther ? 'sinceWhen.found' : 'sinceWhen.unknown', { decision: outcome, version }),
    versionLine(from, say),
    ...(words === '' ? [] : [say('sinceWhen.changed', { version, changes: words })]),
    seen,
  ];
}

const versionsIn = (looked: readonly VersionOutcome[]) => looked.map(({ version }) => version).join(', ');

/** Whether the outcomes were computed, or which versions had their leaves run for it. */
export function howFound(looked: readonly VersionOutcome[], say: Say): string {
  const tried = looked.filter((each) => each.tried);
  const refused = looked.flatMap((each) => each.refused ?? []).slice(0, 1);
  const sentences = [
    ...(tried.length < looked.length ? [say('sinceWhen.computed')] : []),
    ...(tried.length > 0 ? [say('sinceWhen.tried', { versions: versionsIn(tried) })] : []),
    ...refused.map((at) => say('sinceWhen.refused', { node: nodesText([at], say) })),
  ];
  return sentences.join(' ');
}

/** The changes between two versions; none are known where one of the trees is too large. */
function changesTo(version: VersionOutcome, before: VersionOutcome) {
  if (version.root === undefined || before.root === undefined) return [];
  const ofRule = (root: TreeNode | null, { timeWindow }: VersionOutcome) => ({
    ...{ root, rule: timeWindow && { name: null, timeWindow } },
  });
  return changesBetween(ofRule(before.root, before), ofRule(version.root, version));
}

/** What one version would have said. */
export function versionLine({ version, root, outcome: decision, assumed, unknown }: VersionOutcome, say: Say): string {
  if (root === undefined) return say('sinceWhen.version.tooLarge', { version });
  if (decision === 'NOTHING') return say('sinceWhen.version.nothing', { version });
  if (decision !== null && assumed.length === 0) return say('sinceWhen.version', { version, decision });
  if (decision !== null)
    return say('sinceWhen.version.assumed', { version, decision, n: assumed.length, nodes: nodesText(assumed, say) });
  return unknown.length === 0
    ? say('sinceWhen.version.writes', { version })
    : say('sinceWhen.version.unknown', { version, nodes: nodesText(unknown, say) });
}
