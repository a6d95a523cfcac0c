import { readResult } from '../reasoning/result.ts';
import { replayResult } from '../reasoning/trace/replay-result.ts';
import { occurrencesOf, type TreeNode } from '../reasoning/tree.ts';
import type { Tried } from '../reasoning/what-if/since.ts';
import { certainPart, conclusionOf, doubtsOf } from './conclusion.ts';

/** What the leaves of a tree came to in a dry run; null where its trace does not say. `body`: the answer as JSON text. */
export function triedIn({ input, body, root }: { input: string; body: string; root: TreeNode }): Tried | null {
  const conclusion = conclusionOf({ input, body, success: true });
  if (conclusion.way === null) return null;
  const doubts = new Set(doubtsOf(conclusion));
  const { way, goesOn } = certainPart(conclusion);
  const [last] = way.slice(-1);
  if (goesOn && !(last && doubts.has(last.id))) return null; // the trace does not say where the first one stands
  const behind = conclusion.way.slice(way.length);
  const uncertain = new Set([...doubts, ...behind.map(({ id }) => id)]);
  const occurrences = occurrencesOf(root);
  const { nodeTraces } = replayResult(readResult(body), occurrences).replay;
  return { occurrences, nodeTraces, isCertain: ({ node }) => !uncertain.has(node.id) };
}
