import { useMemo, useRef, useState } from 'react';
import { isLeaf, nameOf, type Occurrence } from '../../../shared/reasoning/tree.ts';
import { changeOfKeyWords } from '../../../shared/reasoning/words/fact-words.ts';
import type { Batch } from '../../api/batches.ts';
import { findMissingCase } from '../../cases/missing-case.ts';
import { useCoverage } from '../../cases/use-batches.ts';
import { type Say, useText } from '../../text/use-text.tsx';
import { Button } from '../../ui/button.tsx';
import { Check } from '../../ui/check.tsx';
import { Select } from '../../ui/select.tsx';
import { useWindowedRows } from '../../ui/windowed-rows.ts';
import { targetWords } from '../input/target.tsx';
import type { Input } from '../input/use-input.ts';
import { nodeWords, relationWords } from '../tree/node-link.tsx';

const ROW_HEIGHT = 28;

type Props = { batch: Batch; occurrences: readonly Occurrence[]; input: Input };

/** The tree with the number of cases that reached each node. */
export function Coverage({ batch, occurrences, input }: Props) {
  const { say } = useText();
  const [target, setTarget] = useState<string | null>(null);
  const [missedOnly, setMissedOnly] = useState(false);
  const coverage = useCoverage(batch, target).data ?? null;
  const missed = useMemo(
    () => occurrences.filter(({ node }) => coverage !== null && !coverage.nodes.has(node.id)),
    [occurrences, coverage],
  );
  const rows = useMemo(
    () => (missedOnly ? withAncestors(occurrences, missed) : occurrences),
    [occurrences, missed, missedOnly],
  );
  const { find, told } = useMissingCase({ batchId: batch.batchId, occurrences, input });
  return (
    <>
      <div className="results-tools wrap">
        {coverage && (
          <span role="status" className={missed.length > 0 ? 'missed-words' : 'muted'}>
            {missed.length === 0
              ? say('coverage.all', { n: coverage.cases })
              : say('coverage.missed', { missed: missed.length, n: occurrences.length })}{' '}
            {coverage.unknown > 0 && say('coverage.unknown', { n: coverage.unknown })}
          </span>
        )}
        <Check label={say('coverage.missedOnly')} checked={missedOnly} onCheck={setMissedOnly} />
        {batch.targets.length > 1 && (
          <Select
            aria-label={say('target.legend')}
            value={target ?? ''}
            options={[
              ['', say('coverage.anyTarget')],
              ...batch.targets.map((one) => [one.target, targetWords(one.target, say)] as const),
            ]}
            onChoose={(one) => setTarget(one || null)}
          />
        )}
      </div>
      {told !== null && (
        <p className="notice" role="status">
          {told}
        </p>
      )}
      {coverage && <CoverageTree occurrences={rows} reached={coverage.nodes} cases={coverage.cases} onFind={find} />}
    </>
  );
}

type TreeProps = {
  occurrences: readonly Occurrence[];
  reached: ReadonlyMap<string, number>;
  cases: number;
  /** Looks for an input that reaches a node. */
  onFind: (to: Occurrence) => void;
};

function CoverageTree({ occurrences, reached, cases, onFind }: TreeProps) {
  const { say } = useText();
  const box = useRef<HTMLDivElement>(null);
  const seen = useWindowedRows(box, { count: occurrences.length, rowHeight: ROW_HEIGHT });
  return (
    <div
      className="results"
      role="table"
      ref={box}
      tabIndex={0}
      aria-label={say('coverage.title')}
      aria-rowcount={occurrences.length + 1}
    >
      <div role="rowgroup" className="results-head">
        <div role="row" aria-rowindex={1} className="results-row coverage-row">
          <span role="columnheader">{say('details.node')}</span>
          <span role="columnheader">{say('coverage.column')}</span>
        </div>
      </div>
      <div role="rowgroup" style={{ height: seen.total, paddingTop: seen.above }}>
        {occurrences.slice(seen.first, seen.last).map((occurrence, index) => (
          <CoverageRow
            key={occurrence.index}
            occurrence={occurrence}
            rowIndex={seen.first + index + 2}
            count={reached.get(occurrence.node.id) ?? 0}
            cases={cases}
            onFind={onFind}
          />
        ))}
      </div>
    </div>
  );
}

type RowProps = Pick<TreeProps, 'cases' | 'onFind'> & { occurrence: Occurrence; rowIndex: number; count: number };

function CoverageRow({ occurrence, rowIndex, count, cases, onFind }: RowProps) {
  const { say } = useText();
  const { node, depth } = occurrence;
  return (
    <div
      role="row"
      aria-rowindex={rowIndex}
      className={count === 0 ? 'results-row coverage-row missed' : 'results-row coverage-row'}
    >
      <div role="cell" className="tree-node line" style={{ paddingInlineStart: `${depth * 16 + 14}px` }}>
        {!isLeaf(node) && <span className="tag relation">{relationWords(node.type, say)}</span>}
        {(isLeaf(node) || node.label !== null) && <span className="node-name">{nameOf(node)}</span>}
        <span className="node-id">#{node.id}</span>
      </div>
      <div role="cell" className="reached">
        <i aria-hidden="true" style={{ width: `${cases === 0 ? 0 : (count / cases) * 100}%` }} />
        <span>{count === 0 ? say('coverage.none') : say('coverage.reached', { count, n: cases })}</span>
        {count === 0 && (
          <Button
            label={say('coverage.find')}
            className="quiet"
            aria-label={say('coverage.find.for', { node: nodeWords(occurrence, say) })}
            onPress={() => onFind(occurrence)}
          />
        )}
      </div>
    </div>
  );
}

function withAncestors(occurrences: readonly Occurrence[], wanted: readonly Occurrence[]): Occurrence[] {
  const kept = new Set<Occurrence>();
  for (const one of wanted) {
    for (let above: Occurrence | null = one; above && !kept.has(above); above = above.parent) kept.add(above);
  }
  return occurrences.filter((occurrence) => kept.has(occurrence));
}

type Where = { batchId: string; occurrences: readonly Occurrence[]; input: Input };

function useMissingCase({ batchId, occurrences, input }: Where) {
  const { say, failed } = useText();
  const [told, setTold] = useState<string | null>(null);
  const find = async (to: Occurrence) => {
    setTold(say('coverage.find.looking'));
    try {
      const found = await findMissingCase(to, { batchId, occurrences });
      if (found) input.adopt(found.input);
      setTold(found ? foundWords(found, { to, say }) : say('coverage.find.none', { node: nodeWords(to, say) }));
    } catch (error) {
      setTold(failed(error));
    }
  };
  return { find: (to: Occurrence) => void find(to), told };
}

type Found = NonNullable<Awaited<ReturnType<typeof findMissingCase>>>;

function foundWords({ name, change }: Found, { to, say }: { to: Occurrence; say: Say }): string {
  const changes = change.changes.map((one) => changeOfKeyWords(one, say)).join(', ');
  return say('coverage.find.found', { node: nodeWords(to, say), name, changes });
}
