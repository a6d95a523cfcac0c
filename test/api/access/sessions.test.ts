import { describe, expect, it } from 'vitest';
import { createSessions, SESSION_SECONDS } from '../../../src/api/access/sessions.ts';
import { createKeyring } from '../../../src/shared/runtime/access/keyring.ts';
import { memoryStore } from '../../support/memory-stores.ts';

const KEY = '0123456789abcdef';
const keys = new Map([
  ['console', KEY],
  ['a.b', 'fedcba9876543210'],
]);

function sessionsOf({ store = memoryStore(), known = keys, now = Date.now } = {}) {
  return { store, sessions: createSessions({ store, keyring: createKeyring(known), now }) };
}

describe('a session', () => {
  it('names its key, on every instance that has the same store and keys', async () => {
    const { store, sessions } = sessionsOf();
    const token = (await sessions.issue('a.b')) ?? '';
    const other = sessionsOf({ store, known: new Map(keys) }).sessions;
    expect(await other.read(token)).toMatchObject({ kind: 'known', caller: { name: 'a.b' } });
  });

  it('is random: neither two of one key nor one and its key have anything in common', async () => {
    const { sessions } = sessionsOf();
    const tokens = await Promise.all(Array.from({ length: 20 }, () => sessions.issue('console')));
    expect(new Set(tokens).size).toBe(20);
    for (const token of tokens) expect(token).toMatch(/^[\w-]{43}$/);
  });

  it('cannot be taken from the store, which has neither the token nor the digest of the key', async () => {
    const { store, sessions } = sessionsOf();
    const kept: string[] = [];
    const { setIfAbsent } = store;
    store.setIfAbsent = (key, value, seconds) => {
      kept.push(key, value);
      return setIfAbsent(key, value, seconds);
    };
    const token = (await sessions.issue('console')) ?? '';
    const { createHash } = await import('node:crypto');
    const digest = createHash('sha256').update(KEY).digest();
    for (const secret of [token, KEY, digest.toString('hex'), digest.toString('base64url')])
      expect(kept.join()).not.toContain(secret);
  });

  it('ends everywhere at once when it is ended', async () => {
    const { store, sessions } = sessionsOf();
    const token = (await sessions.issue('console')) ?? '';
    const other = sessionsOf({ store }).sessions;
    await sessions.end(token);
    expect((await other.read(token)).kind).toBe('unknown');
    expect((await sessions.read(token)).kind).toBe('unknown');
  });

  it('ends with its time', async () => {
    let time = Date.now();
    const { sessions } = sessionsOf({ now: () => time });
    const token = (await sessions.issue('console')) ?? '';
    time += SESSION_SECONDS * 1000 - 1;
    expect((await sessions.read(token)).kind).toBe('known');
    time += 1;
    expect((await sessions.read(token)).kind).toBe('unknown');
  });

  it('ends when its key is changed or removed', async () => {
    const { store, sessions } = sessionsOf();
    const token = (await sessions.issue('console')) ?? '';
    for (const known of [new Map([['console', 'another-key-of-16']]), new Map([['other', KEY]])])
      expect((await sessionsOf({ store, known }).sessions.read(token)).kind).toBe('unknown');
  });

  it('cannot be made up', async () => {
    const { sessions } = sessionsOf();
    const token = (await sessions.issue('console')) ?? '';
    for (const made of ['', 'x', token.slice(1), `${token}x`, 'A'.repeat(43), '.'.repeat(4000)])
      expect((await sessions.read(made)).kind, made.slice(0, 50)).toBe('unknown');
    expect(await sessions.issue('nobody')).toBeUndefined();
  });
});
