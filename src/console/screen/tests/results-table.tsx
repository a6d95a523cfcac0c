import { type KeyboardEvent, memo, useEffect, useId, useMemo, useRef, useState } from 'react';
import { differenceIn } from '../../../shared/conclusions/words.ts';
import { nameOf, type Occurrence } from '../../../shared/reasoning/tree.ts';
import type { Difference } from '../../api/batch-items.ts';
import type { Batch } from '../../api/batches.ts';
import {
  type Answer,
  type answersOf,
  type CaseRow,
  type Cell,
  changeOf,
  columnValues,
  type decidingNodes,
  orders,
  type RowFilter,
} from '../../cases/case-rows.ts';
import { goTo, type Place } from '../../state/location.ts';
import { formatMs } from '../../text/durations.ts';
import { failureOfRemark } from '../../text/remarks.ts';
import { type Say, useText } from '../../text/use-text.tsx';
import { Button } from '../../ui/button.tsx';
import { Check } from '../../ui/check.tsx';
import { doFor } from '../../ui/keys.ts';
import { OutcomeChip } from '../../ui/outcome-chip.tsx';
import { PlaceLink } from '../../ui/place-link.tsx';
import { Select } from '../../ui/select.tsx';
import { decidedWords, OutcomeWord, VerdictChip, verdictLooks } from '../../ui/verdict-chip.tsx';
import { reveal, useIsNarrow, useWindowedRows } from '../../ui/windowed-rows.ts';
import { targetWords } from '../input/target.tsx';

const MAX_LINES = 3;
/** Rows have a second line when the words of some cell may not fit into one; `FITS`: letters in the cells of a row. */
const [LOW, TALL, FITS] = [28, 44, 72];
const HEAD_HEIGHT = 28;

/** Which cell was pressed: a case on a target, or the case as such where it has not been run. */
export type Pressed = { row: CaseRow; cell: Cell | null };

type Props = {
  rows: readonly CaseRow[];
  targets: readonly string[];
  /** Keys of the input that have a column. */
  columns: readonly string[];
  /** The cell that is open, by its batch and number; or a case by its name. */
  open: { batchId: string | null; n: number | null; name: string | null };
  nothing: string;
  onOpen: (pressed: Pressed) => void;
};

/** A run made again is named by the first digits of its id; all of them are its tooltip. */
const RUN_ID = /^[0-9a-f]{8}-[0-9a-f-]{27}$/;

const none: readonly string[] = [];

type Position = { row: number; column: number };

/** Cases with columns for their input and one for each target (ARIA APG, grid). Arrow keys go from cell to cell, Enter opens; draws only what is seen. */
export function ResultsTable({ rows, targets, open, nothing, onOpen, ...props }: Props) {
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState<Position>({ row: 0, column: 0 });
  const { say, ofService } = useText();
  const columns = useIsNarrow() ? none : props.columns;
  const isTall = useMemo(
    () =>
      rows.some(({ cells }) =>
        cells.some((cell) => cell !== null && whyOf(cell, { say, ofService }).length * targets.length > FITS),
      ),
    [rows, targets.length, say, ofService],
  );
  const rowHeight = isTall ? TALL : LOW;
  const { first, last, above, total } = useWindowedRows(box, { count: rows.length, rowHeight });
  const row = Math.min(active.row, rows.length - 1);
  const lastColumn = columns.length + targets.length;
  useEffect(() => {
    reveal(box.current, active.row, { rowHeight, head: HEAD_HEIGHT });
  }, [active, rowHeight]);

  const go = (to: Position) =>
    setActive({
      row: Math.max(0, Math.min(rows.length - 1, to.row)),
      column: Math.max(0, Math.min(lastColumn, to.column)),
    });
  const onKeyDown = (event: KeyboardEvent) => {
    const page = Math.max(1, Math.floor((box.current?.clientHeight ?? 300) / rowHeight) - 2);
    const { column } = active;
    doFor(event, {
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
    });
  };
  const press = (at: number, column: number) => {
    const pressed = rows[at];
    if (!pressed) return;
    setActive({ row: at, column });
    const target = Math.max(0, column - 1 - columns.length);
    onOpen({ row: pressed, cell: pressed.cells[target] ?? pressed.cells.find(Boolean) ?? null });
  };

  const grid = gridOf(columns.length, targets.length);
  return (
    <div
      className={isTall ? 'results tall' : 'results'}
      role="grid"
      ref={box}
      tabIndex={0}
      aria-label={say('cases.table')}
      aria-rowcount={rows.length + 1}
      aria-colcount={lastColumn + 1}
      aria-activedescendant={rows.length > 0 ? `${id}-${row}-${active.column}` : undefined}
      onKeyDown={onKeyDown}
    >
      <div role="rowgroup" className="results-head">
        <div role="row" aria-rowindex={1} className="results-row" style={grid}>
          <span role="columnheader">{say('cases.column.name')}</span>
          {columns.map((key) => (
            <span role="columnheader" key={key} className="input-key" title={key}>
              {key}
            </span>
          ))}
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
            columns={columns}
            grid={grid}
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

/** Every row has the same columns, however long what stands in it is. */
function gridOf(columns: number, targets: number) {
  const [name, input, target] = columns === 0 ? [110, 0, 250] : [150, 90, 260];
  const forInput = columns === 0 ? '' : `repeat(${columns}, minmax(${input}px, 0.4fr))`;
  const forTargets = targets === 0 ? '' : `repeat(${targets}, minmax(${target}px, 2fr))`;
  return {
    gridTemplateColumns: `minmax(${name}px, 1fr) ${forInput} ${forTargets}`,
    minWidth: name + columns * input + targets * target,
  };
}

function isOpen(row: CaseRow, open: Props['open']): boolean {
  if (open.n === null) return open.name === row.name;
  return row.cells.some((cell) => cell?.batchId === open.batchId && cell?.item.n === open.n);
}

type RowProps = {
  id: string;
  at: number;
  row: CaseRow;
  columns: readonly string[];
  grid: ReturnType<typeof gridOf>;
  active: number | null;
  open: boolean;
  onPress: (at: number, column: number) => void;
};

const ResultRow = memo(
  function ResultRow({ id, at, row, columns, grid, active, open, onPress }: RowProps) {
    const { say, ofService } = useText();
    const cellAt = (column: number, className: string) => ({
      role: 'gridcell',
      id: `${id}-${column}`,
      className: active === column ? `${className} active-cell` : className,
      onClick: () => onPress(at, column),
    });
    return (
      <div
        role="row"
        aria-rowindex={at + 2}
        aria-selected={open}
        className={`results-row${open ? ' open' : ''}${active === null ? '' : ' active'}`}
        style={grid}
      >
        <div {...cellAt(0, 'case-name')} title={row.name}>
          <span>{RUN_ID.test(row.name) ? row.name.slice(0, 8) : row.name}</span>
        </div>
        {columnValues(row, columns).map((value, index) => (
          <div key={columns[index]} {...cellAt(index + 1, 'input-value')} title={value}>
            {value}
          </div>
        ))}
        {row.cells.map((cell, index) => (
          <div
            // biome-ignore lint/suspicious/noArrayIndexKey: one cell for each target, which never change places
            key={index}
            {...cellAt(columns.length + index + 1, 'result-cell')}
            title={cell === null ? undefined : whyOf(cell, { say, ofService })}
          >
            <CellWords cell={cell} before={row.before[index] ?? null} />
          </div>
        ))}
      </div>
    );
  },
  // The callback is made anew with every drawing and does the same.
  (a, b) =>
    a.row === b.row &&
    a.at === b.at &&
    a.active === b.active &&
    a.open === b.open &&
    a.columns.join('\n') === b.columns.join('\n') &&
    a.grid.minWidth === b.grid.minWidth,
);

function whyOf({ item }: Cell, { say, ofService }: Pick<ReturnType<typeof useText>, 'say' | 'ofService'>): string {
  const { error, differences, notChecked, outcome, decidedBy } = item;
  if (error !== null) return ofService(error);
  if (differences.length > 0) {
    const more = differences.length - MAX_LINES;
    const words = {
      what: (how: Difference['how']) => ofService(failureOfRemark(how)),
      expected: (value: string) => say('difference.expected', { value }),
      found: (value: string) => say('difference.found', { value }),
    };
    const lines = differences
      .slice(0, MAX_LINES)
      .map((one) => differenceIn(words, one))
      .join(', ');
    return more > 0 ? `${lines}. ${say('compare.more', { n: more })}` : lines;
  }
  const [unchecked] = notChecked;
  if (unchecked) {
    const nodes = unchecked.nodes.map((id) => `#${id}`).join(', ');
    return say(`cases.notChecked.${unchecked.why}`, { nodes });
  }
  return decidedWords(outcome, decidedBy, say);
}

function CellWords({ cell, before }: { cell: Cell | null; before: CaseRow['before'][number] }) {
  const { say, ofService } = useText();
  if (cell === null) return <small>{say('compare.notRun')}</small>;
  const { item } = cell;
  const change = changeOf(item.verdict, before);
  return (
    <>
      {item.verdict === 'ran' && item.outcome !== null ? (
        <OutcomeChip outcome={item.outcome} />
      ) : (
        <>
          <VerdictChip verdict={item.verdict} />
          <OutcomeWord item={item} />
        </>
      )}
      {change !== null && change !== 'added' && before !== null && (
        <small className={change}>{say('cases.was', { verdict: say(`verdict.${before}`) })}</small>
      )}
      <small className="cell-error">
        <span className="clamped">{whyOf(cell, { say, ofService })}</span>
      </small>
      {item.tookMs !== null && <small className="took">{formatMs(item.tookMs)}</small>}
    </>
  );
}

type Filtering = { filter: RowFilter; onFilter: (filter: RowFilter) => void };
type AnswerProps = Filtering & {
  place: Place;
  batch: Batch | null;
  answers: ReturnType<typeof answersOf>;
  occurrences: readonly Occurrence[];
};

/** The answer of a batch: how many runs came to what, with their share; pressed, only those are shown. */
export function Answers({ place, batch, answers, occurrences, filter, onFilter }: AnswerProps) {
  const { say } = useText();
  const all = answers.reduce((sum, { runs }) => sum + runs, 0);
  const chosen = answers.find(({ id }) => id === filter.answer)?.pair ?? null;
  if (all === 0) return null;
  return (
    <div className="answers wrap" role="group" aria-label={say('cases.answers')}>
      {answers.map(({ runs, ...answer }) => (
        <Button
          key={answer.id}
          className="answer"
          aria-pressed={filter.answer === answer.id}
          title={answer.what.join('\n') || undefined}
          onPress={() => onFilter({ ...filter, answer: filter.answer === answer.id ? null : answer.id })}
        >
          <span className={`chip ${looksOf(answer)}`}>{answerWords(answer, { say, occurrences })}</span> <b>{runs}</b>{' '}
          <small>{share(runs, all)}</small>
        </Button>
      ))}
      {chosen !== null && (
        <PlaceLink className="button" to={{ run: null, runs: [...chosen] }}>
          {say('cases.compareOne')}
        </PlaceLink>
      )}
      {batch && <Check label={say('coverage.button')} checked={place.nodes} onCheck={(nodes) => goTo({ nodes })} />}
    </div>
  );
}

const looksOf = ({ verdict, now }: Answer) => {
  if (now !== null) return now === 'TRUE' ? 'true' : 'none';
  return verdict === 'not-run' ? 'none' : verdictLooks[verdict];
};

type Words = { say: Say; occurrences: readonly Occurrence[] };

function answerWords({ verdict, now, what, at }: Answer, { say, occurrences }: Words): string {
  if (now !== null) return say(`outcome.${now}`);
  if (verdict === 'not-run') return say('compare.notRun');
  // A trace has the class of a node; the tree knows what it is called.
  const known = occurrences.find(({ node }) => node.id === at?.id);
  const where = at === null ? '' : say('cases.changeAt', { name: known ? nameOf(known.node) : at.name, id: at.id });
  return verdict === 'changed' ? [changeInShort(what), where].filter(Boolean).join(' ') : say(`verdict.${verdict}`);
}

/** Of another outcome all other changes are consequences: it stands alone. */
function changeInShort(what: readonly string[]): string {
  const outcome = what.find((line) => line.startsWith(OUTCOME));
  if (outcome !== undefined) return outcome.slice(OUTCOME.length);
  return what.length > MAX_CHANGES ? `${what.slice(0, MAX_CHANGES).join(', ')} …` : what.join(', ');
}

const OUTCOME = 'outcome ';
const MAX_CHANGES = 2;

const share = (n: number, all: number) =>
  `${n === all ? 100 : Math.max(n * 1000 < all ? 0.1 : 1, Math.min(99, Math.round((n * 100) / all)))} %`;

type FilterProps = Filtering & {
  found: number;
  all: number;
  nodes: ReturnType<typeof decidingNodes>;
};

/** Which rows are shown beside the chosen answer, and in which order. */
export function ResultFilters({ filter, onFilter, found, all, nodes }: FilterProps) {
  const { say } = useText();
  return (
    <div className="results-tools wrap" role="search" aria-label={say('cases.filter')}>
      <input
        type="search"
        aria-label={say('cases.filter.text')}
        placeholder={say('cases.filter.text')}
        value={filter.text}
        onChange={({ target }) => onFilter({ ...filter, text: target.value })}
      />
      {nodes.length > 0 && (
        <Select
          aria-label={say('cases.filter.decidedBy')}
          value={filter.decidedBy ?? ''}
          options={[
            ['', say('cases.filter.anyNode')],
            ...nodes.map(({ id, name, runs }) => [id, say('cases.filter.nodeRuns', { id, name, n: runs })] as const),
          ]}
          onChoose={(id) => onFilter({ ...filter, decidedBy: id || null })}
        />
      )}
      <Select
        aria-label={say('cases.order')}
        value={filter.order}
        options={orders.map((name) => [name, say(`cases.order.${name}`)])}
        onChoose={(order) => onFilter({ ...filter, order })}
      />
      <span className="muted" role="status">
        {found === all ? say('cases.count', { n: all }) : say('cases.found', { found, n: all })}
      </span>
    </div>
  );
}
