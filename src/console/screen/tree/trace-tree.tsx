import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from 'react';
import type { NodeTrace } from '../../../shared/reasoning/trace/node-trace.ts';
import { isLeaf, type Occurrence } from '../../../shared/reasoning/tree.ts';
import type { Reading } from '../../run/reading.ts';
import { useText } from '../../text/use-text.tsx';
import { visibleRows } from '../../trace/visible-rows.ts';
import { Button } from '../../ui/button.tsx';
import { Icon, IconButton } from '../../ui/icon.tsx';
import { doFor } from '../../ui/keys.ts';
import { reveal, useWindowedRows } from '../../ui/windowed-rows.ts';
import { command, onCommand } from '../frame/commands.ts';
import { TraceRow } from './trace-row.tsx';

const ROW_HEIGHT = 28;
const HEAD_HEIGHT = 28;
/** The node that decided has a second line for what it read. */
const DECIDER_HEIGHT = 52;
/** A larger tree begins closed below its second level. */
const OPEN_AT_FIRST = 200;

type Props = {
  occurrences: readonly Occurrence[];
  /** The ids of the nodes that have edits which are not released yet. */
  edited?: ReadonlySet<string>;
  reading: Reading | null;
  /** Whether the reading is of the run before the one on its way. */
  stale: boolean;
  chosen: Occurrence | null;
  onChoose: (occurrence: Occurrence, how: 'pass' | 'press') => void;
};

const noTraces: ReadonlyMap<Occurrence, NodeTrace> = new Map();

/** The rule's tree with what the trace says about each place (ARIA APG, treegrid). Draws only the rows that are seen. */
export function TraceTree({ occurrences, edited, reading, stale, chosen, onChoose }: Props) {
  const { say } = useText();
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const [collapsed, setCollapsed] = useState<ReadonlySet<number>>(new Set());
  const [shown, setShown] = useState<ShownNodes>('all');
  const [search, setSearch] = useState('');
  const nodeTraces = reading?.replay.nodeTraces ?? noTraces;
  const deciding = useMemo(() => new Set(reading?.why.map(({ at }) => at)), [reading]);
  const decider = reading?.why.at(-1)?.at ?? null;
  useEffect(() => setCollapsed(closedAtFirst(occurrences)), [occurrences]);
  const rows = useMemo(() => {
    const only = shown === 'path' && deciding.size > 0 ? deciding : null;
    const executedOnly = shown === 'ran' && nodeTraces.size > 0;
    return visibleRows(occurrences, { collapsed, executedOnly, only, search, nodeTraces });
  }, [occurrences, collapsed, shown, deciding, search, nodeTraces]);
  const found = rows.flatMap((row, index) => (row.found ? [index] : []));
  // A node that only passes on what is below it has read nothing.
  const tall = useMemo(() => {
    const hasFacts = decider !== null && isLeaf(decider.node);
    return { row: hasFacts ? rows.findIndex(({ occurrence }) => occurrence === decider) : -1, height: DECIDER_HEIGHT };
  }, [decider, rows]);
  const { first, last, above, total } = useWindowedRows(box, {
    count: rows.length,
    rowHeight: ROW_HEIGHT,
    tall,
  });
  const active = rows.findIndex(({ occurrence }) => occurrence === chosen);

  // After a run the node that decided is seen: what leads to it is opened, and it is scrolled to.
  const [toDecider, setToDecider] = useState<Occurrence | null>(null);
  useEffect(() => {
    if (stale || decider === null) return;
    setCollapsed((now) => withoutAncestors(now, decider));
    setToDecider(decider);
  }, [decider, stale]);
  useEffect(() => {
    const row = toDecider === null ? -1 : rows.findIndex(({ occurrence }) => occurrence === toDecider);
    if (row < 0) return;
    reveal(box.current, row, { rowHeight: ROW_HEIGHT, head: HEAD_HEIGHT, tall });
    setToDecider(null);
  }, [toDecider, rows, tall]);

  // A node that was chosen elsewhere is seen as well.
  useEffect(() => {
    if (chosen) setCollapsed((now) => withoutAncestors(now, chosen));
  }, [chosen]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another choice scrolls, not rows that open or close
  useEffect(() => {
    if (active >= 0) reveal(box.current, active, { rowHeight: ROW_HEIGHT, head: HEAD_HEIGHT, tall });
  }, [active]);

  const toggle = (occurrence: Occurrence, open: boolean) => {
    const next = new Set(collapsed);
    if (open) next.delete(occurrence.index);
    else next.add(occurrence.index);
    setCollapsed(next);
  };
  const go = (to: number, how: 'pass' | 'press' = 'pass') => {
    const row = rows[Math.max(0, Math.min(rows.length - 1, to))];
    if (row) onChoose(row.occurrence, how);
  };

  const onKeyDown = (event: KeyboardEvent) => {
    const row = rows[active];
    const page = Math.max(1, Math.floor((box.current?.clientHeight ?? 300) / ROW_HEIGHT) - 1);
    doFor(event, {
      ArrowDown: () => go(active + 1),
      ArrowUp: () => go(active < 0 ? 0 : active - 1),
      Home: () => go(0),
      End: () => go(rows.length - 1),
      PageDown: () => go(active + page),
      PageUp: () => go(active - page),
      ArrowRight: () => (row?.open === false ? toggle(row.occurrence, true) : row?.open && go(active + 1)),
      ArrowLeft: () =>
        row?.open ? toggle(row.occurrence, false) : row?.occurrence.parent && onChoose(row.occurrence.parent, 'pass'),
      Enter: () => go(active, 'press'),
      ' ': () => go(active, 'press'),
    });
  };

  return (
    <section className={stale ? 'trace fill stale' : 'trace fill'} aria-label={say('trace.label')}>
      <TraceTools
        search={search}
        onSearch={setSearch}
        found={found.length}
        shown={shown}
        onShown={setShown}
        onOpenAll={() => setCollapsed(new Set())}
        onCloseAll={() =>
          setCollapsed(
            new Set(
              occurrences
                .filter(({ size }) => size > 1)
                .map(({ index }) => index)
                .slice(1),
            ),
          )
        }
        onMove={(step) => go(active + step)}
        onNext={() => go(found.find((row) => row > active) ?? found[0] ?? -1, 'press')}
      />
      <div
        className="tree"
        role="treegrid"
        ref={box}
        tabIndex={0}
        aria-label={say('trace.label')}
        aria-rowcount={rows.length + 1}
        aria-activedescendant={active >= first && active < last ? `${id}-${rows[active]?.occurrence.index}` : undefined}
        onKeyDown={onKeyDown}
        onFocus={() => chosen === null && go(0)}
      >
        <TreeHead />
        <div role="rowgroup" style={{ height: total, paddingTop: above }}>
          {rows.slice(first, last).map((row, index) => (
            <TraceRow
              key={row.occurrence.index}
              id={`${id}-${row.occurrence.index}`}
              row={row}
              rowIndex={first + index + 2}
              nodeTraces={nodeTraces}
              drawn={reading !== null}
              deciding={deciding.has(row.occurrence)}
              decider={row.occurrence === decider}
              tall={first + index === tall.row}
              edited={edited?.has(row.occurrence.node.id) ?? false}
              active={row.occurrence === chosen}
              onToggle={(open) => toggle(row.occurrence, open)}
              onPress={() => onChoose(row.occurrence, 'press')}
            />
          ))}
        </div>
      </div>
      {rows.length === 0 && (
        <p className="nothing">
          {search === '' ? say('trace.executedOnly.none') : say('trace.search.none', { text: search })}
        </p>
      )}
    </section>
  );
}

function TreeHead() {
  const { say } = useText();
  return (
    <div role="rowgroup" className="tree-head">
      <div role="row" aria-rowindex={1}>
        <span role="columnheader">{say('details.node')}</span>
        <span role="columnheader">{say('nav.result')}</span>
        <span role="columnheader">{say('trace.column.time')}</span>
      </div>
    </div>
  );
}

function withoutAncestors(collapsed: ReadonlySet<number>, { parent }: Occurrence): ReadonlySet<number> {
  const next = new Set(collapsed);
  for (let above = parent; above; above = above.parent) next.delete(above.index);
  return next.size === collapsed.size ? collapsed : next;
}

function closedAtFirst(occurrences: readonly Occurrence[]): Set<number> {
  if (occurrences.length <= OPEN_AT_FIRST) return new Set();
  return new Set(occurrences.filter(({ depth, size }) => depth >= 2 && size > 1).map(({ index }) => index));
}

const shownNodes = ['all', 'ran', 'path'] as const;
type ShownNodes = (typeof shownNodes)[number];

type TraceToolsProps = {
  search: string;
  onSearch: (text: string) => void;
  /** How many nodes match the search. */
  found: number;
  shown: ShownNodes;
  onShown: (shown: ShownNodes) => void;
  onOpenAll: () => void;
  onCloseAll: () => void;
  onMove: (step: 1 | -1) => void;
  /** Goes to the next node that matches. */
  onNext: () => void;
};

function TraceTools(props: TraceToolsProps) {
  const { search, onSearch, found, shown, onShown, onOpenAll, onCloseAll, onMove, onNext } = props;
  const { say } = useText();
  useEffect(
    () =>
      onCommand((command) => {
        if (command === 'executed') onShown(shown === 'ran' ? 'all' : 'ran');
        if (command === 'next') onMove(1);
        if (command === 'previous') onMove(-1);
      }),
    [shown, onShown, onMove],
  );
  return (
    <div className="trace-tools line wrap">
      <div className="search">
        <Icon name="search" size={14} />
        <input
          type="search"
          aria-label={say('keys.search')}
          placeholder={say('keys.search')}
          value={search}
          onChange={({ target }) => onSearch(target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter') return onNext();
            if (event.key !== 'Escape') return;
            event.stopPropagation();
            onSearch('');
            event.currentTarget.blur();
          }}
        />
        <kbd>/</kbd>
        <small role="status">{search !== '' && say('trace.search.found', { n: found })}</small>
      </div>
      <div className="choices" role="group" aria-label={say('trace.shown')}>
        {shownNodes.map((name) => (
          <Button
            label={say(`trace.shown.${name}`)}
            className=""
            key={name}
            aria-pressed={shown === name}
            title={say(`trace.shown.${name}.hint`)}
            onPress={() => onShown(name)}
          />
        ))}
      </div>
      <IconButton icon="plus" label={say('trace.expandAll')} onPress={onOpenAll} />
      <IconButton icon="minus" label={say('trace.collapseAll')} onPress={onCloseAll} />
      <IconButton icon="info" label={say('legend.title')} onPress={() => command('help')} />
    </div>
  );
}
