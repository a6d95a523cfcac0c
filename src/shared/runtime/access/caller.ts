import { createHash } from 'node:crypto';
import { type Permission, permissions } from '../../contract/caller.ts';

export { type Permission, permissions };

/** How much one caller may do at once: calls a second, open calls and streams at each API process, and batches at all of them together. */
export type Limits = { callsPerSecond: number; openCalls: number; streams: number; batches: number };

/** The sender of a request. `apps`: null for every app. */
export type Caller = {
  /** Null only where no key is needed at all. */
  name: string | null;
  may: ReadonlySet<Permission>;
  apps: ReadonlySet<number> | null;
  /** Only those that differ from the limits of every key. */
  limits: { [Each in keyof Limits]?: number | undefined };
};

/** The caller where no key is needed. */
export const anybody: Caller = { name: null, may: new Set(permissions), apps: null, limits: {} };

/** Whether a caller may see or run what belongs to an app. */
export function isFor({ apps }: Caller, app: number): boolean {
  return apps === null || apps.has(app);
}

/** The digest a keys file has of a key. */
export function digestOf(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}
