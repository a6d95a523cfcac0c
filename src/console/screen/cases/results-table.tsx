import { type KeyboardEvent, memo, useEffect, useId, useRef, useState } from 'react';
import { type CaseRow, type Cell, changeOf } from '../../cases/case-rows.ts';
import { formatMs } from '../../text/durations.ts';
import { useText } from '../../text/use-text.tsx';
import { reveal, useWindowedRows } from '../../ui/windowed-rows.ts';
import { targetWords } from '../input/target-words.ts';
import { OutcomeWord, VerdictChip } from './verdict-chip.tsx';

const ROW_HEIGHT = 30;
const HEAD_HEIGHT = 26;

/** Which cell was pressed: a case on a target, or the case as such where it has not been run. */
export type Pressed = { row: CaseRow; cell: Cell | null };

type Props = {
  rows: readonly CaseRow[];
  targets: readonly string[];
  /** The cell that is open, by its batch and number; or a case by its name. */
  open: { batchId: string | null; n: number | null; name: string | null };
  nothing: string;
  onOpen: (pressed: Pressed) => void;
};

type Position = { row: number; column: number };

/** Cases with a column for each target (ARIA APG, grid). Arrow keys go from cell to cell, Enter opens; draws only what is seen. */
export function ResultsTable({ rows, targets, open, nothing, onOpen }: Props) {
  const { say } = useText();
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState<Position>({ row: 0, column: 0 });
  const { first, last, above, total } = useWindowedRows(box, { count: rows.length, rowHeight: ROW_HEIGHT });
  const row = Math.min(active.row, rows.length - 1);
  useEffect(() => {
    reveal(box.current, active.row, { rowHeight: ROW_HEIGHT, head: HEAD_HEIGHT });
  }, [active]);

  const go = (to: Position) =>
    setActive({
      row: Math.max(0, Math.min(rows.length - 1, to.row)),
      column: Math.max(0, Math.min(targets.length, to.column)),
    });
  const onKeyDown = (event: KeyboardEvent) => {
    const page = Math.max(1, Math.floor((box.current?.clientHeight ?? 300) / ROW_HEIGHT) - 2);
    const { column } = active;
    const act: Record<string, () => void> = {
      ArrowDown: () => go({ row: row + 1, column }),
      ArrowUp: () => go({ row: row - 1, column }),
      ArrowRight: () => go({ row, column: column + 1 }),
      ArrowLeft: () => go({ row, column: column - 1 }),
      PageDown: () => go({ row: row + page, column }),
      PageUp: () => go({ row: row - page, column }),
      Home: () => go({ row: 0, column }),
      End: () => go({ row: rows.length - 1, column }),
      Enter: () => press(row, column),
      ' ': () => press(row, column),
    };
    const action = act[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    action();
  };
  const press = (at: number, column: number) => {
    const pressed = rows[at];
    if (!pressed) return;
    setActive({ row: at, column });
    onOpen({ row: pressed, cell: pressed.cells[Math.max(0, column - 1)] ?? pressed.cells.find(Boolean) ?? null });
  };

  const grid = { gridTemplateColumns: `minmax(190px, 2fr) repeat(${targets.length}, minmax(150px, 1fr))` };
  return (
    <div
      className="results"
      role="grid"
      ref={box}
      tabIndex={0}
      aria-label={say('cases.table')}
      aria-rowcount={rows.length + 1}
      aria-colcount={targets.length + 1}
      aria-activedescendant={rows.length > 0 ? `${id}-${row}-${active.column}` : undefined}
      onKeyDown={onKeyDown}
    >
      <div role="rowgroup" className="results-head">
        <div role="row" aria-rowindex={1} className="results-row" style={grid}>
          <span role="columnheader">{say('cases.column.name')}</span>
          {targets.map((target) => (
            <span role="columnheader" key={target}>
              {targetWords(target, say)}
            </span>
          ))}
        </div>
      </div>
      <div role="rowgroup" style={{ height: total, paddingTop: above }}>
        {rows.slice(first, last).map((shown, index) => (
          <ResultRow
            key={`${shown.place} ${shown.name}`}
            id={`${id}-${first + index}`}
            at={first + index}
            row={shown}
            grid={grid.gridTemplateColumns}
            active={first + index === row ? active.column : null}
            open={isOpen(shown, open)}
            onPress={press}
          />
        ))}
      </div>
      {rows.length === 0 && <p className="nothing">{nothing}</p>}
    </div>
  );
}

function isOpen(row: CaseRow, open: Props['open']): boolean {
  if (open.n === null) return open.name === row.name;
  return row.cells.some((cell) => cell?.batchId === open.batchId && cell?.item.n === open.n);
}

type RowProps = {
  id: string;
  at: number;
  row: CaseRow;
  grid: string;
  active: number | null;
  open: boolean;
  onPress: (at: number, column: number) => void;
};

const ResultRow = memo(
  function ResultRow({ id, at, row, grid, active, open, onPress }: RowProps) {
    const { say } = useText();
    return (
      <div
        role="row"
        aria-rowindex={at + 2}
        aria-selected={open}
        className={`results-row${open ? ' open' : ''}${active === null ? '' : ' active'}`}
        style={{ gridTemplateColumns: grid }}
      >
        <div
          role="gridcell"
          id={`${id}-0`}
          className={active === 0 ? 'case-name active-cell' : 'case-name'}
          title={row.name}
          onClick={() => onPress(at, 0)}
        >
          <span>{row.name}</span>
          {row.differs && <span className="tag condition">{say('cases.differs')}</span>}
        </div>
        {row.cells.map((cell, index) => (
          <div
            role="gridcell"
            // biome-ignore lint/suspicious/noArrayIndexKey: one cell for each target, which never change places
            key={index}
            id={`${id}-${index + 1}`}
            className={active === index + 1 ? 'active-cell' : ''}
            title={cell?.item.error ?? undefined}
            onClick={() => onPress(at, index + 1)}
          >
            <CellWords cell={cell} before={row.before[index] ?? null} />
          </div>
        ))}
      </div>
    );
  },
  // The callback is made anew with every drawing and does the same.
  (a, b) => a.row === b.row && a.at === b.at && a.active === b.active && a.open === b.open && a.grid === b.grid,
);

function CellWords({ cell, before }: { cell: Cell | null; before: CaseRow['before'][number] }) {
  const { say } = useText();
  if (cell === null) return <small>{say('verdict.notRun')}</small>;
  const { item } = cell;
  const change = changeOf(item.verdict, before);
  return (
    <>
      <VerdictChip verdict={item.verdict} />
      <OutcomeWord item={item} />
      {change !== null && change !== 'added' && before !== null && (
        <small className={change}>{say('cases.was', { verdict: say(`verdict.${before}`) })}</small>
      )}
      <small className="cell-error">{item.error ?? ''}</small>
      {item.tookMs !== null && <small className="took">{formatMs(item.tookMs)}</small>}
    </>
  );
}
