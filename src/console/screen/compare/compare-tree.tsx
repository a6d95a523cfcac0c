import { useMemo, useRef, useState } from 'react';
import type { Reading } from '../../run/reading.ts';
import { useText } from '../../text/use-text.tsx';
import { differingNodes } from '../../trace/compare.ts';
import type { Mark } from '../../trace/mark.ts';
import { isLeaf, nameOf, type Occurrence } from '../../trace/tree.ts';
import { OutcomeChip } from '../../ui/outcome-chip.tsx';
import { useWindowedRows } from '../../ui/windowed-rows.ts';

const ROW_HEIGHT = 30;

type Props = { occurrences: readonly Occurrence[]; a: Reading; b: Reading };

/** Two ways through one tree, node by node. */
export function CompareTree({ occurrences, a, b }: Props) {
  const { say } = useText();
  const box = useRef<HTMLDivElement>(null);
  const differing = useMemo(() => differingNodes(a, b), [a, b]);
  const [onlyDiffering, setOnlyDiffering] = useState(false);
  const rows = useMemo(
    () =>
      onlyDiffering && differing.size > 0 ? occurrences.filter((occurrence) => differing.has(occurrence)) : occurrences,
    [occurrences, differing, onlyDiffering],
  );
  const { first, last, above, total } = useWindowedRows(box, { count: rows.length, rowHeight: ROW_HEIGHT });
  if (occurrences.length === 0) return null;
  return (
    <div className="compare-tree">
      <div className="trace-tools">
        <h3>{say('compare.trace')}</h3>
        <span className="muted">
          {differing.size === 0 ? say('compare.sameTrace') : say('compare.nodesDiffer', { n: differing.size })}
        </span>
        <label className="switch">
          <input type="checkbox" checked={onlyDiffering} onChange={({ target }) => setOnlyDiffering(target.checked)} />
          {say('compare.onlyDiffering')}
        </label>
      </div>
      <div
        className="tree"
        role="table"
        ref={box}
        tabIndex={0}
        aria-label={say('compare.trace')}
        aria-rowcount={rows.length + 1}
      >
        <div role="rowgroup" className="tree-head">
          <div role="row" aria-rowindex={1}>
            <span role="columnheader">{say('trace.column.node')}</span>
            <span role="columnheader">A</span>
            <span role="columnheader">B</span>
          </div>
        </div>
        <div role="rowgroup" style={{ height: total, paddingTop: above }}>
          {rows.slice(first, last).map((occurrence, index) => (
            <div
              role="row"
              key={occurrence.index}
              aria-rowindex={first + index + 2}
              className={differing.has(occurrence) ? 'tree-row differs' : 'tree-row'}
            >
              <div role="cell" className="tree-node" style={{ paddingInlineStart: `${occurrence.depth * 14 + 16}px` }}>
                {!isLeaf(occurrence.node) && <span className="tag relation">{occurrence.node.type.toUpperCase()}</span>}
                {(isLeaf(occurrence.node) || occurrence.node.label !== null) && (
                  <span className="node-name">{nameOf(occurrence.node)}</span>
                )}
                <span className="node-id">#{occurrence.node.id}</span>
              </div>
              <Cell mark={a.replay.marks.get(occurrence)} />
              <Cell mark={b.replay.marks.get(occurrence)} />
            </div>
          ))}
        </div>
      </div>
    </div>
  );
}

function Cell({ mark }: { mark: Mark | undefined }) {
  const { say } = useText();
  return (
    <div role="cell" className="tree-result">
      {mark ? <OutcomeChip outcome={mark.outcome} /> : <small>{say('compare.notRun')}</small>}
    </div>
  );
}
