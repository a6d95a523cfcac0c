import { z } from 'zod';
import { joinMembers, parseExact, RawNumber, scanJson } from '../../shared/contract/exact-json.ts';
import type { DialectName } from '../dialects/dialect.ts';
import { type LeavesOf, NO_LEAVES } from './published-leaves.ts';

/** Which SDK wrote a registration. Only some of them are known to give up on a request that was withdrawn. */
export const sdks = ['node', 'java', 'go', 'python', 'unknown'] as const;
export type Sdk = (typeof sdks)[number];

/** What a client published about itself when it started. */
export type RegistrationFile = {
  address: string;
  app: number;
  lane: string | null;
  dialect: DialectName;
  sdk: Sdk;
  loadedVersion: string | null;
  /** As published, numbers as written; empty when the client names none, null when there is no room for them. */
  leafNodes: readonly unknown[] | null;
};

const numberText = z.instanceof(RawNumber).transform(({ text }) => text);
const registrationSchema = z.object({
  address: z.string().min(1),
  app: numberText.transform(Number).pipe(z.int().positive()),
  lane: z.string().nullish(),
  dialect: z.string().nullish(),
  sdk: z.string().nullish(),
  startTime: numberText.nullish(),
  loadedVersion: numberText.nullish(),
});

/** Reads a registration. Null when it is not one: cut off, foreign, or without an address. */
export function parseRegistration(text: string, leavesOf: LeavesOf): RegistrationFile | null {
  const scanned = scanJson(text);
  if (scanned.kind !== 'complete') return null;
  const leaves = scanned.members.find(({ key }) => key === 'leafNodes');
  const others = scanned.members.filter((member) => member !== leaves);
  const parsed = registrationSchema.safeParse(exactValue(joinMembers(others.map(({ key, raw }) => [key, raw]))));
  if (!parsed.success) return null;
  const { address, app, lane, startTime, loadedVersion } = parsed.data;
  const dialect = startTime != null && loadedVersion != null && parsed.data.dialect !== 'rule' ? 'ice' : 'rule';
  return {
    address,
    app,
    lane: lane ?? null,
    dialect,
    sdk: dialect === 'ice' ? sdkOf(text) : parsed.data.sdk === 'node' ? 'node' : 'unknown',
    loadedVersion: loadedVersion ?? null,
    leafNodes: leaves?.kind === 'array' ? leavesOf(leaves.raw) : NO_LEAVES,
  };
}

/** The published SDKs do not name themselves, but each prints JSON in its own way. */
function sdkOf(text: string): Sdk {
  if (/"valueNull"|"lane":\s*null|^\{"\w+": /.test(text)) return 'python';
  if (text.includes('"desc":""')) return 'java';
  return /"iceFields"|"roamKeys"/.test(text) ? 'go' : 'unknown';
}

const heartbeatSchema = z.object({
  lastHeartbeat: numberText.transform(Number).pipe(z.number()), // finite
  loadedVersion: numberText.nullish(),
});

/** What a client says while it lives. `lastHeartbeat`: epoch ms by its own clock. */
export type HeartbeatFile = { lastHeartbeat: number; loadedVersion: string | null };

/** Reads a heartbeat file; null when it is not one. */
export function parseHeartbeat(text: string): HeartbeatFile | null {
  const parsed = heartbeatSchema.safeParse(exactValue(text));
  if (!parsed.success) return null;
  return { lastHeartbeat: parsed.data.lastHeartbeat, loadedVersion: parsed.data.loadedVersion ?? null };
}

function exactValue(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return undefined;
  }
}
