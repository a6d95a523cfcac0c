import { isIP } from 'node:net';
import type { Layer } from '../http/middleware.ts';
import { problem } from '../http/respond.ts';

/** Probes use any name, and their answers reveal nothing. */
const OPEN_PATHS = new Set(['/healthz', '/readyz']);
/** Reserved names (RFC 6761, RFC 6762, RFC 9476), which no foreign page can have. */
const PRIVATE = /(^|\.)(localhost|local|internal|test|home\.arpa)$/;

type Options = { host: string; hasKeys: boolean; origins: readonly string[] };

/**
 * Prevents DNS rebinding: a page can let its own name resolve to this server's address and then counts as the same origin, but the Host
 * header still has its name.
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

/** With keys any name is accepted, because a foreign page has no key. */
function isReachableAs(hasKeys: boolean) {
  return (name: string) =>
    hasKeys || !name.includes('.') || isIP(name.replace(/^\[|\]$/g, '')) !== 0 || PRIVATE.test(name);
}

function nameIn(header: string | undefined): string | undefined {
  return header?.replace(/:\d*$/, '').toLowerCase();
}
