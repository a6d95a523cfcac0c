import { useState } from 'react';
import { edgesOf } from '../../run/time-window.ts';
import { goTo } from '../../state/location.ts';
import { useText } from '../../text/use-text.tsx';
import type { TimeWindow } from '../../trace/tree.ts';
import { windowWords } from '../result/time-window-words.ts';

/** The time a rule runs as of: now, or another one, to the millisecond. */
export function AsOf({ ts, window }: { ts: string | null; window: TimeWindow | null }) {
  const { say, language } = useText();
  const [typed, setTyped] = useState<string | null>(null);
  const shown = typed ?? (ts === null ? '' : localTime(ts));
  const bad = typed !== null && typed !== '' && readTime(typed) === null;

  const change = (text: string) => {
    setTyped(text);
    const read = readTime(text);
    if (read !== null) goTo({ ts: read });
  };

  return (
    <div className="as-of">
      <label className="field-name" htmlFor="as-of">
        {say('asOf.label')}
      </label>
      <select
        id="as-of"
        value={ts === null && typed === null ? 'now' : 'time'}
        onChange={({ target }) => {
          if (target.value === 'time') return change(localTime(String(Date.now())));
          setTyped(null);
          goTo({ ts: null });
        }}
      >
        <option value="now">{say('asOf.now')}</option>
        <option value="time">{say('asOf.time')}</option>
      </select>
      {(ts !== null || typed !== null) && (
        <input
          aria-label={say('asOf.input')}
          aria-invalid={bad}
          aria-describedby="as-of-ms"
          value={shown}
          onChange={({ target }) => change(target.value)}
          onBlur={() => !bad && setTyped(null)}
        />
      )}
      {(ts !== null || typed !== null) && (
        <small id="as-of-ms" className={bad ? 'bad' : ''}>
          {bad ? say('asOf.bad') : say('asOf.ms', { ms: ts ?? '' })}
        </small>
      )}
      {window && window.type !== 'always' && (
        <div className="edges">
          <small>{say('asOf.window', { window: windowWords(window, { say, language }) })}</small>
          {edgesOf(window).map(({ name, ts: edge }) => (
            <button
              type="button"
              className="quiet"
              key={name}
              onClick={() => {
                setTyped(null);
                goTo({ ts: edge });
              }}
            >
              {say(`asOf.edge.${name}`)}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}

/** A time of the reader's place as it is typed: 2026-01-31 08:00:00.000. */
export function localTime(ms: string): string {
  const date = new Date(Number(ms));
  if (Number.isNaN(date.getTime())) return ms;
  const two = (number: number) => String(number).padStart(2, '0');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  const thousandths = date.getMilliseconds() === 0 ? '' : `.${String(date.getMilliseconds()).padStart(3, '0')}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}${thousandths}`;
}

/** Epoch ms for a local time or for milliseconds; null when it is neither. */
export function readTime(typed: string): string | null {
  const text = typed.trim();
  if (/^[1-9]\d{4,18}$/.test(text)) return text;
  const match = /^(\d{4})-(\d\d?)-(\d\d?)(?:[ T](\d\d?):(\d\d)(?::(\d\d)(?:\.(\d{1,3}))?)?)?$/.exec(text);
  if (!match) return null;
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '0'] = match;
  const date = new Date(
    Number(year),
    Number(month) - 1,
    Number(day),
    Number(hour),
    Number(minute),
    Number(second),
    Number(fraction.padEnd(3, '0')),
  );
  const exists = date.getMonth() === Number(month) - 1 && date.getDate() === Number(day);
  return exists && date.getTime() > 0 ? String(date.getTime()) : null;
}
