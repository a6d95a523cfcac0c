import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { DialectName, SdkName } from '../../shared/contract/client-kinds.ts';
import { joinMembers, parseExact, scanJson } from '../../shared/contract/json/exact-json.ts';
import { RawNumber } from '../../shared/contract/json/raw-number.ts';
import { dialectOf, sdkOf } from '../files/dialects/dialects.ts';

/** The registration that a client writes when it starts. */
export type RegistrationFile = {
  address: string;
  app: number;
  lane: string | null;
  dialect: DialectName;
  sdk: SdkName;
  dryRun: boolean;
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
  dryRun: z.literal(true).nullish().catch(null),
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
  const says = { dialect: parsed.data.dialect ?? null, sdk: parsed.data.sdk ?? null };
  const [hasStartTime, hasLoadedVersion] = [startTime != null, loadedVersion != null];
  const dialect = dialectOf({ dialect: says.dialect, hasStartTime, hasLoadedVersion });
  return {
    address,
    app,
    lane: lane ?? null,
    dialect,
    sdk: sdkOf(dialect, { text, says: says.sdk }),
    dryRun: dialect === 'rule' && parsed.data.dryRun === true,
    loadedVersion: loadedVersion ?? null,
    leafNodes: leaves?.kind === 'array' ? leavesOf(leaves.raw) : NO_LEAVES,
  };
}

const heartbeatSchema = z.object({
  lastHeartbeat: numberText.transform(Number).pipe(z.number()), // finite
  loadedVersion: numberText.nullish(),
});

/** The heartbeat of a client. `lastHeartbeat`: epoch ms by its own clock. */
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

// What clients publish about their leaves.

const MAX_CHARACTERS = 32 * 1024 * 1024;

/** The metadata of a client without any leaf class. */
export const NO_LEAVES: readonly unknown[] = Object.freeze([]);

export type LeavesOf = ReturnType<typeof createPublishedLeaves>;

/**
 * Reads what clients publish about their leaves, given as JSON text. Clients of one build publish the same text: it is
 * parsed and kept once, as long as a client has it. Null when all that is kept would exceed `maxCharacters`.
 */
export function createPublishedLeaves({ maxCharacters = MAX_CHARACTERS } = {}) {
  const known = new Map<string, { leaves: WeakRef<readonly unknown[]>; characters: number }>();

  return function leavesOf(text: string): readonly unknown[] | null {
    const key = createHash('sha256').update(text).digest('base64');
    const same = known.get(key)?.leaves.deref();
    if (same) return same;
    if (charactersKept() + text.length > maxCharacters) return null;
    const value = parseExact(text);
    const leaves = Array.isArray(value) && value.length > 0 ? value : NO_LEAVES;
    known.set(key, { leaves: new WeakRef(leaves), characters: text.length });
    return leaves;
  };

  function charactersKept(): number {
    let total = 0;
    for (const [key, { leaves, characters }] of known) {
      if (leaves.deref()) total += characters;
      else known.delete(key);
    }
    return total;
  }
}
