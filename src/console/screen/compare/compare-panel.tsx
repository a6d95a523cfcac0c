import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { changeWords } from '../../../shared/reasoning/changes.ts';
import { nameOf, type Occurrence } from '../../../shared/reasoning/tree.ts';
import type { Client, Tree } from '../../api/browse.ts';
import type { Execution, ExecutionRecord } from '../../api/executions.ts';
import { isEnd } from '../../api/executions.ts';
import { serviceNow } from '../../api/service-clock.ts';
import { type Group, groupRuns, partingOf } from '../../run/compare.ts';
import { tookMs } from '../../run/headline.ts';
import { causesOf } from '../../run/history/causes.ts';
import { useExecutions } from '../../run/queries/use-execution.ts';
import { type Reading, readRun } from '../../run/reading.ts';
import { goTo } from '../../state/location.ts';
import { formatMs } from '../../text/durations.ts';
import { type Say, useText } from '../../text/use-text.tsx';
import { Icon } from '../../ui/icon.tsx';
import { IconButton } from '../../ui/icon-button.tsx';
import { DataDiff } from '../details/data-diff.tsx';
import { RunResult } from '../result/run-result.tsx';
import { TraceTree } from '../tree/trace-tree.tsx';
import { CompareTree } from './compare-tree.tsx';
import { columnWords, summary } from './compare-words.ts';
import { useRulesOfRuns } from './use-rules-of-runs.ts';

const MAX_COLUMNS = 6;

type Props = {
  mockIds: readonly string[];
  clients: readonly Client[];
  tree: Tree | null;
  onOpen: (record: ExecutionRecord) => void;
};

/** Runs beside each other. Those that came out alike are one row; the first that did not is laid beside the most common. */
export function ComparePanel({ mockIds, clients, tree, onOpen }: Props) {
  const { say, time } = useText();
  const executions = useExecutions(mockIds);
  const { occurrences, onOthers, changes } = useRulesOfRuns(tree, executions);
  const runs = useMemo(() => readAll(mockIds, executions, occurrences), [mockIds, executions, occurrences]);
  const groups = useMemo(() => groupRuns(runs), [runs]);
  const open = mockIds.length - runs.length;
  const queries = useQueryClient();
  // Each that ends is one more in the history.
  useEffect(() => {
    if (open >= 0) void queries.invalidateQueries({ queryKey: ['history'] });
  }, [open, queries]);
  const [base, ...others] = groups;
  const columns = mockIds.slice(0, MAX_COLUMNS).map((mockId) => {
    const reading = runs.find(({ of }) => of === mockId)?.reading ?? null;
    const record = executions.get(mockId)?.record ?? null;
    return { mockId, reading, ...columnWords(record, { clients, say, time }) };
  });
  const [wanted, setWanted] = useState<string | null>(null);
  const other = others.find((group) => group.runs.some((run) => run.of === wanted)) ?? others[0] ?? null;
  return (
    <section className="compare" aria-label={say('compare.title', { n: mockIds.length })}>
      <div className="compare-head">
        <h2>{say('compare.title', { n: mockIds.length })}</h2>
        <p role="status">
          {summary({
            open,
            base,
            others,
            say,
            nameOf: (run) => columnWords(run.execution.record, { clients, say, time }).name,
          })}
        </p>
        <IconButton
          icon="close"
          label={say('compare.close')}
          onPress={() => {
            const last = runs.at(-1)?.reading.execution.record;
            if (last) onOpen(last);
            else goTo({ runs: [] }, { push: true });
          }}
        />
      </div>
      {onOthers > 0 && (
        <p className="notice warn" role="status">
          <Icon name="warning" size={14} /> {say('compare.otherRules', { n: onOthers })}
          {changes.length > 0 && ` ${say('rules.between', { n: changes.length, nodes: changeWords(changes, say) })}`}
        </p>
      )}
      {open === 0 && others.length > 0 && <CausesLine executions={[...executions.values()]} />}
      <ol className="groups">
        {base && <GroupRow letter="A" group={base} base={null} clients={clients} shown onShow={null} onOpen={onOpen} />}
        {base &&
          others.map((group) => (
            <GroupRow
              key={group.runs[0]?.of}
              letter={group === other ? 'B' : ''}
              group={group}
              base={base}
              clients={clients}
              shown={group === other}
              onShow={() => setWanted(group.runs[0]?.of ?? null)}
              onOpen={onOpen}
            />
          ))}
      </ol>
      {base && !other && open === 0 && (
        <TraceTree occurrences={occurrences} reading={base.reading} stale={false} chosen={null} onChoose={() => {}} />
      )}
      {base && other && (
        <>
          <DataDiff a={base.reading} b={other.reading} />
          <CompareTree occurrences={occurrences} columns={columns} base={base.reading} />
        </>
      )}
    </section>
  );
}

/** Differences between the calls themselves come first: they may explain everything. */
function CausesLine({ executions }: { executions: readonly Execution[] }) {
  const { say } = useText();
  const { input, rules, clients } = causesOf(executions);
  const words = [
    input !== null && say('compare.cause.input', { change: input }),
    rules !== null && say('compare.cause.rules', { versions: rules }),
    clients !== null && say('compare.cause.clients', { clients }),
  ].filter((word) => word !== false);
  if (words.length === 0) return <p className="causes">{say('compare.cause.none')}</p>;
  return <p className="causes">{say('compare.causes', { causes: words.join('; ') })}</p>;
}

type RowProps = {
  letter: string;
  group: Group<string>;
  base: Group<string> | null;
  clients: readonly Client[];
  shown: boolean;
  onShow: (() => void) | null;
  onOpen: (record: ExecutionRecord) => void;
};

function GroupRow({ letter, group, base, clients, shown, onShow, onOpen }: RowProps) {
  const { say, time } = useText();
  const { record } = group.reading.execution;
  const n = group.runs.length;
  const words = group.runs.map(({ reading }) => columnWords(reading.execution.record, { clients, say, time }));
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
                onClick={() => onOpen(reading.execution.record)}
              >
                {words[index]?.name}
              </button>{' '}
              <small>
                {words[index]?.about} {formatMs(tookMs(reading.execution.record, serviceNow()))}
              </small>
            </li>
          ))}
        </ul>
        {base && <small>{reasonOf(group, base, say)}</small>}
      </div>
      {onShow && !shown && (
        <button type="button" className="button small" onClick={onShow}>
          {say('history.compare')}
        </button>
      )}
    </li>
  );
}

/** The first node at which a run parts from the most common one, and what it came to in both. */
function reasonOf({ reading }: Group<string>, base: Group<string>, say: Say): string {
  if (reading.result?.error && reading.result.error !== base.reading.result?.error) return reading.result.error;
  const { places, first } = partingOf(base.reading, reading);
  if (first === null) return say('compare.dataDiffers');
  const words = ({ replay: { marks } }: Reading) => {
    const mark = marks.get(first);
    return mark ? say(`outcome.${mark.outcome}`) : say('compare.notRun');
  };
  const [mine, theirs] = [words(reading), words(base.reading)];
  const node = say('node.quoted', { name: nameOf(first.node), id: first.node.id });
  const n = say('compare.nodesDiffer', { n: places.size });
  return mine === theirs ? say('compare.firstWrites', { node, n }) : say('compare.firstAt', { node, mine, theirs, n });
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
