import { compactText } from '../../shared/json-tree/whole-text.ts';
import type { Client } from '../api/browse.ts';
import { bodyOf, type ExecuteCall, type ExecutionRecord } from '../api/executions.ts';
import type { Target } from '../state/location.ts';

/** The call that an execution came from. */
export function callOf(
  { app, ruleId, confId, ts, target, dryRun }: ExecutionRecord,
  input: string | null,
): ExecuteCall {
  const asked = { app: String(app), ruleId, confId, ts, target, input: compactText(input ?? '{}'), dryRun };
  return { ...asked, stub: {}, comparisonId: null, derivedFrom: null };
}

/** The same call for a terminal. The body stays the characters it is: single quotes keep every one of them. */
export function curlOf(call: ExecuteCall, { origin, signedIn }: { origin: string; signedIn: boolean }): string {
  const headers = [
    "-H 'content-type: application/json'",
    ...(signedIn ? ['-H "authorization: Bearer $RULE_SERVER_KEY"'] : []),
  ];
  const body = bodyOf(call).replaceAll("'", "'\\''");
  return `curl -sS ${origin}/rule-server/mock/execute ${headers.join(' ')} -d '${body}'`;
}

/** A key that no other call has. `crypto.randomUUID` is missing on plain HTTP. */
export function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Systems take two clicks within this time for a double click; a key that bounces, or is struck twice, is faster. */
const SLIP_MS = 500;

const pressedAt = new Map<string, number>();

/** Whether a press asks for the same as a press just before it, which nobody means twice. */
export function isSlip(what: string): boolean {
  const now = performance.now();
  for (const [earlier, at] of pressedAt) if (now - at >= SLIP_MS) pressedAt.delete(earlier);
  const isAgain = pressedAt.has(what);
  pressedAt.set(what, now);
  return isAgain;
}

/**
 * The clients one of which would run a call now, as the service chooses: for any client those of the trunk, else those of
 * the lanes, else those that are known by their directory alone.
 */
export function candidatesOf(target: Target, clients: readonly Client[]): Client[] {
  const online = clients.filter((client) => client.online);
  switch (target.kind) {
    case 'each':
      return online;
    case 'lane':
      return online.filter(({ lane }) => lane === target.lane);
    case 'address':
      return online.filter(({ address }) => address === target.address);
    case 'all': {
      const trunk = online.filter(({ registered, lane }) => registered && lane === null);
      const lanes = online.filter(({ lane }) => lane !== null);
      return [trunk, lanes, online].find((group) => group.length > 0) ?? [];
    }
  }
}

/** The lanes that clients are in, by name. */
export function lanesOf(clients: readonly Client[]): string[] {
  return [...new Set(clients.flatMap(({ lane }) => lane ?? []))].sort();
}

/** The targets that always can be offered: any client, and each lane. */
export const targetsOf = (clients: readonly Client[]): string[] => [
  'all',
  ...lanesOf(clients).map((lane) => `lane:${lane}`),
];
