import { isLeaf, nameOf, type Occurrence } from '../../../shared/reasoning/tree.ts';
import { type Say, useText } from '../../text/use-text.tsx';
import type { Skip } from '../../trace/visible-rows.ts';
import { Button } from '../../ui/button.tsx';

type Props = { occurrence: Occurrence; onChoose: (occurrence: Occurrence) => void };

/** A node by its name and number; pressing it shows it. */
export function NodeLink({ occurrence, onChoose }: Props) {
  const { say } = useText();
  const name = nodeWords(occurrence, say);
  return (
    <Button
      label={name}
      className="node-link"
      title={say('node.select', { node: name })}
      onPress={() => onChoose(occurrence)}
    />
  );
}

/** The same in plain text. */
export function nodeWords({ node }: Occurrence, say: Say): string {
  const { label, shortName, type, id } = node;
  const name = label ?? shortName;
  if (name === null) return `${isLeaf(node) ? type : relationWords(type, say)} #${id}`;
  return say('node.quoted', { name, id });
}

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

const MAX_CALLED = 3;

/** The actions that a real run may run, by name: "“charge”, “coupon” and 2 more"; null where there are none. */
export function calledWords(occurrences: readonly Occurrence[], say: Say): string | null {
  const all = new Set(occurrences.filter(({ node }) => node.type === 'LeafResult').map(({ node }) => nameOf(node)));
  if (all.size === 0) return null;
  const names = [...all]
    .slice(0, MAX_CALLED)
    .map((name) => say('run.real.quoted', { name }))
    .join(', ');
  const more = all.size - MAX_CALLED;
  return more > 0 ? say('run.real.more', { names, n: more }) : names;
}
