import { useEffect } from 'react';
import { nameOf } from '../../../shared/reasoning/tree.ts';
import type { Place } from '../../state/location.ts';
import { useText } from '../../text/use-text.tsx';
import type { Run } from '../result/use-run.ts';
import type { RuleContext } from './use-rule.ts';
import { places } from './views.tsx';

let title = document.title;

/** The title of the page: the result of the run or the name of the place, and of which rule. */
export function useTitle(place: Place, rule: RuleContext, run: Run): void {
  const { say } = useText();
  const { app, ruleId, confId, panel, runs } = place;
  const [root] = rule.occurrences;
  const known = rule.rules.data?.rules.find((one) => one.ruleId === ruleId)?.name ?? (root && nameOf(root.node));
  const ofRule = ruleId === null ? confId && say('pick.node', { id: confId }) : `#${ruleId} ${known ?? ''}`.trim();
  const of = panel === 'ship' ? app && `${say('header.app')} ${app}` : ofRule;
  const at = panel !== null ? places.find((one) => one.panel === panel)?.title : null;
  const decision = run.reading?.decision ?? null;
  const what = at
    ? say(at)
    : runs.length > 0
      ? say('compare.title', { n: runs.length })
      : decision && say(`outcome.${decision}`);
  const words = [what, of, say('title')].filter(Boolean).join(' · ');
  useEffect(() => {
    title = words;
    document.title = words;
  }, [words]);
}

/** Tells something in the title until the reader is back. */
export function tellInTitle(words: string): void {
  document.title = words;
  document.addEventListener('visibilitychange', () => (document.title = title), { once: true });
}
