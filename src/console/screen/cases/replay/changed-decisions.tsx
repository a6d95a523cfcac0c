import { useQuery } from '@tanstack/react-query';
import type { NamedNode } from '../../../../shared/reasoning/trace/decided-by.ts';
import { nameOf, type Occurrence } from '../../../../shared/reasoning/tree.ts';
import { type Batch, isOver } from '../../../api/batches.ts';
import type { CaseRow } from '../../../cases/case-rows.ts';
import { changedDecisions } from '../../../cases/changed-decisions.ts';
import { goTo } from '../../../state/location.ts';
import { useReplayWords } from './replay-words.ts';

type Props = { batch: Batch; rows: readonly CaseRow[]; occurrences: readonly Occurrence[] };

/** The decisions that are other ones than before, once the batch is over: a line for each first node that differs, with one run to compare before and now. */
export function ChangedDecisions({ batch, rows, occurrences }: Props) {
  const { tell } = useReplayWords();
  const items = rows.flatMap(({ cells }) => cells.flatMap((cell) => cell?.item ?? []));
  const isSettled = isOver(batch) && items.length >= batch.items && items.every(({ verdict }) => verdict !== 'pending');
  const { data: groups } = useQuery({
    queryKey: ['changed-decisions', batch.batchId, items.length],
    queryFn: ({ signal }) => changedDecisions(items, signal),
    enabled: isSettled,
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (!isSettled) return null;
  if (!groups) return <p className="muted">{tell('comparing')}</p>;
  if (groups.length === 0) return <p className="changed-decisions">{tell('same')}</p>;
  const word = (outcome: string) => (outcome === '' ? '?' : outcome);
  // A trace has the class of a node; the tree knows what it is called.
  const named = ({ id, name }: NamedNode) => {
    const known = occurrences.find(({ node }) => node.id === id);
    return `${known ? nameOf(known.node) : name} #${id}`;
  };
  return (
    <ul className="changed-decisions">
      {groups.map(({ before, now, at, items: [first, ...rest] }) => (
        <li key={`${before} ${now} ${at?.id}`}>
          {tell('group', {
            before: word(before),
            now: word(now),
            at: at === null ? tell('unknown') : named(at),
            n: rest.length + 1,
          })}{' '}
          {first && (
            <button
              type="button"
              className="quiet"
              onClick={() => goTo({ run: null, runs: [first.before, first.now] }, { push: true })}
            >
              {tell('compare')}
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}
