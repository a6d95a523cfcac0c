import { type KeyboardEvent, useState } from 'react';
import { printSearch, splitSearch } from '../../run/history/search-parts.ts';
import { useText } from '../../text/use-text.tsx';
import { isComposed } from '../../ui/composition.ts';

type Props = { text: string; onText: (text: string) => void };

/** A field for a search: each condition becomes a chip once it is complete, and goes when it is pressed. */
export function SearchField({ text, onText }: Props) {
  const { say } = useText();
  const { conditions, draft } = splitSearch(text);
  /** What an input method shows until it is done: no search yet, and no condition, though it may have spaces. */
  const [composed, setComposed] = useState<string | null>(null);
  const put = (next: readonly string[], typed: string) => {
    setComposed(null);
    onText(printSearch({ conditions: next, draft: typed }));
  };
  const complete = () => {
    if (draft !== '') put(conditions, `${draft} `);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter') complete();
    if (event.key !== 'Backspace' || draft !== '' || conditions.length === 0) return;
    event.preventDefault();
    put(conditions.slice(0, -1), conditions.at(-1) ?? '');
  };
  return (
    <span className="search-field">
      {conditions.map((condition, at) => (
        <button
          key={condition}
          type="button"
          className="chip"
          aria-label={say('history.filter.remove', { condition })}
          title={say('history.filter.remove', { condition })}
          onClick={() => put(conditions.toSpliced(at, 1), draft)}
        >
          {condition} <span aria-hidden="true">×</span>
        </button>
      ))}
      <input
        type="search"
        aria-label={say('history.filter.text')}
        placeholder={conditions.length > 0 ? '' : say('history.filter.text')}
        value={composed ?? draft}
        onChange={({ target, nativeEvent }) =>
          isComposed(nativeEvent) ? setComposed(target.value) : put(conditions, target.value)
        }
        onCompositionEnd={({ currentTarget }) => put(conditions, currentTarget.value)}
        onKeyDown={onKeyDown}
        onBlur={complete}
      />
    </span>
  );
}
