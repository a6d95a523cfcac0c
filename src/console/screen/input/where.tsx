import type { TimeWindow } from '../../../shared/reasoning/tree.ts';
import { printTarget, type Target } from '../../state/location.ts';
import { whereShown } from '../../state/preferences.ts';
import { useText } from '../../text/use-text.tsx';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { later } from '../../ui/later.tsx';
import type { RuleContext } from '../frame/use-rule.ts';
import { edgesOf, windowWords } from '../result/time-window-words.ts';
import { TargetNow, targetWords } from './target.tsx';
import type { AsOfInput } from './use-as-of.ts';

const WhereChoices = later(() => import('./where-choices.tsx').then(({ WhereChoices }) => WhereChoices));

type Props = {
  app: string;
  target: Target;
  rule: RuleContext;
  asOf: AsOfInput;
};

/** On which client and as of when the rule runs, in one line; pressed, the line unfolds to the choices. */
export function Where({ app, target, rule, asOf }: Props) {
  const { say, moment } = useText();
  // What cannot be run must be seen.
  const shown = whereShown.use() || asOf.bad;
  const to = targetWords(printTarget(target), say);
  const words =
    asOf.ts === null ? say('where.now', { target: to }) : say('where.asOf', { target: to, time: moment(asOf.ts) });
  return (
    <div className="where">
      <Button
        className="where-summary line"
        aria-expanded={shown}
        title={say('where.hint')}
        onPress={() => whereShown.set(!shown)}
      >
        <Icon name={shown ? 'down' : 'chevron'} size={14} />
        <span className="cut">{words}</span>
      </Button>
      {shown ? (
        <WhereChoices app={app} target={target} rule={rule} asOf={asOf} />
      ) : (
        <TargetNow app={app} target={target} rule={rule} />
      )}
      <RuleWindow asOf={asOf} window={rule.tree.data?.rule?.timeWindow ?? null} />
    </div>
  );
}

/** The edges of the rule's own time window: outside of it nothing runs. */
function RuleWindow({ asOf, window }: { asOf: AsOfInput; window: TimeWindow | null }) {
  const { say, moment } = useText();
  if (window === null || window.type === 'always') return null;
  return (
    <div className="edges">
      <small>{say('asOf.window', { window: windowWords(window, { say, moment }) })}</small>
      {edgesOf(window).map(({ name, ts: edge }) => (
        <Button label={say(`asOf.edge.${name}`)} className="quiet" key={name} onPress={() => asOf.set(edge)} />
      ))}
    </div>
  );
}
