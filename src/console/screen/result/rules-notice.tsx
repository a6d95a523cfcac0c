import { changedNodes, type NodeChange, versionRan } from '../../run/rules-of-run.ts';
import { type Say, useText } from '../../text/use-text.tsx';
import { NoticeLines } from '../../ui/notice-lines.tsx';
import type { RuleContext } from '../frame/use-rule.ts';
import type { OfRun } from '../frame/use-rule-of-run.ts';

const MAX_NAMED = 4;

/** What a reader must know of the rules before believing the reason of a run. */
export function RulesNotice({ rule }: { rule: RuleContext & { ofRun: OfRun } }) {
  const { say } = useText();
  return <NoticeLines className="rules-notice" lines={linesOf(rule, say)} />;
}

function linesOf({ ofRun, tree, version: now }: RuleContext & { ofRun: OfRun }, say: Say): string[] {
  if (!('record' in ofRun)) return ofRun.kind === 'checking' ? [say('rules.checking')] : [];
  const { address, rules } = ofRun.record;
  const { released = null, loaded = null } = rules ?? {};
  if (ofRun.kind !== 'older')
    return [say(`rules.${ofRun.kind}`, { client: address ?? '', loaded: loaded ?? '', released: released ?? '' })];
  const changes = tree.data && ofRun.tree ? changedNodes(tree.data, ofRun.tree) : [];
  const since =
    changes.length === 0 ? '' : ` ${say('rules.changed', { n: changes.length, nodes: nodeNames(changes, say) })}`;
  const ran = versionRan(rules);
  if (ran === null || now === null || ran === now) return [`${say('rules.edited')}${since}`];
  const isBehind = released !== null && BigInt(ran) < BigInt(released);
  const behind = isBehind ? [say('rules.behind', { released, client: address ?? '' })] : [];
  return [`${say('rules.older', { ran, now })}${since}`, ...behind];
}

/** Changed nodes by their ids and names, as many as a line has room for. */
export function nodeNames(changes: readonly NodeChange[], say: Say): string {
  const names = changes.slice(0, MAX_NAMED).map(({ id, name, how }) => {
    const node = `#${id} ${name}`;
    return how === 'changed' ? node : say(`rules.node.${how}`, { node });
  });
  return changes.length > MAX_NAMED ? `${names.join(', ')}, …` : names.join(', ');
}
