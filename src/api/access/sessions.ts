import { createHash, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { parseJson } from '../../shared/contract/json/parse-json.ts';
import type { Found, Keyring } from '../../shared/runtime/access/keyring.ts';
import type { Store } from '../../shared/store/key-value-store.ts';

export const SESSION_SECONDS = 12 * 3600;

export type Sessions = ReturnType<typeof createSessions>;

const sessionSchema = z.object({ name: z.string(), proof: z.string(), expiresAt: z.int() });
const TOKEN = /^[\w-]{43}$/;

type SessionsDependencies = { store: Store; keyring: Keyring; now?: () => number };

/**
 * Sessions live in the store, so that every API knows them and a sign-out ends them everywhere. Tokens are random, and the store has only
 * their digest.
 */
export function createSessions({ store, keyring, now = Date.now }: SessionsDependencies) {
  return {
    async issue(name: string): Promise<string | undefined> {
      const token = randomBytes(32).toString('base64url');
      const proof = keyring.proof(name, token);
      if (proof === undefined) return undefined;
      const session = { name, proof, expiresAt: now() + SESSION_SECONDS * 1000 };
      await store.setIfAbsent(storeKey(token), JSON.stringify(session), SESSION_SECONDS);
      return token;
    },
    /** `unknown` if the session expired or was ended, or its key was changed. */
    async read(token: string): Promise<Found> {
      if (!TOKEN.test(token)) return { kind: 'unknown' };
      const session = sessionSchema.safeParse(parseJson((await store.get(storeKey(token))) ?? ''));
      if (!session.success || session.data.expiresAt <= now()) return { kind: 'unknown' };
      return keyring.bySession(session.data, token);
    },
    async end(token: string): Promise<void> {
      if (TOKEN.test(token)) await store.remove(storeKey(token));
    },
  };
}

function storeKey(token: string): string {
  return `session:${createHash('sha256').update(token).digest('hex')}`;
}

export const sessionRequestSchema = z.strictObject({
  key: z.string().min(1).meta({ description: 'One of API_KEYS.' }),
});
