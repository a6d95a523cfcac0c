import type { IncomingMessage } from 'node:http';
import type { BodyLease } from '../calls/open-bodies.ts';

type Body = { kind: 'complete'; bytes: Buffer } | { kind: 'too-large' } | { kind: 'cut-off' } | { kind: 'no-room' };

/** How much of an oversized body is still read, so that a caller that reads only after sending gets the refusal. */
const DRAIN_FACTOR = 4;

/** Reads a request body of at most `maxBytes`. `no-room`: `lease` could not grow by it in time. */
export async function readBody(incoming: IncomingMessage, maxBytes: number, lease?: BodyLease): Promise<Body> {
  const drainBytes = maxBytes * DRAIN_FACTOR;
  if (Number(incoming.headers['content-length'] ?? 0) > drainBytes) return { kind: 'too-large' };
  const announced = Math.min(Number(incoming.headers['content-length'] ?? 0), maxBytes);
  if (lease && !(await lease.grow(announced))) return { kind: 'no-room' };
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of incoming.iterator({ destroyOnReturn: false })) {
      size += chunk.length;
      if (size > drainBytes) return { kind: 'too-large' };
      if (lease && size > announced && size <= maxBytes && !(await lease.grow(chunk.length)))
        return { kind: 'no-room' };
      if (size <= maxBytes) chunks.push(chunk);
      else chunks.length = 0;
    }
  } catch {
    return { kind: 'cut-off' };
  }
  return size > maxBytes ? { kind: 'too-large' } : { kind: 'complete', bytes: Buffer.concat(chunks) };
}
