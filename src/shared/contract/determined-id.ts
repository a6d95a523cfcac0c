import { createHash } from 'node:crypto';
import type { Once } from './job.ts';

/** The id that these parts determine (UUID version 8). */
export function determinedId(parts: readonly unknown[]): string {
  const bytes = createHash('sha256').update(JSON.stringify(parts)).digest();
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString('hex', 0, 16);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** The same key in the same scope is the same call: one app, one API key. */
export type Scope = { app: number; keyName: string | null; key: string };

/**
 * What an Idempotency-Key stands for in the shared directory. `bytes`: what must be the same in each repeat; the key is hashed with them, so
 * that a short body cannot be guessed from its digest.
 */
export function onceOf(kind: 'call' | 'batch', { app, keyName, key }: Scope, bytes: Uint8Array): Once {
  const scope = [kind, app, keyName, key];
  const digest = createHash('sha256').update(JSON.stringify(scope)).update(bytes).digest('hex');
  return { key: determinedId(scope), digest: digest.slice(0, 16) };
}
