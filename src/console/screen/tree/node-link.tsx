import { useText } from '../../text/use-text.tsx';
import { nameOf, type Occurrence } from '../../trace/tree.ts';

type Props = { occurrence: Occurrence; onChoose: (occurrence: Occurrence) => void };

/** A node by its name and number; pressing it shows it. */
export function NodeLink({ occurrence, onChoose }: Props) {
  const { say } = useText();
  const name = `${shortType(occurrence)}${nameOf(occurrence.node)} #${occurrence.node.id}`;
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
export function nodeWords(occurrence: Occurrence): string {
  return `${nameOf(occurrence.node)} #${occurrence.node.id}`;
}

/** Relations are known by what they do; a leaf's name says it. */
function shortType({ node }: Occurrence): string {
  if (node.type.startsWith('Leaf') || nameOf(node) === node.type) return '';
  return `${node.type.toUpperCase()} `;
}
