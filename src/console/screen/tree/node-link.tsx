import { isLeaf, type Occurrence } from '../../../shared/reasoning/tree.ts';
import { type Say, useText } from '../../text/use-text.tsx';
import { relationWords } from './relation-words.ts';

type Props = { occurrence: Occurrence; onChoose: (occurrence: Occurrence) => void };

/** A node by its name and number; pressing it shows it. */
export function NodeLink({ occurrence, onChoose }: Props) {
  const { say } = useText();
  const name = nodeWords(occurrence, say);
  return (
    <button
      type="button"
      className="node-link"
      title={say('node.select', { node: name })}
      onClick={() => onChoose(occurrence)}
    >
      {name}
    </button>
  );
}

/** The same in plain text. */
export function nodeWords({ node }: Occurrence, say: Say): string {
  const { label, shortName, type, id } = node;
  const name = label ?? shortName;
  if (name === null) return `${isLeaf(node) ? type : relationWords(type, say)} #${id}`;
  return say('node.quoted', { name, id });
}
