import { createHash } from 'node:crypto';
import { parseExact } from '../../shared/contract/json/exact-json.ts';

const MAX_CHARACTERS = 32 * 1024 * 1024;

/** The metadata of a client without any leaf class. */
export const NO_LEAVES: readonly unknown[] = Object.freeze([]);

export type LeavesOf = ReturnType<typeof createPublishedLeaves>;

/**
 * Reads what clients publish about their leaves, given as JSON text. Clients of one build publish the same text: it is
 * parsed and kept once, as long as a client has it. Null when all that is kept would exceed `maxCharacters`.
 */
export function createPublishedLeaves({ maxCharacters = MAX_CHARACTERS } = {}) {
  const known = new Map<string, { leaves: WeakRef<readonly unknown[]>; characters: number }>();

  return function leavesOf(text: string): readonly unknown[] | null {
    const key = createHash('sha256').update(text).digest('base64');
    const same = known.get(key)?.leaves.deref();
    if (same) return same;
    if (charactersKept() + text.length > maxCharacters) return null;
    const value = parseExact(text);
    const leaves = Array.isArray(value) && value.length > 0 ? value : NO_LEAVES;
    known.set(key, { leaves: new WeakRef(leaves), characters: text.length });
    return leaves;
  };

  function charactersKept(): number {
    let total = 0;
    for (const [key, { leaves, characters }] of known) {
      if (leaves.deref()) total += characters;
      else known.delete(key);
    }
    return total;
  }
}
