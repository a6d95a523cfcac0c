import { useRef, useState } from 'react';
import { offsetName, printMoment, readMoment } from '../../../shared/contract/moment.ts';
import { nameOf, type Occurrence, type TimeWindow } from '../../../shared/reasoning/tree.ts';
import { goTo, printTarget, type Target } from '../../state/location.ts';
import { chooseZone, useZone, whereShown, zones } from '../../state/preferences.ts';
import { formatDay } from '../../text/durations.ts';
import { useText } from '../../text/use-text.tsx';
import { Icon, IconButton } from '../../ui/icon.tsx';
import type { RuleContext } from '../frame/use-rule.ts';
import { edgesOf, windowWords } from '../result/time-window-words.ts';
import { TargetNow, TargetPicker, targetWords } from './target.tsx';

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
          <TargetPicker app={app} target={target} rule={rule} />
          <AsOf asOf={asOf} occurrences={rule.occurrences} />
        </>
      ) : (
        <TargetNow app={app} target={target} rule={rule} />
      )}
      <RuleWindow asOf={asOf} window={rule.tree.data?.rule?.timeWindow ?? null} />
    </div>
  );
}

type AsOfProps = { asOf: AsOfInput; occurrences: readonly Occurrence[] };

/** The time a rule runs as of: now, or another one, typed, picked, or an edge of a time window. */
function AsOf({ asOf, occurrences }: AsOfProps) {
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
function RuleWindow({ asOf, window }: { asOf: AsOfInput; window: TimeWindow | null }) {
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
function NodeWindows({ asOf, occurrences }: AsOfProps) {
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

export type AsOfInput = ReturnType<typeof useAsOf>;

/** The time a rule runs as of, as it is typed. What is no moment yet is kept apart and holds up Run. */
export function useAsOf(ts: string | null) {
  const zone = useZone();
  /** `of`: the moment it stands for, or stood beside; another one that is chosen meanwhile takes its place. */
  const [typed, setTyped] = useState<{ text: string; of: string | null } | null>(null);
  const kept = typed?.of === ts ? typed.text : null;
  const wrong = wrongIn(kept, zone);

  function change(text: string): void {
    const read = readMoment(text, zone);
    setTyped({ text, of: read.kind === 'moment' ? read.ms : ts });
    if (read.kind === 'moment') goTo({ ts: read.ms });
  }

  return {
    ts,
    zone,
    text: kept ?? (ts === null ? '' : printMoment(ts, zone)),
    isNow: ts === null && kept === null,
    /** Why what is typed is no moment; null when it is one. */
    wrong,
    bad: wrong !== null,
    change,
    /** Another time than now, to begin with: this second. */
    anotherTime: () => goTo({ ts: String(Math.floor(Date.now() / 1000) * 1000) }),
    set(next: string | null): void {
      setTyped(null);
      goTo({ ts: next });
    },
    /** A time of day that was typed without an offset stays as it was typed and becomes one of this zone. */
    chooseZone(next: string): void {
      chooseZone(next);
      const read = kept === null ? null : readMoment(kept, next);
      if (read?.kind !== 'moment') return;
      setTyped({ text: kept ?? '', of: read.ms });
      goTo({ ts: read.ms });
    },
  };
}

function wrongIn(kept: string | null, zone: string): 'bad' | 'skipped' | 'twice' | null {
  const { kind } = kept === null ? { kind: 'moment' as const } : readMoment(kept, zone);
  if (kind === 'moment') return null;
  return kind === 'skipped' || kind === 'twice' ? kind : 'bad';
}
