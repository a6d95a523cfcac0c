import type { Context } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { isBehindTls } from './same-origin.ts';
import { SESSION_SECONDS } from './sessions.ts';

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
