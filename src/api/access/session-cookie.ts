import type { Context } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { isBehindTls } from './same-origin.ts';
import { SESSION_SECONDS } from './sessions.ts';

/** Behind TLS a browser keeps this name to this host, and takes it over TLS only (RFC 6265bis, `__Host-`). */
const NAME = 'rule-server-session';
const nameFor = (context: Context) => (isBehindTls(context) ? `__Host-${NAME}` : NAME);

/** The session a browser sends along, if any. */
export function sessionOf(context: Context): string | undefined {
  return getCookie(context, nameFor(context));
}

/** Scripts cannot read it, other sites cannot send it; behind TLS it never travels in the clear. */
export function setSession(context: Context, token: string): void {
  setCookie(context, nameFor(context), token, { ...attributes(context), maxAge: SESSION_SECONDS });
}

export function clearSession(context: Context): void {
  deleteCookie(context, nameFor(context), attributes(context));
}

function attributes(context: Context) {
  return { path: '/', httpOnly: true, sameSite: 'Strict', secure: isBehindTls(context) } as const;
}
