import { compactJson } from '../../../shared/json-tree/print-json.ts';
import { isPassedOn } from '../../../shared/reasoning/constant.ts';
import { factsOf } from '../../../shared/reasoning/facts.ts';
import type { NodeTrace } from '../../../shared/reasoning/trace/node-trace.ts';
import { isLeaf, nameOf, type Occurrence, type TreeNode } from '../../../shared/reasoning/tree.ts';
import { childThatFailed } from '../../../shared/reasoning/why.ts';
import { readWords, settingWords, shortened } from '../../../shared/reasoning/words/fact-words.ts';
import { formatMs } from '../../text/durations.ts';
import { useText } from '../../text/use-text.tsx';
import { skipOf, type VisibleRow } from '../../trace/visible-rows.ts';
import { Icon, type IconName } from '../../ui/icon.tsx';
import { OutcomeChip } from '../../ui/outcome-chip.tsx';
import { relationWords, skipWords } from './node-link.tsx';

type Props = {
  id: string;
  row: VisibleRow;
  rowIndex: number;
  nodeTraces: ReadonlyMap<Occurrence, NodeTrace>;
  /** Whether there is a run to draw: without one no row has a reason for not having run. */
  drawn: boolean;
  /** On the way to the result; `decider`: the node where the way ends; `tall`: it has a second line for what it read. */
  deciding: boolean;
  decider: boolean;
  tall: boolean;
  /** It has an edit that is not released yet. */
  edited: boolean;
  active: boolean;
  onToggle: (open: boolean) => void;
  onPress: () => void;
};

/** Deeper nodes are drawn no further to the right, with their level as a number; on a narrow screen that begins sooner. */
const MAX_GUIDES = 8;
const FEW_GUIDES = 5;

/** One place of the tree: what stands there, its result, and how long it took. */
export function TraceRow({
  id,
  row,
  rowIndex,
  nodeTraces,
  drawn,
  deciding,
  decider,
  tall,
  edited,
  active,
  onToggle,
  onPress,
}: Props) {
  const { say } = useText();
  const { occurrence, open } = row;
  const nodeTrace = nodeTraces.get(occurrence);
  const skip = drawn && !nodeTrace ? skipOf(occurrence, nodeTraces) : null;
  const classes = [
    'tree-row',
    nodeTrace || !drawn ? '' : 'skipped',
    active ? 'active' : '',
    deciding ? 'deciding' : '',
    decider ? 'decider' : '',
    tall ? 'two-lines' : '',
    row.found ? 'found' : '',
  ];
  return (
    <div
      role="row"
      id={id}
      className={classes.filter(Boolean).join(' ')}
      aria-level={occurrence.depth + 1}
      aria-posinset={row.position}
      aria-setsize={row.siblings}
      aria-rowindex={rowIndex}
      aria-selected={active}
      aria-expanded={open}
      onClick={onPress}
    >
      <div role="gridcell" className="tree-node line">
        <Guides occurrence={occurrence} open={open} onToggle={onToggle} />
        <NodeName occurrence={occurrence} nodeTrace={nodeTrace} />
        {decider && <span className="tag decided">{say('tree.decided')}</span>}
        {edited && <span className="tag edited">{say('tree.edited')}</span>}
        {skip && <span className={skip.kind === 'not-run' ? 'hidden-words' : 'skip'}>{skipWords(skip, say)}</span>}
        {nodeTrace && !tall && <Accesses {...{ occurrence, nodeTrace, nodeTraces }} />}
      </div>
      <div role="gridcell" className="tree-result">
        {nodeTrace && <OutcomeChip outcome={nodeTrace.outcome} />}
      </div>
      <div role="gridcell" className="tree-time facts">
        {nodeTrace?.ms != null &&
          nodeTrace.outcome !== 'OUT_OF_TIME' &&
          nodeTrace.outcome !== 'LEFT_OUT' &&
          formatMs(nodeTrace.ms)}
      </div>
      {nodeTrace && tall && (
        <div role="gridcell" className="decider-facts">
          <Accesses {...{ occurrence, nodeTrace, nodeTraces }} />
        </div>
      )}
    </div>
  );
}

function Guides({
  occurrence,
  open,
  onToggle,
}: {
  occurrence: Occurrence;
  open: boolean | undefined;
  onToggle: (open: boolean) => void;
}) {
  const { say } = useText();
  return (
    <>
      {Array.from({ length: Math.min(occurrence.depth, MAX_GUIDES) }, (_, level) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines of the picture, one per level
        <i className="guide" key={level} aria-hidden="true" />
      ))}
      {occurrence.depth > FEW_GUIDES && (
        <span className={occurrence.depth > MAX_GUIDES ? 'level' : 'level of-narrow'} title={namesAbove(occurrence)}>
          {say('tree.level', { n: occurrence.depth + 1 })}
        </span>
      )}
      <i
        className={open === undefined ? 'twist none' : open ? 'twist open' : 'twist'}
        aria-hidden="true"
        onClick={(event) => {
          if (open === undefined) return;
          event.stopPropagation();
          onToggle(!open);
        }}
      >
        {open !== undefined && <Icon name="chevron" size={14} />}
      </i>
    </>
  );
}

function NodeName({ occurrence, nodeTrace }: { occurrence: Occurrence; nodeTrace: NodeTrace | undefined }) {
  const { node, role } = occurrence;
  const { say } = useText();
  return (
    <>
      {role === 'forward' && (
        <span className="tag condition" title={say('trace.condition.hint')}>
          {say('trace.condition')}
        </span>
      )}
      {isLeaf(node) || node.type === 'Unknown' ? (
        <span className={`glyph ${node.type}`}>
          <Icon name={leafIcon(node)} size={14} />
        </span>
      ) : (
        <span className="tag relation">{relationWords(node.type, say, isPassedOn(occurrence, nodeTrace))}</span>
      )}
      {(isLeaf(node) || node.label !== null) && (
        <span className="node-name" style={{ minWidth: roomOf(nameOf(node)) }}>
          {nameOf(node)}
        </span>
      )}
      <span className="node-id">#{node.id}</span>
      {node.inverse && <span className="tag">{say('trace.inverted')}</span>}
      {nodeTrace?.instead && <span className="tag">{say(`trace.${nodeTrace.instead}`)}</span>}
      {node.timeWindow.type !== 'always' && (
        <span className="tag" title={say('trace.timed')}>
          <Icon name="clock" size={12} />
        </span>
      )}
    </>
  );
}

/** The text beside a node. An error that came up from below is shown where it began. */
type AccessesProps = { occurrence: Occurrence; nodeTrace: NodeTrace; nodeTraces: ReadonlyMap<Occurrence, NodeTrace> };

function Accesses({ occurrence, nodeTrace, nodeTraces }: AccessesProps) {
  const { say } = useText();
  const failedBelow = childThatFailed(occurrence, nodeTraces) !== null;
  const words = [
    ...(nodeTrace.outcome === 'REJECTED' ? [say('outcome.REJECTED.hint')] : []),
    ...(nodeTrace.outcome === 'OUT_OF_TIME' ? [say('outcome.OUT_OF_TIME.hint')] : []),
    ...(nodeTrace.outcome === 'LEFT_OUT' ? [nodeTrace.error ?? say('outcome.hint.LEFT_OUT')] : []),
    ...(isPassedOn(occurrence, nodeTrace) ? [say('trace.passedOn')] : []),
    ...(nodeTrace.late ? [say('trace.late')] : []),
    ...(nodeTrace.error !== null && nodeTrace.outcome !== 'LEFT_OUT' && !failedBelow ? [nodeTrace.error] : []),
  ];
  const facts = factsOf(occurrence, nodeTrace, null);
  const accesses = [
    ...nodeTrace.reads.map((read) => readWords(read, say)),
    ...(isLeaf(occurrence.node) ? facts.settings.map((setting) => settingWords(setting, say)) : []),
    ...nodeTrace.writes.flatMap(({ key, after }) =>
      after ? [say('trace.wrote', { key, value: shortened(compactJson(after)) })] : [],
    ),
  ];
  return (
    <>
      {words.length > 0 && (
        <span className={nodeTrace.outcome === 'ERROR' ? 'skip failed' : 'skip'}>{words.join(' · ')}</span>
      )}
      {accesses.length > 0 && <code className="accesses">{accesses.join(' · ')}</code>}
    </>
  );
}

/** Result leaves do something; flow leaves ask something; the others do neither. */
function leafIcon({ type }: TreeNode): IconName {
  if (type === 'LeafResult') return 'bolt';
  return type === 'LeafFlow' ? 'test' : 'dot';
}

const LETTERS_KEPT = 10;
let pen: CanvasRenderingContext2D | null = null;

/** The room that a name keeps at any depth: its first letters, as wide as they are. */
function roomOf(name: string): string {
  if (pen === null) {
    pen = document.createElement('canvas').getContext('2d');
    const { fontSize, fontFamily } = getComputedStyle(document.documentElement);
    if (pen) pen.font = `500 ${fontSize} ${fontFamily}`;
  }
  return `${Math.ceil(pen?.measureText([...name].slice(0, LETTERS_KEPT).join('')).width ?? 0)}px`;
}

function namesAbove({ parent }: Occurrence): string {
  const names: string[] = [];
  for (let above = parent; above; above = above.parent) names.unshift(`${nameOf(above.node)} #${above.node.id}`);
  return names.join(' › ');
}
