import { createHash, timingSafeEqual } from 'node:crypto';
import { createMiddleware } from 'hono/factory';
import type { Environment } from './environment.ts';
import { problem } from './respond.ts';

const OPEN_PATHS = new Set(['/healthz', '/readyz']);

/** Lets in who sends one of the keys as `Authorization: Bearer` (RFC 6750). With no keys configured, everybody. */
export function authenticate(keys: ReadonlyMap<string, string>) {
  const digests = [...keys].map(([name, key]) => ({ name, digest: sha256(key) }));
  return createMiddleware<Environment>(async (context, next) => {
    if (digests.length === 0 || OPEN_PATHS.has(context.req.path)) return next();
    const given = /^Bearer +(\S+)$/i.exec(context.req.header('authorization') ?? '')?.[1];
    const digest = sha256(given ?? '');
    const match = digests.filter((known) => timingSafeEqual(known.digest, digest)).at(0);
    if (given === undefined || !match) {
      return problem(401, 'This needs an API key: send it as "Authorization: Bearer <key>".', {
        headers: { 'www-authenticate': 'Bearer realm="rule-server"' },
      });
    }
    context.set('keyName', match.name);
    return next();
  });
}

/** Digests have one length, so the comparison tells nothing about a key, not even how long it is. */
function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
