import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import type { Execution } from '../../api/executions.ts';
import { isEnd } from '../../api/executions.ts';
import { tookMs } from '../../run/headline.ts';
import { type Reading, readRun } from '../../run/reading.ts';
import { useExecutions } from '../../run/use-execution.ts';
import { goTo } from '../../state/location.ts';
import { formatMs, formatTime } from '../../text/durations.ts';
import { type Say, useText } from '../../text/use-text.tsx';
import { differingNodes, type Group, groupRuns } from '../../trace/compare.ts';
import type { Occurrence } from '../../trace/tree.ts';
import { IconButton } from '../../ui/icon-button.tsx';
import { DataDiff } from '../details/data-diff.tsx';
import { RunResult } from '../result/run-result.tsx';
import { TraceTree } from '../tree/trace-tree.tsx';
import { CompareTree } from './compare-tree.tsx';

type Props = { mockIds: readonly string[]; occurrences: readonly Occurrence[] };

/** Runs beside each other. Those that came out alike are one row; the first that did not is laid beside the most common. */
export function ComparePanel({ mockIds, occurrences }: Props) {
  const { say } = useText();
  const executions = useExecutions(mockIds);
  const runs = useMemo(() => readAll(mockIds, executions, occurrences), [mockIds, executions, occurrences]);
  const groups = useMemo(() => groupRuns(runs), [runs]);
  const open = mockIds.length - runs.length;
  const queries = useQueryClient();
  // Each that ends is one more in the history.
  useEffect(() => {
    if (open >= 0) void queries.invalidateQueries({ queryKey: ['history'] });
  }, [open, queries]);
  const [base, ...others] = groups;
  const [wanted, setWanted] = useState<string | null>(null);
  const other = others.find((group) => group.runs.some((run) => run.of === wanted)) ?? others[0] ?? null;
  return (
    <section className="compare" aria-label={say('compare.title', { n: mockIds.length })}>
      <div className="compare-head">
        <h2>{say('compare.title', { n: mockIds.length })}</h2>
        <p role="status">{summary({ open, base, others, say })}</p>
        <IconButton
          icon="close"
          label={say('compare.close')}
          onPress={() => goTo({ run: mockIds.at(-1) ?? null, runs: [] }, { push: true })}
        />
      </div>
      <ol className="groups">
        {base && <GroupRow letter="A" group={base} base={null} shown onShow={null} />}
        {base &&
          others.map((group) => (
            <GroupRow
              key={group.runs[0]?.of}
              letter={group === other ? 'B' : ''}
              group={group}
              base={base}
              shown={group === other}
              onShow={() => setWanted(group.runs[0]?.of ?? null)}
            />
          ))}
      </ol>
      {base && !other && open === 0 && (
        <TraceTree occurrences={occurrences} reading={base.reading} stale={false} chosen={null} onChoose={() => {}} />
      )}
      {base && other && (
        <>
          <DataDiff a={base.reading} b={other.reading} />
          <CompareTree occurrences={occurrences} a={base.reading} b={other.reading} />
        </>
      )}
    </section>
  );
}

type RowProps = {
  letter: string;
  group: Group<string>;
  base: Group<string> | null;
  shown: boolean;
  onShow: (() => void) | null;
};

function GroupRow({ letter, group, base, shown, onShow }: RowProps) {
  const { say, language } = useText();
  const { record } = group.reading.execution;
  const n = group.runs.length;
  const differing = base ? differingNodes(base.reading, group.reading).size : 0;
  const names = group.runs.map(({ reading }) => nameOf(reading, language));
  return (
    <li className={shown ? 'group shown' : 'group'}>
      <b className="letter">{letter}</b>
      <RunResult record={record} />
      <div>
        <strong>{say(base ? 'compare.group.odd' : 'compare.group.same', { n })}</strong>
        <ul>
          {group.runs.map(({ of, reading }, index) => (
            <li key={of}>
              <button
                type="button"
                className="node-link"
                title={say('compare.show')}
                onClick={() => goTo({ run: of, runs: [] }, { push: true })}
              >
                {names[index]}
              </button>{' '}
              <small>{formatMs(tookMs(reading.execution.record, Date.now()))}</small>
            </li>
          ))}
        </ul>
        {base && <small>{reasonOf(group, base, differing, say)}</small>}
      </div>
      {onShow && !shown && (
        <button type="button" className="button small" onClick={onShow}>
          {say('history.compare')}
        </button>
      )}
    </li>
  );
}

function reasonOf({ reading }: Group<string>, base: Group<string>, differing: number, say: Say): string {
  if (reading.result?.error && reading.result.error !== base.reading.result?.error) return reading.result.error;
  return differing === 0 ? say('compare.dataDiffers') : say('compare.nodesDiffer', { n: differing });
}

type Summary = { open: number; base: Group<string> | undefined; others: Group<string>[]; say: Say };

function summary({ open, base, others, say }: Summary): string {
  if (open > 0) return say('compare.running', { n: open });
  if (base && others.length === 0) return say('compare.equal');
  return say('compare.differ', { n: others.length });
}

function readAll(
  mockIds: readonly string[],
  executions: ReadonlyMap<string, Execution>,
  occurrences: readonly Occurrence[],
) {
  return mockIds.flatMap((mockId) => {
    const execution = executions.get(mockId);
    if (!execution || !isEnd(execution.record.state)) return [];
    return [{ of: mockId, reading: readRun(execution, occurrences) }];
  });
}

/** Runs on several clients go by the client, runs on one by their time. */
function nameOf({ execution: { record } }: Reading, language: string): string {
  const time = formatTime(record.history[0]?.at ?? 0, language, Date.now());
  return record.address === null ? time : `${record.address} · ${time}`;
}
