import { createHash } from 'node:crypto';

/** The entity tag of saved cases: the SHA-256 of their text, in quotes (RFC 9110 §8.8.3). */
export function etagOf(text: string): string {
  return `"${createHash('sha256').update(text).digest('hex')}"`;
}
