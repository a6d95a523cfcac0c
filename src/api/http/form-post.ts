import type { IncomingHttpHeaders } from 'node:http';

/** Refuses the content types that browsers send cross-site without a CORS preflight: forms and plain text. */
export function isFormPost(headers: IncomingHttpHeaders): boolean {
  const fromBrowser = headers.origin !== undefined || headers['sec-fetch-site'] !== undefined;
  const type = String(headers['content-type'] ?? '')
    .split(';')[0]
    ?.trim()
    .toLowerCase();
  return fromBrowser && type !== 'application/json';
}
