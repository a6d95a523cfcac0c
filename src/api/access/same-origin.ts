import type { Context } from 'hono';

/** Whether a request comes from our own origin or one of CORS_ORIGINS. */
export function comesFromHere(context: Context, origins: readonly string[]): boolean {
  const { req } = context;
  const origin = req.header('origin');
  if (origin === undefined) return req.header('sec-fetch-site') === 'same-origin';
  return origins.includes(origin) || origin === ownOrigin(context);
}

/** Whether the browser used TLS. Each proxy appends to the header, so the first value is that of the one the browser connected to. */
export function isBehindTls({ req }: Context): boolean {
  return req.header('x-forwarded-proto')?.split(',')[0]?.trim().toLowerCase() === 'https';
}

/** The origin of this server, as its pages see it. */
export function ownOrigin(context: Context): string {
  const url = `${isBehindTls(context) ? 'https' : 'http'}://${context.req.header('host') ?? ''}`;
  return URL.canParse(url) ? new URL(url).origin : '';
}
