import { hasUnseen } from './visible-text.ts';

/** The place where an execution should run: anywhere, in a lane, or at one address. */
export type Target = { kind: 'all' } | { kind: 'lane'; lane: string } | { kind: 'address'; address: string };

const FORMS = '"all", "lane:<lane>" or "address:<address>"';
const MAX_NAME_BYTES = 250;

/**
 * Reads a target. Whether the named lane or client exists is the worker's to say; only what no client can be called is
 * malformed.
 */
export function parseTarget(text: string): Target | { kind: 'malformed'; message: string } {
  if (text === '' || text === 'all') return { kind: 'all' };
  const colon = text.indexOf(':');
  const form = text.slice(0, colon);
  const name = text.slice(colon + 1);
  if (colon < 0 || (form !== 'lane' && form !== 'address')) return malformed(`must be ${FORMS}, found ${quoted(text)}`);
  if (name === '') return malformed(`names no ${form}: write "${form}:<${form}>"`);
  if (hasUnseen(name)) return malformed(`the ${form} contains a control or bidirectional character`);
  if (Buffer.byteLength(name) > MAX_NAME_BYTES) return malformed(`the ${form} is longer than ${MAX_NAME_BYTES} bytes`);
  if (form === 'lane') return { kind: 'lane', lane: name };
  if (name.split(/[/\\]/).some((part) => part === '' || part === '.' || part === '..')) {
    return malformed(`${quoted(name)} is a path, not a client's address`);
  }
  return { kind: 'address', address: name };
}

/** The target as it is written in requests and request files. */
export function formatTarget(target: Target): string {
  if (target.kind === 'all') return 'all';
  return target.kind === 'lane' ? `lane:${target.lane}` : `address:${target.address}`;
}

function malformed(message: string) {
  return { kind: 'malformed' as const, message };
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 57)}…` : text);
}
