import { z } from 'zod';
import { parseExact, RawNumber } from '../../shared/exact-json.ts';
import type { DialectName } from '../dialects/dialect.ts';

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
  /** As published, numbers as written; empty when the client names none. */
  leafNodes: unknown[];
};

const numberText = z.instanceof(RawNumber).transform(({ text }) => text);
const registrationSchema = z.object({
  address: z.string().min(1),
  app: numberText.transform(Number).pipe(z.int().positive()),
  lane: z.string().nullish(),
  dialect: z.string().nullish(),
  startTime: numberText.nullish(),
  loadedVersion: numberText.nullish(),
  leafNodes: z.array(z.unknown()).nullish(),
});

/** Reads a registration. Null when it is not one: cut off, foreign, or without an address. */
export function parseRegistration(text: string): RegistrationFile | null {
  const parsed = registrationSchema.safeParse(exactValue(text));
  if (!parsed.success) return null;
  const { address, app, lane, startTime, loadedVersion, leafNodes } = parsed.data;
  const dialect = startTime != null && loadedVersion != null && parsed.data.dialect !== 'rule' ? 'ice' : 'rule';
  return {
    address,
    app,
    lane: lane ?? null,
    dialect,
    sdk: dialect === 'ice' ? sdkOf(text) : parsed.data.dialect === 'rule' ? 'node' : 'unknown',
    loadedVersion: loadedVersion ?? null,
    leafNodes: leafNodes ?? [],
  };
}

/** The published SDKs do not name themselves, but each prints JSON in its own way. */
function sdkOf(text: string): Sdk {
  if (/"valueNull"|"lane":\s*null|^\{"\w+": /.test(text)) return 'python';
  if (text.includes('"desc":""')) return 'java';
  return /"iceFields"|"roamKeys"/.test(text) ? 'go' : 'unknown';
}

const heartbeatSchema = z.object({
  lastHeartbeat: numberText.transform(Number),
  loadedVersion: numberText.nullish(),
});

/** Reads a heartbeat file; null when it is not one. Times are epoch ms by the client's clock. */
export function parseHeartbeat(text: string): { lastHeartbeat: number; loadedVersion: string | null } | null {
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
