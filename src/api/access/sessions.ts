import { createHmac, timingSafeEqual } from 'node:crypto';

export const SESSION_SECONDS = 12 * 3600;

export type Sessions = ReturnType<typeof createSessions>;

/**
 * Sessions that need no store: a token names its key and is signed with it, so that every API instance knows it, and it
 * ends with its time or with its key.
 */
export function createSessions(keys: ReadonlyMap<string, string>, now = Date.now) {
  const sign = (key: string, name: string, expiresAt: number) =>
    createHmac('sha256', key).update(`session ${name} ${expiresAt}`).digest();

  return {
    /** A token for the key of this name, undefined when there is none. */
    issue(name: string): string | undefined {
      const key = keys.get(name);
      const expiresAt = now() + SESSION_SECONDS * 1000;
      return key && [encoded(name), expiresAt, sign(key, name, expiresAt).toString('base64url')].join('.');
    },
    /** The name of the key a token stands for; `ended` when its time is over or it is not one of ours (any more). */
    read(token: string): { kind: 'session'; name: string } | { kind: 'ended' } {
      const [, head = '', expires = '', signature = ''] = /^([\w-]+)\.(\d{1,15})\.([\w-]+)$/.exec(token) ?? [];
      const name = Buffer.from(head, 'base64url').toString();
      const key = keys.get(name);
      const given = Buffer.from(signature, 'base64url');
      const expected = sign(key ?? 'nobody', name, Number(expires));
      const isGood = given.length === expected.length && timingSafeEqual(given, expected);
      return key !== undefined && isGood && Number(expires) > now() ? { kind: 'session', name } : { kind: 'ended' };
    },
  };
}

function encoded(name: string): string {
  return Buffer.from(name).toString('base64url');
}
