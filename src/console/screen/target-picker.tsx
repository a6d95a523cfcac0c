import { type ReactNode, useEffect } from 'react';
import type { Client } from '../api/browse.ts';
import { goTo, type Target } from '../state/location.ts';
import { formatAge } from '../text/durations.ts';
import { type Say, useText } from '../text/use-text.tsx';
import { Combobox } from '../ui/combobox.tsx';
import { Icon } from '../ui/icon.tsx';

type Props = { app: string; target: Target; clients: Client[] };

/** Where to run, and what that is at this moment. An offline choice stays chosen and says so. */
export function TargetPicker({ app, target, clients }: Props) {
  const { say } = useText();
  const online = clients.filter((client) => client.online);
  const lanes = [...new Set(clients.flatMap(({ lane }) => lane ?? []))].sort();
  const choose = (next: Target) => goTo({ target: next });
  return (
    <fieldset className="target">
      <legend>{say('target.legend')}</legend>
      <Choice title={say('target.all')} chosen={target.kind === 'all'} onChoose={() => choose({ kind: 'all' })}>
        {target.kind === 'all' && <AnyNow app={app} online={online} />}
      </Choice>
      <Choice
        title={say('target.lane')}
        chosen={target.kind === 'lane'}
        onChoose={() => choose({ kind: 'lane', lane: lanes[0] ?? '' })}
      >
        {target.kind === 'lane' && <LaneChoice lane={target.lane} lanes={lanes} online={online} />}
      </Choice>
      <Choice
        title={say('target.address')}
        chosen={target.kind === 'address'}
        onChoose={() => choose({ kind: 'address', address: (online[0] ?? clients[0])?.address ?? '' })}
      >
        {target.kind === 'address' && <AddressChoice address={target.address} clients={clients} />}
      </Choice>
      <Choice title={say('target.each')} chosen={target.kind === 'each'} onChoose={() => choose({ kind: 'each' })}>
        {target.kind === 'each' && <Now>{say('target.each.now', { n: online.length })}</Now>}
      </Choice>
    </fieldset>
  );
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

function AnyNow({ app, online }: { app: string; online: Client[] }) {
  const { say } = useText();
  if (online.length === 0) return <Now warn>{say('target.all.none', { app })}</Now>;
  return <Now>{say('target.all.now', { n: online.length, address: online[0]?.address ?? '' })}</Now>;
}

function LaneChoice({ lane, lanes, online }: { lane: string; lanes: string[]; online: Client[] }) {
  const { say } = useText();
  const inLane = online.filter((client) => client.lane === lane);
  const known = lanes.includes(lane) || lane === '' ? lanes : [...lanes, lane];
  const [first] = lanes;
  // Lane was pressed before anybody knew which there are.
  useEffect(() => {
    if (lane === '' && first !== undefined) goTo({ target: { kind: 'lane', lane: first } });
  }, [lane, first]);
  return (
    <>
      <Combobox
        label={say('target.lane')}
        shown={lane}
        placeholder={say('target.lane.choose')}
        options={known.map((name) => ({
          id: name,
          title: name,
          detail: say('header.clients', { n: online.filter((client) => client.lane === name).length }),
        }))}
        chosen={lane}
        custom={(typed) => (typed === '' ? null : { id: typed, title: typed })}
        nothing={say('target.lane.none')}
        warn={lane !== '' && inLane.length === 0}
        onChoose={(name) => goTo({ target: { kind: 'lane', lane: name } })}
      />
      {lane === '' && <Now warn>{say(lanes.length === 0 ? 'target.lane.none' : 'target.lane.choose')}</Now>}
      {lane !== '' && inLane.length === 0 && <Now warn>{say('target.lane.empty', { lane })}</Now>}
      {inLane.length > 0 && (
        <Now>{say('target.lane.now', { n: inLane.length, address: inLane[0]?.address ?? '' })}</Now>
      )}
    </>
  );
}

function AddressChoice({ address, clients }: { address: string; clients: Client[] }) {
  const { say } = useText();
  const client = clients.find((known) => known.address === address);
  const first = (clients.find(({ online }) => online) ?? clients[0])?.address;
  useEffect(() => {
    if (address === '' && first !== undefined) goTo({ target: { kind: 'address', address: first } });
  }, [address, first]);
  return (
    <>
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
      {address === '' && <Now warn>{say('target.address.choose')}</Now>}
      {address !== '' && <AddressNow address={address} client={client} />}
    </>
  );
}

function AddressNow({ address, client }: { address: string; client: Client | undefined }) {
  const { say } = useText();
  if (!client) return <Now warn>{say('target.address.gone', { address })}</Now>;
  if (!client.registered) return <Now>{say('target.address.directory')}</Now>;
  if (!client.online) return <Now warn>{say('target.address.offline', { address, age: ageOf(client) })}</Now>;
  return (
    <Now>
      {say('target.address.now', { sdk: say(sdkKey(client.sdk)), version: versionOf(client, say), age: ageOf(client) })}
    </Now>
  );
}

/** One line about what a choice comes to now. */
function Now({ children, warn = false }: { children: ReactNode; warn?: boolean }) {
  return (
    <p className={warn ? 'now warn' : 'now'}>
      {warn && <Icon name="warning" size={14} />}
      {children}
    </p>
  );
}

function versionOf({ loadedVersion }: Client, say: Say): string {
  return loadedVersion === null ? say('target.noVersion') : say('header.version', { version: loadedVersion });
}

function ageOf({ heartbeatAgeMs }: Client): string {
  return heartbeatAgeMs === null ? '?' : formatAge(heartbeatAgeMs);
}

const sdkKeys = { node: 'sdk.node', java: 'sdk.java', go: 'sdk.go', python: 'sdk.python' } as const;

function sdkKey(sdk: string) {
  return sdk === 'node' || sdk === 'java' || sdk === 'go' || sdk === 'python' ? sdkKeys[sdk] : 'sdk.unknown';
}
