import type { Context } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { SESSION_SECONDS } from './sessions.ts';

const NAME = 'rule-server-session';

/** The session a browser sends along, if any. */
export function sessionOf(context: Context): string | undefined {
  return getCookie(context, NAME);
}

/** Scripts cannot read it, other sites cannot send it; behind TLS it never travels in the clear. */
export function setSession(context: Context, token: string): void {
  setCookie(context, NAME, token, { ...attributes(context), maxAge: SESSION_SECONDS });
}

export function clearSession(context: Context): void {
  deleteCookie(context, NAME, attributes(context));
}

function attributes(context: Context) {
  const secure = context.req.header('x-forwarded-proto') === 'https';
  return { path: '/', httpOnly: true, sameSite: 'Strict', secure } as const;
}
