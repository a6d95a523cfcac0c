import { z } from 'zod';
import { parseJson } from '../../../contract/parse-json.ts';
import type { Shelf } from '../stores/shelf.ts';
import type { Ledger } from './ledger.ts';

/** A note whose call may run from now on; those that have ended are in the ledger already. */
const openNoteSchema = z.object({ text: z.string(), dueAt: z.int() });

/** The shelf of notes, which also tells the ledger which calls stand under which keys. */
export function noteKeysOf(shelf: Shelf, ledger: Ledger): Shelf {
  return {
    ...shelf,
    async put(entries) {
      for (const { key, info } of entries) {
        const { data } = openNoteSchema.safeParse(parseJson(info ?? ''));
        if (data) ledger.key(key, data.text);
      }
      await shelf.put(entries);
    },
    async remove(keys) {
      for (const key of keys) if (!key.endsWith(':answer')) ledger.key(key, null);
      await shelf.remove(keys);
    },
  };
}
