import type { Context } from 'hono';

/** Whether a request was made by one of our own pages, or by one of an origin that is allowed to (CORS_ORIGINS). */
export function comesFromHere(context: Context, origins: readonly string[]): boolean {
  const { req } = context;
  const origin = req.header('origin');
  if (origin === undefined) return req.header('sec-fetch-site') === 'same-origin';
  return origins.includes(origin) || origin === ownOrigin(context);
}

/** Whether the browser came over TLS. Every proxy on the way adds what it saw: the first is the one the browser met. */
export function isBehindTls({ req }: Context): boolean {
  return req.header('x-forwarded-proto')?.split(',')[0]?.trim().toLowerCase() === 'https';
}

/** This server as a page of it names it: scheme, host, and the port unless it goes without saying. */
export function ownOrigin(context: Context): string {
  const url = `${isBehindTls(context) ? 'https' : 'http'}://${context.req.header('host') ?? ''}`;
  return URL.canParse(url) ? new URL(url).origin : '';
}
