import { createMiddleware } from 'hono/factory';
import type { Keyring } from '../shared/keyring.ts';
import type { Environment } from './environment.ts';
import { problem } from './respond.ts';

const OPEN_PATHS = new Set(['/healthz', '/readyz']);

/** Lets in who sends one of the keys as `Authorization: Bearer` (RFC 6750). With no keys configured, everybody. */
export function authenticate(keyring: Keyring) {
  return createMiddleware<Environment>(async (context, next) => {
    if (keyring.isOpen || OPEN_PATHS.has(context.req.path)) return next();
    const key = keyring.bearerOf(context.req.header('authorization'));
    const name = key === undefined ? undefined : keyring.nameOf(key);
    if (name === undefined) {
      return problem(401, 'This needs an API key: send it as "Authorization: Bearer <key>".', {
        headers: { 'www-authenticate': 'Bearer realm="rule-server"' },
      });
    }
    context.set('keyName', name);
    return next();
  });
}
