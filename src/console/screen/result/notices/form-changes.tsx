import { compactJson } from '../../../../shared/json-tree/print-json.ts';
import type { Json } from '../../../../shared/json-tree/read-json.ts';
import { shortened } from '../../../../shared/reasoning/words/fact-words.ts';
import type { FormChange } from '../../../run/form-changes.ts';
import { useText } from '../../../text/use-text.tsx';
import { Icon } from '../../../ui/icon.tsx';
import { targetWords } from '../../input/target-words.ts';

const MAX_NAMED = 4;

/** Says that the form is not what the run on the screen was, and what differs: the result below is not of this input. */
export function FormChanges({ changes, onBack }: { changes: readonly FormChange[]; onBack: () => void }) {
  const { say } = useText();
  const words = useChangeWords();
  if (changes.length === 0) return null;
  const more = changes.length - MAX_NAMED;
  return (
    <p className="notice warn since">
      <Icon name="warning" size={14} />
      <span>
        <b>{say('since.title')}</b>{' '}
        {changes
          .slice(0, MAX_NAMED)
          .map((change) => words(change))
          .join(' · ')}
        {more > 0 && ` ${say('since.more', { n: more })}`}
      </span>
      <button type="button" className="quiet" onClick={onBack}>
        {say('since.back')}
      </button>
    </p>
  );
}

function useChangeWords(): (change: FormChange) => string {
  const { say, ...text } = useText();
  const value = (json: Json | null) => (json ? shortened(compactJson(json)) : say('since.absent'));
  const moment = (ts: string | null) => (ts === null ? say('asOf.now') : text.moment(ts));
  return (change) => {
    switch (change.kind) {
      case 'value': {
        const { path, before, after } = change.change;
        return say('since.value', { key: path, before: value(before), after: value(after) });
      }
      case 'unreadable':
        return say('since.unreadable');
      case 'as-of':
        return say('since.asOf', { before: moment(change.before), after: moment(change.after) });
      case 'target':
        return say('since.target', { before: targetWords(change.before, say), after: targetWords(change.after, say) });
    }
  };
}
