import type { IncomingHttpHeaders } from 'node:http';

/** Browsers send forms and plain text to any site without asking it first; a JSON body they do not. */
export function isFormPost(headers: IncomingHttpHeaders): boolean {
  const fromBrowser = headers.origin !== undefined || headers['sec-fetch-site'] !== undefined;
  const type = String(headers['content-type'] ?? '')
    .split(';')[0]
    ?.trim()
    .toLowerCase();
  return fromBrowser && type !== 'application/json';
}
