import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import type { Keyring } from '../../shared/runtime/keyring.ts';
import type { Environment } from '../http/environment.ts';
import { problem } from '../http/respond.ts';
import { comesFromHere } from './same-origin.ts';
import { sessionOf } from './session-cookie.ts';
import type { Sessions } from './sessions.ts';

const OPEN_PATHS = new Set(['/healthz', '/readyz', '/session']);

type Dependencies = { keyring: Keyring; sessions: Sessions; origins: readonly string[] };

/**
 * Lets in who sends one of the keys as `Authorization: Bearer` (RFC 6750), or the cookie of a session, which a browser
 * sends by itself: then what changes something must come from our own pages. With no keys configured, everybody.
 */
export function authenticate({ keyring, sessions, origins }: Dependencies) {
  return createMiddleware<Environment>(async (context, next) => {
    if (keyring.isOpen || OPEN_PATHS.has(context.req.path)) return next();
    const authorization = context.req.header('authorization');
    const token = sessionOf(context);
    if (authorization === undefined && token !== undefined) {
      const session = sessions.read(token);
      if (session.kind === 'ended') return refused('Your session has ended, or its key was changed: sign in again.');
      if (changesSomething(context) && !comesFromHere(context, origins)) return foreign(context);
      context.set('keyName', session.name);
      return next();
    }
    const key = keyring.bearerOf(authorization);
    const name = key === undefined ? undefined : keyring.nameOf(key);
    if (name === undefined) return refused(sentenceFor(authorization));
    context.set('keyName', name);
    return next();
  });
}

/** A call that a page of another origin made this browser send. */
export function foreign(context: Context): Response {
  const from = context.req.header('origin') ?? 'an unknown place';
  return problem(403, `A page at ${from} may not change anything here with this browser's session.`);
}

function changesSomething({ req }: Context): boolean {
  return req.method !== 'GET' && req.method !== 'HEAD';
}

function sentenceFor(authorization: string | undefined): string {
  if (authorization === undefined)
    return 'This needs an API key: send it as "Authorization: Bearer <key>", or sign in with it in the console.';
  return /^Bearer +\S/i.test(authorization)
    ? 'This API key is not known here: it was mistyped, or changed in API_KEYS.'
    : 'This needs an API key: the Authorization header must be "Bearer <key>".';
}

function refused(sentence: string): Response {
  return problem(401, sentence, { headers: { 'www-authenticate': 'Bearer realm="rule-server"' } });
}
