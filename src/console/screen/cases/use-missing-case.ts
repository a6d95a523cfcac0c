import { useState } from 'react';
import type { Occurrence } from '../../../shared/reasoning/tree.ts';
import { changeOfKeyWords } from '../../../shared/reasoning/words/fact-words.ts';
import { findMissingCase } from '../../cases/inputs/missing-case.ts';
import { type Say, useText } from '../../text/use-text.tsx';
import type { Input } from '../input/use-input.ts';
import { nodeWords } from '../tree/node-link.tsx';

type Where = { batchId: string | null; occurrences: readonly Occurrence[]; input: Input };

/** Looks for an input that reaches a node which no case reached, writes it into the form, and says what it is. */
export function useMissingCase({ batchId, occurrences, input }: Where) {
  const { say } = useText();
  const [told, setTold] = useState<string | null>(null);
  const find = async (to: Occurrence) => {
    if (batchId === null) return;
    setTold(say('coverage.find.looking'));
    try {
      const found = await findMissingCase(to, { batchId, occurrences });
      if (found) input.adopt(found.input);
      setTold(found ? foundWords(found, { to, say }) : say('coverage.find.none', { node: nodeWords(to, say) }));
    } catch {
      setTold(say('failed.unreachable'));
    }
  };
  return { find: (to: Occurrence) => void find(to), told };
}

type Found = NonNullable<Awaited<ReturnType<typeof findMissingCase>>>;

function foundWords({ name, change }: Found, { to, say }: { to: Occurrence; say: Say }): string {
  const changes = change.changes.map((one) => changeOfKeyWords(one, say)).join(', ');
  return say('coverage.find.found', { node: nodeWords(to, say), name, changes });
}
