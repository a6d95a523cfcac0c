import { useRef } from 'react';
import { offsetName } from '../../../shared/contract/moment.ts';
import { nameOf, type Occurrence, type TimeWindow } from '../../../shared/reasoning/tree.ts';
import { edgesOf } from '../../run/time-window.ts';
import { zones } from '../../state/preferences.ts';
import { formatDay } from '../../text/durations.ts';
import { useText } from '../../text/use-text.tsx';
import { IconButton } from '../../ui/icon-button.tsx';
import { windowWords } from '../result/time-window-words.ts';
import type { AsOfInput } from './use-as-of.ts';

type Props = { asOf: AsOfInput; occurrences: readonly Occurrence[] };

/** The time a rule runs as of: now, or another one, typed, picked, or an edge of a time window. */
export function AsOf({ asOf, occurrences }: Props) {
  const { say } = useText();
  return (
    <div className="as-of">
      <label className="field-name" htmlFor="as-of">
        {say('asOf.label')}
      </label>
      <select
        id="as-of"
        value={asOf.isNow ? 'now' : 'time'}
        onChange={({ target }) => (target.value === 'time' ? asOf.anotherTime() : asOf.set(null))}
      >
        <option value="now">{say('asOf.now')}</option>
        <option value="time">{say('asOf.time')}</option>
      </select>
      {!asOf.isNow && <Moment asOf={asOf} />}
      {!asOf.isNow && <NodeWindows asOf={asOf} occurrences={occurrences} />}
    </div>
  );
}

/** The edges of the rule's own time window: outside of it nothing runs. */
export function RuleWindow({ asOf, window }: { asOf: AsOfInput; window: TimeWindow | null }) {
  const { say, moment } = useText();
  if (window === null || window.type === 'always') return null;
  return (
    <div className="edges">
      <small>{say('asOf.window', { window: windowWords(window, { say, moment }) })}</small>
      {edgesOf(window).map(({ name, ts: edge }) => (
        <button type="button" className="quiet" key={name} onClick={() => asOf.set(edge)}>
          {say(`asOf.edge.${name}`)}
        </button>
      ))}
    </div>
  );
}

function Moment({ asOf }: { asOf: AsOfInput }) {
  const { say, language } = useText();
  const picker = useRef<HTMLInputElement>(null);
  const { ts, wrong, bad, text, zone } = asOf;
  return (
    <>
      <div className="moment">
        <input
          aria-label={say('asOf.input')}
          aria-invalid={bad}
          aria-describedby="as-of-words"
          spellCheck={false}
          autoComplete="off"
          value={text}
          onChange={({ target }) => asOf.change(target.value)}
        />
        <IconButton icon="calendar" label={say('asOf.pick')} onPress={() => picker.current?.showPicker()} />
        <input
          type="datetime-local"
          step={1}
          className="picker"
          tabIndex={-1}
          aria-hidden="true"
          ref={picker}
          value={text.replace(' ', 'T').slice(0, 19)}
          onChange={({ target }) => target.value !== '' && asOf.change(target.value.replace('T', ' '))}
        />
      </div>
      <select aria-label={say('asOf.zone')} value={zone} onChange={({ target }) => asOf.chooseZone(target.value)}>
        {zones(zone).map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
      <small id="as-of-words" className={bad ? 'bad' : ''} title={ts === null ? undefined : `${ts} ms`}>
        {wrong !== null || ts === null
          ? say(`asOf.${wrong ?? 'bad'}`, { zone })
          : say('asOf.words', { day: formatDay(ts, language, zone), offset: offsetName(ts, zone) })}
      </small>
    </>
  );
}

/** The edges of the time windows that nodes have: the moments at which the rule begins to come out differently. */
function NodeWindows({ asOf, occurrences }: Pick<Props, 'asOf' | 'occurrences'>) {
  const { say } = useText();
  const timed = new Map(
    occurrences.filter(({ node }) => node.timeWindow.type !== 'always').map(({ node }) => [node.id, node]),
  );
  if (timed.size === 0) return null;
  return (
    <select
      className="node-windows"
      aria-label={say('asOf.preset')}
      value=""
      onChange={({ target }) => asOf.set(target.value)}
    >
      <option value="">{say('asOf.preset')}</option>
      {[...timed.values()].map((node) => (
        <optgroup key={node.id} label={`${nameOf(node)} #${node.id}`}>
          {edgesOf(node.timeWindow).map(({ name, ts }) => (
            <option key={name} value={ts}>
              {say(`asOf.edge.${name}`)}
            </option>
          ))}
        </optgroup>
      ))}
    </select>
  );
}
