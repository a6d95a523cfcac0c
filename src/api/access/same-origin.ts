import type { Context } from 'hono';

/** Whether a request was made by one of our own pages, or by one of an origin that is allowed to (CORS_ORIGINS). */
export function comesFromHere({ req }: Context, origins: readonly string[]): boolean {
  const origin = req.header('origin');
  if (origin === undefined) return req.header('sec-fetch-site') === 'same-origin';
  if (origins.includes(origin)) return true;
  return URL.canParse(origin) && new URL(origin).host === hostOf(req.header('host') ?? '', origin);
}

/** A host as a URL would write it: without the port that goes without saying. */
function hostOf(host: string, origin: string): string {
  const url = `${new URL(origin).protocol}//${host}`;
  return URL.canParse(url) ? new URL(url).host : '';
}
