import type { HonoRequest } from 'hono';
import type { Problem } from '../calls/read-request.ts';

type ReadKey = { kind: 'none' } | { kind: 'key'; key: string } | { kind: 'bad'; problems: Problem[] };

/** A structured string (RFC 9651). */
const QUOTED = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/;
const LONGEST = 255;

/** With or without the quotes of the IETF draft it is the same key, so that a repeat through another library does not run again. */
export function idempotencyKeyOf(req: Pick<HonoRequest, 'header'>): ReadKey {
  const given = req.header('idempotency-key');
  if (given === undefined) return { kind: 'none' };
  const key = QUOTED.exec(given)?.[1]?.replace(/\\(.)/g, '$1') ?? given;
  if (key.length >= 1 && key.length <= LONGEST) return { kind: 'key', key };
  return { kind: 'bad', problems: [{ field: 'Idempotency-Key', message: `must have 1 to ${LONGEST} characters` }] };
}
