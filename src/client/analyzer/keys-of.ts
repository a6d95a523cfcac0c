import { type KeyPart, keyPartOf, type Thing } from './things.ts';

/** What things may be as a key, each way once. */
export function keysOf(things: readonly Thing[]): KeyPart[] {
  const parts = things.map(keyPartOf);
  return [...new Map(parts.map((part) => [JSON.stringify(part), part])).values()];
}
