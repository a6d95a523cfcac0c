import { type ReactNode, useEffect, useRef } from 'react';
import { offsetName } from '../../../shared/contract/moment.ts';
import { nameOf, type Occurrence } from '../../../shared/reasoning/tree.ts';
import type { Client } from '../../api/browse.ts';
import { candidatesOf, lanesOf } from '../../run/calls.ts';
import { goTo, type Target } from '../../state/location.ts';
import { zones } from '../../state/preferences.ts';
import { formatDay } from '../../text/durations.ts';
import { useText } from '../../text/use-text.tsx';
import { Combobox } from '../../ui/combobox.tsx';
import { IconButton } from '../../ui/icon.tsx';
import { Select } from '../../ui/select.tsx';
import { edgesOf } from '../result/time-window-words.ts';
import { sdkKey, TargetNow, type TargetProps } from './target.tsx';
import type { AsOfInput } from './use-as-of.ts';

/** Where and as of when the rule runs, to be chosen. */
export function WhereChoices({ asOf, ...target }: TargetProps & { asOf: AsOfInput }) {
  return (
    <>
      <TargetPicker {...target} />
      <AsOf asOf={asOf} occurrences={target.rule.occurrences} />
    </>
  );
}

/** Where to run, and what that is at this moment. An offline choice stays chosen and says so. */
function TargetPicker({ app, target, rule }: TargetProps) {
  const { say } = useText();
  const clients = rule.clients.data ?? [];
  const first = firstOf(clients);
  const lanes = lanesOf(clients);
  const choose = (next: Target) => goTo({ target: next });
  const titles: Record<Target['kind'], string> = {
    all: say('target.all'),
    lane: say('target.lane'),
    address: say('target.address'),
    each: say('target.each'),
  };
  const now = <TargetNow app={app} target={target} rule={rule} />;
  return (
    <fieldset className="target">
      <legend>{say('target.legend')}</legend>
      <Choice title={titles.all} chosen={target.kind === 'all'} onChoose={() => choose({ kind: 'all' })}>
        {target.kind === 'all' && now}
      </Choice>
      <Choice
        title={titles.lane}
        chosen={target.kind === 'lane'}
        onChoose={() => choose({ kind: 'lane', lane: lanes[0] ?? '' })}
      >
        {target.kind === 'lane' && (
          <>
            <LaneChoice lane={target.lane} clients={clients} />
            {now}
          </>
        )}
      </Choice>
      <Choice
        title={titles.address}
        chosen={target.kind === 'address'}
        onChoose={() => choose({ kind: 'address', address: first?.address ?? '' })}
      >
        {target.kind === 'address' && (
          <>
            <AddressChoice address={target.address} clients={clients} />
            {now}
          </>
        )}
      </Choice>
      <Choice title={titles.each} chosen={target.kind === 'each'} onChoose={() => choose({ kind: 'each' })}>
        {target.kind === 'each' && now}
      </Choice>
    </fieldset>
  );
}

/** The client that is chosen before anybody chose one: one that is there, if any is. */
function firstOf(clients: readonly Client[]): Client | undefined {
  return clients.find(({ online }) => online) ?? clients[0];
}

type ChoiceProps = { title: string; chosen: boolean; onChoose: () => void; children: ReactNode };

function Choice({ title, chosen, onChoose, children }: ChoiceProps) {
  return (
    <div className={chosen ? 'choice chosen' : 'choice'}>
      <label className="line">
        <input type="radio" name="target" checked={chosen} onChange={onChoose} />
        {title}
      </label>
      {children}
    </div>
  );
}

function LaneChoice({ lane, clients }: { lane: string; clients: readonly Client[] }) {
  const { say } = useText();
  const lanes = lanesOf(clients);
  const known = lanes.includes(lane) || lane === '' ? lanes : [...lanes, lane];
  const [first] = lanes;
  // Lane was pressed before anybody knew which there are.
  useEffect(() => {
    if (lane === '' && first !== undefined) goTo({ target: { kind: 'lane', lane: first } });
  }, [lane, first]);
  const inLane = (name: string) => candidatesOf({ kind: 'lane', lane: name }, clients).length;
  return (
    <Combobox
      label={say('target.lane')}
      shown={lane}
      placeholder={say('target.lane.choose')}
      options={known.map((name) => ({ id: name, title: name, detail: say('header.clients', { n: inLane(name) }) }))}
      chosen={lane}
      custom={(typed) => (typed === '' ? null : { id: typed, title: typed })}
      nothing={say('target.lane.none')}
      warn={lane !== '' && inLane(lane) === 0}
      onChoose={(name) => goTo({ target: { kind: 'lane', lane: name } })}
    />
  );
}

function AddressChoice({ address, clients }: { address: string; clients: readonly Client[] }) {
  const { say } = useText();
  const client = clients.find((known) => known.address === address);
  const first = firstOf(clients)?.address;
  useEffect(() => {
    if (address === '' && first !== undefined) goTo({ target: { kind: 'address', address: first } });
  }, [address, first]);
  return (
    <Combobox
      label={say('target.address')}
      shown={address}
      placeholder={say('target.address.choose')}
      options={clients.map((known) => ({
        id: known.address,
        title: known.address,
        detail: [
          ...(known.online ? [] : [say('target.offline')]),
          ...(known.lane === null ? [] : [say('target.inLane', { lane: known.lane })]),
          say(sdkKey(known.sdk)),
        ].join(' · '),
        dimmed: !known.online,
      }))}
      chosen={address}
      custom={(typed) => (typed === '' ? null : { id: typed, title: typed })}
      nothing={say('header.clients.none')}
      warn={address !== '' && !client?.online}
      onChoose={(chosen) => goTo({ target: { kind: 'address', address: chosen } })}
    />
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
      <Select
        id="as-of"
        value={asOf.isNow ? 'now' : 'time'}
        options={(['now', 'time'] as const).map((when) => [when, say(`asOf.${when}`)])}
        onChoose={(when) => (when === 'time' ? asOf.anotherTime() : asOf.set(null))}
      />
      {!asOf.isNow && <Moment asOf={asOf} />}
      {!asOf.isNow && <NodeWindows asOf={asOf} occurrences={occurrences} />}
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
      <Select
        aria-label={say('asOf.zone')}
        value={zone}
        options={zones(zone).map((name) => [name, name])}
        onChoose={asOf.chooseZone}
      />
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
