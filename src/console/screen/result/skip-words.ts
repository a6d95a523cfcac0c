import type { Say } from '../../text/use-text.tsx';
import type { Skip } from '../../trace/skipped.ts';
import { nodeWords } from '../tree/node-link.tsx';

/** Why a node did not run, in words. */
export function skipWords(skip: Skip, say: Say): string {
  switch (skip.kind) {
    case 'stopped':
      return say('skip.stopped', {
        node: nodeWords(skip.by, say),
        decision: say(skip.by.parent?.node.type === 'And' ? 'outcome.FALSE' : 'outcome.TRUE'),
      });
    case 'error':
      return skip.by ? say('skip.error', { node: nodeWords(skip.by, say) }) : say('skip.error.run');
    case 'rejected':
    case 'out-of-time':
    case 'not-run':
      return say(`skip.${skip.kind}`, { node: nodeWords(skip.by, say) });
    default:
      return say(`skip.${skip.kind}`);
  }
}
