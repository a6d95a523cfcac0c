import { type ReactNode, useEffect } from 'react';
import type { Client } from '../../api/browse.ts';
import { candidatesOf, lanesOf } from '../../run/candidates.ts';
import { goTo, type Target } from '../../state/location.ts';
import { useText } from '../../text/use-text.tsx';
import { Combobox } from '../../ui/combobox.tsx';
import { sdkKey, TargetNow } from './target-now.tsx';

/** `clients`: null while nobody knows which there are. */
type Props = { app: string; target: Target; clients: readonly Client[] | null };

/** Where to run, and what that is at this moment. An offline choice stays chosen and says so. */
export function TargetPicker({ app, target, clients: listed }: Props) {
  const { say } = useText();
  const clients = listed ?? [];
  const first = firstOf(clients);
  const lanes = lanesOf(clients);
  const choose = (next: Target) => goTo({ target: next });
  const titles: Record<Target['kind'], string> = {
    all: say('target.all'),
    lane: say('target.lane'),
    address: say('target.address'),
    each: say('target.each'),
  };
  const now = <TargetNow app={app} target={target} clients={listed} />;
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
      <label>
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
