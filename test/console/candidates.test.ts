import { describe, expect, test } from 'vitest';
import type { Client } from '../../src/console/api/browse.ts';
import { candidatesOf } from '../../src/console/run/calls.ts';

const client = (address: string, more: Partial<Client> = {}): Client => ({
  address,
  lane: null,
  registered: true,
  state: 'online',
  dialect: 'rule',
  lastHeartbeat: null,
  online: true,
  busy: false,
  sdk: 'node',
  dryRun: true,
  heartbeatAgeMs: 1,
  open: 0,
  lastPickUpAt: null,
  noPickUpSince: null,
  loadedVersion: '1',
  ...more,
});
const beta = client('b', { lane: 'beta' });
const gone = client('gone', { online: false });
const directory = client('d', { registered: false });
const names = (clients: Client[]) => clients.map(({ address }) => address).join(' ');

describe('who may run a call', () => {
  test('any client: the trunk before the lanes, the lanes before directories', () => {
    const any = (...clients: Client[]) => names(candidatesOf({ kind: 'all' }, clients));
    expect(any(directory, beta, client('t'), gone)).toBe('t');
    expect(any(directory, beta, gone)).toBe('b');
    expect(any(directory, gone)).toBe('d');
    expect(any(gone)).toBe('');
  });

  test('a lane, an address, each: only who is online', () => {
    const clients = [client('t'), beta, client('away', { lane: 'beta', online: false }), gone, directory];
    expect(names(candidatesOf({ kind: 'lane', lane: 'beta' }, clients))).toBe('b');
    expect(names(candidatesOf({ kind: 'lane', lane: '' }, clients))).toBe('');
    expect(names(candidatesOf({ kind: 'address', address: 'gone' }, clients))).toBe('');
    expect(names(candidatesOf({ kind: 'each' }, clients))).toBe('t b d');
  });
});
