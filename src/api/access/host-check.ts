import { isIP } from 'node:net';
import type { Layer } from '../http/layers.ts';
import { problem } from '../http/respond.ts';

/** Probes use any name, and their answers tell nothing. */
const OPEN_PATHS = new Set(['/healthz', '/readyz']);
/** Names that cannot be registered (RFC 6761, RFC 6762, RFC 9476). No foreign page can have one. */
const PRIVATE = /(^|\.)(localhost|local|internal|test|home\.arpa)$/;

type Options = { host: string; hasKeys: boolean; origins: readonly string[] };

/**
 * Refuses requests to a name this server does not go by. A page can give its own name this server's address (DNS
 * rebinding) and then counts as the same origin; the Host header still tells what name it used.
 */
export function checkHost({ host, hasKeys, origins }: Options): Layer {
  const listed = new Set(origins.map((origin) => new URL(origin).hostname));
  const own = isLoopback(host) ? isLoopback : isReachableAs(hasKeys);
  return (context) => {
    const given = nameIn(context.req.header('host'));
    if (!given || OPEN_PATHS.has(context.req.path) || listed.has(given) || own(given)) return undefined;
    return problem('unknown-host', { host: given });
  };
}

function isLoopback(name: string): boolean {
  return (
    name === 'localhost' ||
    name.endsWith('.localhost') ||
    name === '[::1]' ||
    name === '::1' ||
    /^127(\.\d{1,3}){3}$/.test(name)
  );
}

/** An API with keys may be called by any name: a foreign page has no key. */
function isReachableAs(hasKeys: boolean) {
  return (name: string) =>
    hasKeys || !name.includes('.') || isIP(name.replace(/^\[|\]$/g, '')) !== 0 || PRIVATE.test(name);
}

/** The name in a Host header, without its port. */
function nameIn(header: string | undefined): string | undefined {
  return header?.replace(/:\d*$/, '').toLowerCase();
}
