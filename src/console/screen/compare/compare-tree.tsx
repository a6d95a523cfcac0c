import { useMemo, useRef, useState } from 'react';
import { compactJson } from '../../../shared/json-tree/print-json.ts';
import { isPassedOn } from '../../../shared/reasoning/constant.ts';
import type { Mark } from '../../../shared/reasoning/trace/mark.ts';
import { isLeaf, nameOf, type Occurrence } from '../../../shared/reasoning/tree.ts';
import { readWords, shortened } from '../../../shared/reasoning/words/fact-words.ts';
import { type Parting, partingOf } from '../../run/compare.ts';
import type { Reading } from '../../run/reading.ts';
import { useText } from '../../text/use-text.tsx';
import { OutcomeChip } from '../../ui/outcome-chip.tsx';
import { useWindowedRows } from '../../ui/windowed-rows.ts';
import { relationWords } from '../tree/relation-words.ts';
import { MAX_GUIDES } from '../tree/trace-row.tsx';

const ROW_HEIGHT = 30;

/** One run as a column; `reading` null while it goes on. */
type Column = { mockId: string; name: string; about: string; reading: Reading | null };
type Props = { occurrences: readonly Occurrence[]; columns: readonly Column[]; base: Reading };

/** The results of every node in every run, beside each other. The first node at which they part is marked. */
export function CompareTree({ occurrences, columns, base }: Props) {
  const { say } = useText();
  const box = useRef<HTMLDivElement>(null);
  const parted = useMemo(() => columns.map(({ reading }) => reading && partingOf(base, reading)), [columns, base]);
  const differing = useMemo(() => new Set(parted.flatMap((run) => [...(run?.places ?? [])])), [parted]);
  const [onlyDiffering, setOnlyDiffering] = useState(false);
  const rows = onlyDiffering && differing.size > 0 ? occurrences.filter((place) => differing.has(place)) : occurrences;
  const seen = useWindowedRows(box, { count: rows.length, rowHeight: ROW_HEIGHT });
  if (occurrences.length === 0) return null;
  const grid = { gridTemplateColumns: `minmax(220px, 2fr) repeat(${columns.length}, minmax(130px, 1fr))` };
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
          <div role="row" aria-rowindex={1} style={grid}>
            <span role="columnheader">{say('trace.column.node')}</span>
            {columns.map(({ mockId, name, about }) => (
              <span role="columnheader" key={mockId} title={`${name} ${about}`}>
                {name}
              </span>
            ))}
          </div>
        </div>
        <div role="rowgroup" style={{ height: seen.total, paddingTop: seen.above }}>
          {rows.slice(seen.first, seen.last).map((occurrence, index) => (
            <div
              role="row"
              key={occurrence.index}
              aria-rowindex={seen.first + index + 2}
              className={differing.has(occurrence) ? 'tree-row differs' : 'tree-row'}
              style={grid}
            >
              <NodeCell
                occurrence={occurrence}
                passedOn={columns.some(({ reading }) => isPassedOn(occurrence, reading?.replay.marks.get(occurrence)))}
              />
              {columns.map(({ mockId, reading }, column) => (
                <Cell
                  key={mockId}
                  running={reading === null}
                  mark={reading?.replay.marks.get(occurrence)}
                  difference={differenceAt(occurrence, parted[column])}
                />
              ))}
            </div>
          ))}
        </div>
      </div>
    </div>
  );
}

function differenceAt(
  occurrence: Occurrence,
  parted: Parting | null | undefined,
): 'compare.first' | 'compare.follows' | null {
  if (!parted?.places.has(occurrence)) return null;
  return occurrence === parted.first ? 'compare.first' : 'compare.follows';
}

function NodeCell({ occurrence: { node, depth }, passedOn }: { occurrence: Occurrence; passedOn: boolean }) {
  const { say } = useText();
  return (
    <div role="cell" className="tree-node" style={{ paddingInlineStart: `${Math.min(depth, MAX_GUIDES) * 14 + 16}px` }}>
      {!isLeaf(node) && <span className="tag relation">{relationWords(node.type, say, passedOn)}</span>}
      {(isLeaf(node) || node.label !== null) && <span className="node-name">{nameOf(node)}</span>}
      <span className="node-id">#{node.id}</span>
    </div>
  );
}

type CellProps = { mark: Mark | undefined; running: boolean; difference: 'compare.first' | 'compare.follows' | null };

/** A node's result in one run, with the values it wrote and read. */
function Cell({ mark, running, difference }: CellProps) {
  const { say } = useText();
  if (running) return <div role="cell" className="tree-result" />;
  const writes = mark?.writes.flatMap(({ key, after }) =>
    after ? [say('trace.wrote', { key, value: shortened(compactJson(after)) })] : [],
  );
  const words = [...(writes ?? []), ...(mark?.reads.map((read) => readWords(read, say)) ?? [])].join(', ');
  const told = mark ? (mark.error ?? words) : '';
  return (
    <div role="cell" className="tree-result" title={[difference && say(difference), told].filter(Boolean).join(' · ')}>
      {mark ? <OutcomeChip outcome={mark.outcome} /> : <small>{say('compare.notRun')}</small>}{' '}
      {difference === 'compare.first' && <span className="tag condition">{say(difference)}</span>}
      {difference === 'compare.follows' && <small>{say(difference)}</small>} {told !== '' && <small>{told}</small>}
    </div>
  );
}
