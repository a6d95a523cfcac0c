import { type KeyboardEvent, useState } from 'react';
import {
  type HistoryFilter,
  noFilter,
  printFilter,
  printSearch,
  splitSearch,
  timeFilters,
} from '../../run/history/history-filter.ts';
import { useText } from '../../text/use-text.tsx';
import { Button } from '../../ui/button.tsx';
import { Check } from '../../ui/check.tsx';
import { isComposed } from '../../ui/keys.ts';
import { Select } from '../../ui/select.tsx';

type Props = { filter: HistoryFilter; onFilter: (filter: HistoryFilter) => void };

/** Which of the earlier runs are shown: by a word of their input or client, by result, by time, of every rule. */
export function HistoryFilters({ filter, onFilter }: Props) {
  const { say } = useText();
  const change = (part: Partial<HistoryFilter>) => {
    const next = { ...filter, ...part };
    onFilter(printFilter(next) === null ? noFilter : next);
  };
  return (
    <div className="history-filters line wrap" role="search" aria-label={say('history.filter')}>
      <SearchField text={filter.text} onText={(text) => change({ text })} />
      <TimeSelect label={say('history.time')} time={filter.time} onTime={(time) => change({ time })} />
      <Check
        label={say('history.everyRule')}
        checked={filter.everyRule}
        onCheck={(everyRule) => change({ everyRule })}
      />
    </div>
  );
}

type SearchFieldProps = { text: string; onText: (text: string) => void };

/** A field for a search: each condition becomes a chip once it is complete, and goes when it is pressed. */
function SearchField({ text, onText }: SearchFieldProps) {
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
    <span className="search-field wrap">
      {conditions.map((condition, at) => (
        <Button
          key={condition}
          className="chip"
          aria-label={say('history.filter.remove', { condition })}
          title={say('history.filter.remove', { condition })}
          onPress={() => put(conditions.toSpliced(at, 1), draft)}
        >
          {condition} <span aria-hidden="true">×</span>
        </Button>
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

type TimeSelectProps = { label: string; time: HistoryFilter['time']; onTime: (time: HistoryFilter['time']) => void };

/** When the runs began that are meant. */
export function TimeSelect({ label, time, onTime }: TimeSelectProps) {
  const { say } = useText();
  return (
    <Select
      aria-label={label}
      value={time}
      options={timeFilters.map((name) => [name, say(`history.when.${name}`)])}
      onChoose={onTime}
    />
  );
}
