import type { Client } from '../../api/browse.ts';
import { goTo } from '../../state/location.ts';
import { type Say, useText } from '../../text/use-text.tsx';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Sheet } from '../../ui/sheet.tsx';
import { heartbeatWords, sdkKey } from '../input/target.tsx';

type Props = { app: string; clients: readonly Client[]; released: string | null; onClose: () => void };

/** The clients of an app, those that are online first: what each is, and how many runs are open at it. */
export function ClientsPanel({ app, clients, released, onClose }: Props) {
  const { say } = useText();
  return (
    <Sheet title={say('clients.title', { app })} onClose={onClose}>
      {clients.length === 0 && <p className="muted">{say('clients.none')}</p>}
      <ul className="client-list">
        {[...clients].sort(onlineFirst).map((client) => (
          <li key={`${client.lane} ${client.address}`} className={client.online ? 'client' : 'client offline'}>
            <i aria-hidden="true" />
            <Button
              label={client.address}
              className="node-link"
              title={say('clients.use', { address: client.address })}
              onPress={() => goTo({ target: { kind: 'address', address: client.address } })}
            />
            <small>{factsOf(client, released, say).join(' · ')}</small>
            <PickUp client={client} />
          </li>
        ))}
      </ul>
    </Sheet>
  );
}

/** A client may beat and yet take nothing: what it took last tells them apart. */
function PickUp({ client: { lastPickUpAt, noPickUpSince } }: { client: Client }) {
  const { say, ...text } = useText();
  const at = noPickUpSince ?? lastPickUpAt;
  if (at === null) return null;
  const time = text.time(at);
  return noPickUpSince === null ? (
    <small>{say('clients.lastPickUp', { time })}</small>
  ) : (
    <small className="warn">
      <Icon name="warning" size={14} />
      {say('clients.noPickUp', { time })}
    </small>
  );
}

function onlineFirst(a: Client, b: Client): number {
  if (a.online !== b.online) return a.online ? -1 : 1;
  return `${a.lane ?? ''} ${a.address}`.localeCompare(`${b.lane ?? ''} ${b.address}`);
}

function factsOf(client: Client, released: string | null, say: Say): string[] {
  return [
    ...(client.online ? [] : [say('target.offline')]),
    ...(client.lane === null ? [] : [say('target.inLane', { lane: client.lane })]),
    ...(client.registered
      ? [say(sdkKey(client.sdk)), versionWords(client, released, say), heartbeatWords(client, say)]
      : [say('target.now.directory')]),
    ...(client.open === 0 ? [] : [say('clients.open', { n: client.open })]),
  ];
}

function versionWords({ loadedVersion: version }: Client, released: string | null, say: Say): string {
  if (version === null) return say('target.noVersion');
  if (released === null || released === version) return say('header.version', { version });
  return say('clients.otherVersion', { version, released });
}
