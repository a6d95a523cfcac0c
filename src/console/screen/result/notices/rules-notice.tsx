import { changesBetween, changeWords } from '../../../../shared/reasoning/changes.ts';
import { versionRan } from '../../../run/rules-of-run.ts';
import { useIsDry } from '../../../state/preferences.ts';
import { type Say, useText } from '../../../text/use-text.tsx';
import { NoticeLines } from '../../../ui/notice-lines.tsx';
import type { RuleContext } from '../../frame/use-rule.ts';
import type { OfRun } from '../../frame/use-rule-of-run.ts';

type Props = { rule: RuleContext & { ofRun: OfRun }; onAgain: () => void };

/** The reservations about the rules of a run. */
export function RulesNotice({ rule, onAgain }: Props) {
  const { say } = useText();
  const { ofRun } = rule;
  const isDry = useIsDry(rule.app) || ('record' in ofRun && ofRun.record.dryRun);
  return (
    <>
      <NoticeLines className="rules-notice" lines={linesOf(rule, say)} />
      {ofRun.kind === 'older' && (
        <button type="button" className={isDry ? 'button dry' : 'button'} onClick={onAgain}>
          {say(isDry ? 'rules.older.again.dry' : 'rules.older.again')}
        </button>
      )}
    </>
  );
}

function linesOf({ ofRun, tree }: RuleContext & { ofRun: OfRun }, say: Say): string[] {
  if (!('record' in ofRun)) return ofRun.kind === 'checking' ? [say('rules.checking')] : [];
  const { address, rules } = ofRun.record;
  const { released = null, loaded = null } = rules ?? {};
  const client = address ?? '';
  if (ofRun.kind === 'unavailable') return [say('rules.unavailable', { error: ofRun.error })];
  if (ofRun.kind !== 'older')
    return [say(`rules.${ofRun.kind}`, { client, loaded: loaded ?? '', released: released ?? '' })];
  const changes = tree.data && ofRun.tree ? changesBetween(tree.data, ofRun.tree) : [];
  const since =
    changes.length === 0 ? '' : ` ${say('rules.changed', { n: changes.length, nodes: changeWords(changes, say) })}`;
  // The version of the tree that is shown, not of the list of rules: that is polled on its own.
  const [ran, now] = [versionRan(rules), ofRun.tree?.version ?? null];
  if (ran === null || now === null || ran === now) return [`${say('rules.edited')}${since}`];
  if (BigInt(ran) > BigInt(now)) return [`${say('rules.newer', { ran, now })}${since}`];
  const isBehind = released !== null && BigInt(ran) < BigInt(released);
  const behind = isBehind ? [say('rules.behind', { released, client })] : [];
  return [`${say('rules.older', { ran, now })}${since}`, ...behind];
}
