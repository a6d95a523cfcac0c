import { readProblem } from '../../shared/contract/problem.ts';
import type { Layer } from '../http/middleware.ts';
import { json } from '../http/respond.ts';

/** The published server's numbers for bad input and for everything else. */
export const INPUT_ERROR = -2;
export const OTHER_ERROR = -1;

/** These keep their status, because gateways and browsers act on it. Everything else is 200, as in the published server. */
const KEPT_STATUSES = new Set([401, 403, 413, 415, 429]);

/** `data` is JSON text, passed through unchanged. */
export function envelope(data: string): Response {
  return json(200, `{"ret":0,"data":${data}}`);
}

export function refusal(ret: number, message: string, status = 200): Response {
  return json(status, JSON.stringify({ ret, msg: message }));
}

/** Converts refusals of the middleware (no key, a foreign page, a large body, a fault) to the envelope. */
export function inEnvelope(): Layer {
  return (context) => async () => {
    const { res } = context;
    if (res.status === 200 || res.status === 404) return;
    const { error = `status ${res.status}` } = readProblem(await res.text());
    const headers = new Headers(res.headers);
    headers.set('content-type', 'application/json');
    headers.delete('content-length');
    const body = JSON.stringify({ ret: OTHER_ERROR, msg: error });
    return new Response(body, { status: KEPT_STATUSES.has(res.status) ? res.status : 200, headers });
  };
}
