import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { accepts } from './accepted-encoding.ts';
import type { Layer } from './middleware.ts';

const compress = promisify(gzip);
const WORTH_IT_BYTES = 1024;
const LEVEL = 4;

/**
 * Answers to reads go out compressed to callers that take gzip, if they are JSON above 1 KiB. Never events: they would wait in the
 * compressor. Never the answer of a call that ran a rule: it would take longer, and it is held in memory only once.
 */
export function compressJson(): Layer {
  return (context) => async () => {
    const { res, req } = context;
    if (req.method !== 'GET') return;
    const type = res.headers.get('content-type') ?? '';
    if (!/^application\/(problem\+)?json\b/.test(type) || res.body === null || res.headers.has('content-encoding'))
      return;
    if (!accepts(req.header('accept-encoding'), 'gzip')) return;
    const body = Buffer.from(await res.arrayBuffer());
    const headers = new Headers(res.headers);
    headers.append('vary', 'accept-encoding');
    headers.delete('content-length');
    const worth = body.byteLength > WORTH_IT_BYTES;
    if (worth) headers.set('content-encoding', 'gzip');
    const sent = worth ? await compress(body, { level: LEVEL }) : body;
    return new Response(new Uint8Array(sent), { status: res.status, headers });
  };
}

/**
 * An answer to a GET has a tag of its content; a caller that has it already is told so in 304 instead of sending it again (RFC
 * 9110).
 */
export function tagAnswers(): Layer {
  return (context) => async () => {
    const { res, req } = context;
    if (req.method !== 'GET' || res.status !== 200 || res.body === null) return;
    const body = Buffer.from(await res.arrayBuffer());
    const etag = `W/"${createHash('sha1').update(body).digest('base64url')}"`;
    const headers = new Headers(res.headers);
    headers.set('etag', etag);
    headers.set('cache-control', 'private, no-cache');
    const known = (req.header('if-none-match') ?? '').split(',').some((tag) => tag.trim() === etag);
    if (known) headers.delete('content-type');
    return new Response(known ? null : body, { status: known ? 304 : 200, headers });
  };
}
