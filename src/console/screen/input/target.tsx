import type { ReactNode } from 'react';
import type { Client } from '../../api/browse.ts';
import { candidatesOf, lanesOf } from '../../run/calls.ts';
import { readTarget, type Target } from '../../state/location.ts';
import { formatAge } from '../../text/durations.ts';
import { type Say, useText } from '../../text/use-text.tsx';
import { Icon } from '../../ui/icon.tsx';
import type { RuleContext } from '../frame/use-rule.ts';

/** Where a run goes, in a few words. */
export function targetWords(text: string, say: Say): string {
  const target = readTarget(text);
  switch (target.kind) {
    case 'lane':
      return say('target.inLane', { lane: target.lane });
    case 'address':
      return target.address;
    case 'each':
      return say('target.each');
    case 'all':
      return say('target.all');
  }
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

/** The one client it will be, or of how many it will be one. */
function CandidatesNow({ candidates, none, of = null }: { candidates: readonly Client[]; none: string; of?: Group }) {
  const { say } = useText();
  const [only, ...others] = candidates;
  if (!only) return <Now warn>{none}</Now>;
  const lanes = lanesOf(candidates).map((lane) => say('target.inLane', { lane }));
  const many = say(of === 'trunk' ? 'target.now.trunk' : 'target.now.several', { n: candidates.length });
  const who = others.length > 0 ? [many, ...lanes] : [only.address, ...lanes, ...wordsOf(only, say)];
  return <Now>{(of === 'no-trunk' ? [...who, say('target.now.noTrunk')] : who).join(' · ')}</Now>;
}

/** Of which clients a run on any client would take one now: a lane's only where nobody of the trunk is online. */
type Group = 'trunk' | 'no-trunk' | null;

function groupOf(candidates: readonly Client[]): Group {
  if (candidates.some(({ lane }) => lane !== null)) return 'no-trunk';
  return candidates.some(({ registered }) => registered) ? 'trunk' : null;
}

/** Whether the service went away: what was known of its clients is not of now. */
export const areLost = ({ clients }: Pick<RuleContext, 'clients'>) => clients.isError || clients.failureCount > 0;

export type TargetProps = { app: string; target: Target; rule: RuleContext };

/** What the chosen target comes to now. Until the clients are known nothing is said of them. */
export function TargetNow({ app, target, rule }: TargetProps) {
  const { say } = useText();
  const { data: clients } = rule.clients;
  if (areLost(rule)) return <Now warn>{say('header.clients.lost.hint')}</Now>;
  if (clients === undefined) return <Now>…</Now>;
  const candidates = candidatesOf(target, clients);
  switch (target.kind) {
    case 'all':
      return <CandidatesNow candidates={candidates} none={say('target.all.none', { app })} of={groupOf(candidates)} />;
    case 'lane':
      return <LaneNow lane={target.lane} lanes={lanesOf(clients)} candidates={candidates} />;
    case 'address':
      return <AddressNow address={target.address} clients={clients} />;
    case 'each':
      return <Now>{say('target.each.now', { n: candidates.length })}</Now>;
  }
}

type LaneProps = { lane: string; lanes: readonly string[]; candidates: readonly Client[] };

function LaneNow({ lane, lanes, candidates }: LaneProps) {
  const { say } = useText();
  if (lane === '') return <Now warn>{say(lanes.length === 0 ? 'target.lane.none' : 'target.lane.choose')}</Now>;
  return <CandidatesNow candidates={candidates} none={say('target.lane.empty', { lane })} />;
}

function AddressNow({ address, clients }: { address: string; clients: readonly Client[] }) {
  const { say } = useText();
  const client = clients.find((known) => known.address === address);
  if (address === '') return <Now warn>{say('target.address.choose')}</Now>;
  if (!client) return <Now warn>{say('target.address.gone', { address })}</Now>;
  if (!client.registered) return <Now>{say('target.address.directory')}</Now>;
  if (!client.online) return <Now warn>{say('target.address.offline', { address, age: ageOf(client) })}</Now>;
  const lane = client.lane === null ? [] : [say('target.inLane', { lane: client.lane })];
  return <Now>{[say(sdkKey(client.sdk)), ...lane, ...wordsOf(client, say)].join(' · ')}</Now>;
}

/** Its version and its last sign of life. One that runs a rule may have no time for the latter. */
function wordsOf(client: Client, say: Say): string[] {
  if (!client.registered) return [say('target.now.directory')];
  const version =
    client.loadedVersion === null ? say('target.noVersion') : say('header.version', { version: client.loadedVersion });
  return [version, heartbeatWords(client, say)];
}

export function heartbeatWords(client: Client, say: Say): string {
  return client.busy ? say('target.now.busy') : say('target.now.heartbeat', { age: ageOf(client) });
}

function ageOf({ heartbeatAgeMs }: Client): string {
  return heartbeatAgeMs === null ? '?' : formatAge(heartbeatAgeMs);
}

const sdkKeys = { node: 'sdk.node', java: 'sdk.java', go: 'sdk.go', python: 'sdk.python' } as const;

export function sdkKey(sdk: string) {
  return sdk === 'node' || sdk === 'java' || sdk === 'go' || sdk === 'python' ? sdkKeys[sdk] : 'sdk.unknown';
}
