import type { Context } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { anybody, type Caller, isFor, type Permission } from '../../shared/runtime/access/caller.ts';
import type { Found, Keyring } from '../../shared/runtime/access/keyring.ts';
import { type Refusal, refusalOf } from '../../shared/runtime/http-refusals.ts';
import type { Environment } from '../http/environment.ts';
import { type ClientAddress, type Layer, layers } from '../http/middleware.ts';
import { problem, respondToRefusal } from '../http/respond.ts';
import { SESSION_SECONDS, type Sessions } from './sessions.ts';

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
  return problem('foreign-page', { origin: context.req.header('origin') ?? 'null' });
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

/**
 * Refuses callers without a permission and names it. Each file of `src/api/routes` says which permission its routes need;
 * docs/run/security.md lists them. A key's permissions are in the keys file, and a key of `API_KEYS` has all. Apps are checked by
 * `refusedApp` and by filters in the routes.
 */
export function needs(which: Permission | ((context: Context<Environment>) => Permission)) {
  return layers((context) => refusedPermission(context, typeof which === 'function' ? which(context) : which));
}

export function refusedPermission(context: Context<Environment>, permission: Permission): Response | undefined {
  const { name, may } = callerOf(context);
  if (may.has(permission)) return undefined;
  const has = may.size === 0 ? 'nothing' : [...may].join(', ');
  return problem('no-permission', { permission, name: `${name}`, has });
}

export function refusedApp(context: Context<Environment>, app: number): Response | undefined {
  context.set('about', { ...context.var.about, app });
  const caller = callerOf(context);
  if (isFor(caller, app) || caller.apps === null) return undefined;
  return problem('other-apps', { app, name: `${caller.name}`, apps: listed(caller.apps) });
}

type Asked = { app: number; ruleId?: unknown; confId?: unknown; batchId?: string | null };

export function tellAbout(context: Context<Environment>, { app, ruleId, confId, batchId }: Asked): void {
  const text = (id: unknown) => (id === null || id === undefined ? null : String(id));
  const about = { app, ruleId: text(ruleId), confId: text(confId), ...(batchId && { batchId }) };
  context.set('about', about);
}

export function callerOf(context: Context<Environment>): Caller {
  return context.var.caller ?? anybody;
}

function listed(apps: ReadonlySet<number>): string {
  return apps.size === 0 ? 'no app' : `app ${[...apps].join(', ')}`;
}

/** The prefix `__Host-` (RFC 6265bis) binds the cookie to this host and to TLS. */
const NAME = 'rule-server-session';
const nameFor = (context: Context) => (isBehindTls(context) ? `__Host-${NAME}` : NAME);

export function sessionOf(context: Context): string | undefined {
  return getCookie(context, nameFor(context));
}

/** HttpOnly, SameSite=Strict, and Secure behind TLS. */
export function setSession(context: Context, token: string): void {
  setCookie(context, nameFor(context), token, { ...attributes(context), maxAge: SESSION_SECONDS });
}

export function clearSession(context: Context): void {
  deleteCookie(context, nameFor(context), attributes(context));
}

function attributes(context: Context) {
  return { path: '/', httpOnly: true, sameSite: 'Strict', secure: isBehindTls(context) } as const;
}

/** Whether a request comes from our own origin or one of CORS_ORIGINS. */
export function comesFromHere(context: Context, origins: readonly string[]): boolean {
  const { req } = context;
  const origin = req.header('origin');
  if (origin === undefined) return req.header('sec-fetch-site') === 'same-origin';
  return origins.includes(origin) || origin === ownOrigin(context);
}

/** Whether the browser used TLS. Each proxy appends to the header, so the first value is that of the one the browser connected to. */
function isBehindTls({ req }: Context): boolean {
  return req.header('x-forwarded-proto')?.split(',')[0]?.trim().toLowerCase() === 'https';
}

/** The origin of this server, as its pages see it. */
export function ownOrigin(context: Context): string {
  const url = `${isBehindTls(context) ? 'https' : 'http'}://${context.req.header('host') ?? ''}`;
  return URL.canParse(url) ? new URL(url).origin : '';
}
