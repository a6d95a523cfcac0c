import { describe, expect, it } from 'vitest';
import { createSessions, SESSION_SECONDS } from '../../../src/api/access/sessions.ts';

const keys = new Map([
  ['console', '0123456789abcdef'],
  ['a.b', 'fedcba9876543210'],
]);

describe('a session', () => {
  it('names its key, on every instance that has the same keys', () => {
    const token = createSessions(keys).issue('a.b') ?? '';
    expect(createSessions(new Map(keys)).read(token)).toEqual({ kind: 'session', name: 'a.b' });
  });

  it('does not show its key', () => {
    expect(createSessions(keys).issue('console')).not.toContain('0123456789abcdef');
  });

  it('ends with its time', () => {
    let now = 1_000_000;
    const sessions = createSessions(keys, () => now);
    const token = sessions.issue('console') ?? '';
    now += SESSION_SECONDS * 1000 - 1;
    expect(sessions.read(token).kind).toBe('session');
    now += 1;
    expect(sessions.read(token).kind).toBe('ended');
  });

  it('ends when its key is changed or removed', () => {
    const token = createSessions(keys).issue('console') ?? '';
    expect(createSessions(new Map([['console', 'another-key-of-16']])).read(token).kind).toBe('ended');
    expect(createSessions(new Map([['other', '0123456789abcdef']])).read(token).kind).toBe('ended');
  });

  it('cannot be made up, prolonged, or given another name', () => {
    const sessions = createSessions(keys);
    const [name = '', expires = '', signature = ''] = (sessions.issue('console') ?? '').split('.');
    const other = Buffer.from('a.b').toString('base64url');
    for (const token of [
      '',
      'x',
      `${name}.${expires}.`,
      `${name}.${Number(expires) + 1}.${signature}`,
      `${other}.${expires}.${signature}`,
      `${name}.${expires}.${signature.slice(0, -2)}AA`,
      `${name}.${expires}.${signature}.x`,
      '.'.repeat(4000),
    ])
      expect(sessions.read(token), token.slice(0, 40)).toEqual({ kind: 'ended' });
    expect(sessions.issue('nobody')).toBeUndefined();
  });
});
