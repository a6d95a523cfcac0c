import type { Say } from '../../text/use-text.tsx';

/**
 * What a relation is called. TRUE and NONE are results as well: the relations that always come to them say so, unless the client
 * passed on another one.
 */
export function relationWords(type: string, say: Say, passedOn = false): string {
  const [kind, parallel] = type.startsWith('P-') ? [type.slice(2), 'P-'] : [type, ''];
  if (passedOn) return parallel + kind.toUpperCase();
  if (kind === 'True') return parallel + say('trace.relation.true');
  if (kind === 'None') return parallel + say('trace.relation.none');
  return parallel + kind.toUpperCase();
}
