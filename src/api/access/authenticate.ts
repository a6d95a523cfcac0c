import type { Context } from 'hono';
import { anybody, type Caller, isFor } from '../../shared/runtime/access/caller.ts';
import type { Found, Keyring } from '../../shared/runtime/access/keyring.ts';
import { type Refusal, refusalOf } from '../../shared/runtime/http-refusals.ts';
import type { Environment } from '../http/environment.ts';
import type { Layer } from '../http/layers.ts';
import { problem, respondToRefusal } from '../http/respond.ts';
import type { ClientAddress } from '../http/server/client-address.ts';
import { comesFromHere } from './same-origin.ts';
import { sessionOf } from './session-cookie.ts';
import type { Sessions } from './sessions.ts';

const OPEN_PATHS = new Set(['/healthz', '/readyz', '/session']);

export type Access = {
  keyring: Keyring;
  sessions: Sessions;
  origins: readonly string[];
  clientAddress: ClientAddress;
  /** The header in which a trusted proxy names the person who has signed in with it. */
  userHeader: string | undefined;
};

/**
 * Authenticates by a key as `Authorization: Bearer` (RFC 6750), by the session cookie, or by the header of a trusted proxy. Browsers send
 * the last two by themselves, so a request that changes something must then come from our own origin. Without configured keys everybody is
 * accepted.
 */
export function authenticate(access: Access): Layer {
  const { keyring, origins, userHeader } = access;
  return (context) => {
    if (keyring.isOpen && userHeader === undefined) context.set('caller', anybody);
    return context.var.caller || isOpen(context) ? undefined : admit(context);
  };

  async function admit(context: Context<Environment>): Promise<Response | undefined> {
    const { found, byBrowser, otherwise } = await identify(context, access);
    if (found.kind === 'expired') return refused(refusalOf('key-expired', { name: found.name }));
    if (found.kind === 'unknown') return refused(otherwise);
    context.set('keyName', found.caller.name ?? undefined);
    if (byBrowser && changesSomething(context) && !comesFromHere(context, origins)) return foreign(context);
    context.set('caller', found.caller);
    context.set('mayStay', async () => isStill(found.caller, (await identify(context, access)).found));
    return undefined;
  }
}

function isOpen({ req }: Context): boolean {
  return OPEN_PATHS.has(req.path) && !(req.path === '/session' && req.method === 'GET');
}

type Identified = { found: Found; byBrowser: boolean; otherwise: Refusal };

async function identify(context: Context<Environment>, access: Access): Promise<Identified> {
  const { keyring, sessions } = access;
  const authorization = context.req.header('authorization');
  const person = personOf(context, access);
  if (person !== undefined) {
    const otherwise = refusalOf('person-unknown', { name: person });
    return { found: keyring.person(person), byBrowser: true, otherwise };
  }
  const token = sessionOf(context);
  if (authorization === undefined && token !== undefined) {
    const otherwise = refusalOf('session-ended', {});
    return { found: await sessions.read(token), byBrowser: true, otherwise };
  }
  const key = keyring.bearerOf(authorization);
  const found: Found = key === undefined ? { kind: 'unknown' } : keyring.find(key);
  return { found, byBrowser: false, otherwise: refusalFor(authorization) };
}

/** Ignores the header unless the connection comes from a trusted proxy: anybody else could have written it. */
function personOf(context: Context<Environment>, { userHeader, clientAddress }: Access): string | undefined {
  if (userHeader === undefined || !clientAddress.isFromProxy(context.env.incoming)) return undefined;
  return context.req.header(userHeader) || undefined;
}

/** Whether a long-lived stream may go on: same caller, same apps, still allowed to read. */
function isStill({ name, apps }: Caller, now: Found): boolean {
  if (now.kind !== 'known' || now.caller.name !== name || !now.caller.may.has('read')) return false;
  return now.caller.apps === null || (apps !== null && [...apps].every((app) => isFor(now.caller, app)));
}

/** Refuses what looks like a cross-site request forgery. */
export function foreign(context: Context): Response {
  return problem('foreign-page', { origin: context.req.header('origin') ?? 'an unknown place' });
}

function changesSomething({ req }: Context): boolean {
  return req.method !== 'GET' && req.method !== 'HEAD';
}

function refusalFor(authorization: string | undefined): Refusal {
  if (authorization === undefined) return refusalOf('key-missing', {});
  return refusalOf(/^Bearer +\S/i.test(authorization) ? 'key-unknown' : 'key-malformed', {});
}

function refused(refusal: Refusal): Response {
  return respondToRefusal(refusal, { headers: { 'www-authenticate': 'Bearer realm="rule-server"' } });
}
