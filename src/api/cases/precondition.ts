import type { Problem } from '../calls/read-request.ts';
import type { Precondition } from './saved-cases.ts';

/** The precondition of a change, in If-Match or If-None-Match (RFC 9110 §13.1). `missing`: it has none. */
type ReadPrecondition =
  | { kind: 'given'; precondition: Precondition }
  | { kind: 'missing' }
  | { kind: 'bad'; problem: Problem };

/** A gateway that compresses turns an ETag into a weak one (`W/`). Ours is a digest of the content, so a weak one names the same content. */
const TAG = /^(?:W\/)?("[\x21\x23-\x7e]*")$/;

/** Reads the precondition of a change to saved cases. */
export function readPrecondition(ifMatch: string | undefined, ifNoneMatch: string | undefined): ReadPrecondition {
  if (ifMatch !== undefined) {
    const [, etag] = TAG.exec(ifMatch.trim()) ?? [];
    if (etag !== undefined) return { kind: 'given', precondition: { etag } };
    return bad('If-Match', 'must be the ETag of the saved cases, in its quotes');
  }
  if (ifNoneMatch === undefined) return { kind: 'missing' };
  if (ifNoneMatch.trim() === '*') return { kind: 'given', precondition: { etag: null } };
  return bad('If-None-Match', 'must be *, which stands for: none are saved yet');
}

const bad = (field: string, message: string): ReadPrecondition => ({ kind: 'bad', problem: { field, message } });
