import type { Occurrence, TimeWindow } from '../../../shared/reasoning/tree.ts';
import type { Client } from '../../api/browse.ts';
import { printTarget, type Target } from '../../state/location.ts';
import { whereShown } from '../../state/preferences.ts';
import { useText } from '../../text/use-text.tsx';
import { Icon } from '../../ui/icon.tsx';
import type { AsOfInput } from './as-of.tsx';
import { AsOf, RuleWindow } from './as-of.tsx';
import { TargetNow } from './target-now.tsx';
import { TargetPicker } from './target-picker.tsx';
import { targetWords } from './target-words.ts';

type Props = {
  app: string;
  target: Target;
  clients: readonly Client[] | null;
  asOf: AsOfInput;
  window: TimeWindow | null;
  occurrences: readonly Occurrence[];
};

/** On which client and as of when the rule runs, in one line; pressed, the line unfolds to the choices. */
export function Where({ app, target, clients, asOf, window, occurrences }: Props) {
  const { say, moment } = useText();
  // What cannot be run must be seen.
  const shown = whereShown.use() || asOf.bad;
  const to = targetWords(printTarget(target), say);
  const words =
    asOf.ts === null ? say('where.now', { target: to }) : say('where.asOf', { target: to, time: moment(asOf.ts) });
  return (
    <div className="where">
      <button
        type="button"
        className="where-summary"
        aria-expanded={shown}
        title={say('where.hint')}
        onClick={() => whereShown.set(!shown)}
      >
        <Icon name={shown ? 'down' : 'chevron'} size={14} />
        <span>{words}</span>
      </button>
      {shown ? (
        <>
          <TargetPicker app={app} target={target} clients={clients} />
          <AsOf asOf={asOf} occurrences={occurrences} />
        </>
      ) : (
        <TargetNow app={app} target={target} clients={clients} />
      )}
      <RuleWindow asOf={asOf} window={window} />
    </div>
  );
}
