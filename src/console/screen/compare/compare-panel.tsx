import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useMemo, useState } from 'react';
import type { NodeFacts } from '../../../shared/conclusions/conclusion.ts';
import type { ValueRow } from '../../../shared/conclusions/differing-values.ts';
import { parseExact } from '../../../shared/contract/json/exact-json.ts';
import { compactJson } from '../../../shared/json-tree/print-json.ts';
import { changeWords } from '../../../shared/reasoning/changes.ts';
import type { NodeTrace } from '../../../shared/reasoning/trace/node-trace.ts';
import type { Occurrence } from '../../../shared/reasoning/tree.ts';
import { readWords, shortened } from '../../../shared/reasoning/words/fact-words.ts';
import type { Client, Tree } from '../../api/browse.ts';
import { type Execution, type ExecutionRecord, isEnd } from '../../api/executions.ts';
import { serviceNow } from '../../api/request.ts';
import { type Beside, compareRuns, type Ended, endedRun, valueRows, writtenRows } from '../../run/compare.ts';
import { tookMs } from '../../run/headline.ts';
import { useExecutions } from '../../run/queries/use-executions.ts';
import { documentOf, readRun, versionRan } from '../../run/reading.ts';
import { toPage } from '../../state/location.ts';
import { formatMs } from '../../text/durations.ts';
import { type Say, useText } from '../../text/use-text.tsx';
import { ChangeValue } from '../../ui/change-value.tsx';
import { Check } from '../../ui/check.tsx';
import { Icon, IconButton } from '../../ui/icon.tsx';
import { OutcomeChip } from '../../ui/outcome-chip.tsx';
import { PlaceLink } from '../../ui/place-link.tsx';
import { RunResult } from '../../ui/verdict-chip.tsx';
import { whatRan } from '../result/use-open-run.ts';
import { nodeWords } from '../tree/node-link.tsx';
import { columnWords, summary } from './compare-words.ts';
import { useRulesOfRuns } from './use-rules-of-runs.ts';

const MAX_NODES = 500;

type Props = {
  mockIds: readonly string[];
  clients: readonly Client[];
  tree: Tree | null;
  /** Says that the form is not what the runs were. */
  stale: (record: ExecutionRecord, sent: string | null) => ReactNode;
  onOpen: (record: ExecutionRecord) => void;
  /** With the last of the runs, as far as it is known. */
  onClose: (last: ExecutionRecord | null) => void;
};

/** Runs beside each other in the order of the link, each compared with the first: one table, the first difference first. */
export function ComparePanel({ mockIds, clients, tree, stale, onOpen, onClose }: Props) {
  const { say, time } = useText();
  const executions = useExecutions(mockIds);
  const { occurrences, onOthers, changes, factsOf } = useRulesOfRuns(tree, executions);
  const columns = useMemo(
    () => mockIds.map((mockId) => columnOf(mockId, executions.get(mockId) ?? null, { occurrences, factsOf })),
    [mockIds, executions, occurrences, factsOf],
  );
  const compared = useMemo(() => {
    const base = columns[0]?.ended ?? null;
    return columns.map(({ ended }) => (base && ended ? compareRuns(base, ended) : null));
  }, [columns]);
  const open = columns.filter(({ ended }) => ended === null).length;
  const queries = useQueryClient();
  // Each that ends is one more in the history.
  useEffect(() => {
    if (open >= 0) void queries.invalidateQueries({ queryKey: ['history'] });
  }, [open, queries]);
  const named = columns.map((column, index) => ({
    ...column,
    beside: compared[index] ?? null,
    ...columnWords(column.execution?.record ?? null, { clients, say, time }),
    letter: index < 26 ? String.fromCharCode(65 + index) : String(index + 1),
  }));
  const first = columns[0]?.execution ?? null;
  return (
    <section className="compare fill" aria-labelledby="compare-title">
      <div className="compare-head">
        <h2 id="compare-title">{say('compare.title', { n: mockIds.length })}</h2>
        <p role="status">{summary(named, say)}</p>
        <IconButton
          icon="close"
          label={say('sheet.close')}
          onPress={() => onClose(columns.at(-1)?.execution?.record ?? null)}
        />
      </div>
      {first !== null && stale(first.record, first.input)}
      {onOthers > 0 && (
        <p className="notice warn" role="status">
          <Icon name="warning" size={14} /> {say('compare.otherRules', { n: onOthers })}
          {changes.length > 0 && ` ${say('rules.between', { n: changes.length, nodes: changeWords(changes, say) })}`}
        </p>
      )}
      <CompareTable columns={named} compared={compared} occurrences={occurrences} onOpen={onOpen} />
    </section>
  );
}

type Column = { mockId: string; execution: Execution | null; ended: Ended | null };
type Named = Column & { letter: string; name: string; about: string };

type Rules = { occurrences: readonly Occurrence[]; factsOf: (record: ExecutionRecord) => NodeFacts };

function columnOf(mockId: string, execution: Execution | null, { occurrences, factsOf }: Rules): Column {
  if (execution === null || !isEnd(execution.record.state)) return { mockId, execution, ended: null };
  return { mockId, execution, ended: endedRun(readRun(execution, occurrences), factsOf(execution.record)) };
}

type TableProps = {
  columns: readonly Named[];
  /** Each beside the first one; null while one of the two is open. */
  compared: readonly (Beside | null)[];
  occurrences: readonly Occurrence[];
  onOpen: Props['onOpen'];
};

function CompareTable({ columns, compared, occurrences, onOpen }: TableProps) {
  const { say, moment } = useText();
  const [all, setAll] = useState(false);
  const firsts = [...new Set(compared.flatMap((run) => run?.first ?? []))].sort((a, b) => a.index - b.index);
  const differing = occurrences.filter((place) => compared.some((run) => run?.places.has(place)));
  const others = (all ? occurrences : differing).filter((place) => !firsts.includes(place)).slice(0, MAX_NODES);
  const records = columns.map(({ execution }) => execution?.record ?? null);
  const calls = [
    { path: say('compare.row.version'), values: records.map((record) => record && versionRan(record.rules)) },
    {
      path: say('asOf.label'),
      values: records.map((record) => record && (record.ts ? moment(record.ts) : say('asOf.now'))),
    },
    { path: say('compare.row.client'), values: records.map((record) => record?.address ?? null) },
  ].filter(({ values }) => new Set(values.filter((value) => value !== null)).size > 1);
  const sent = columns.map(({ ended }) => ended?.reading.execution.input ?? null);
  const inputs = valueRows(sent.map((input) => (input === null ? undefined : parseExact(input))));
  const conclusions = columns.map(({ ended }) => ended?.conclusion ?? null);
  const data = writtenRows(conclusions);
  const withData = conclusions.map((conclusion) => conclusion !== null && conclusion.data !== null);
  const isUnsure = compared.some((run) => run?.notCompared.some(({ part }) => part === 'data'));
  const ended = columns.filter((column) => column.ended !== null).length;
  const noData = ended - withData.filter((has) => has).length;
  const nodeRow = (place: Occurrence) => (
    <NodeRow key={place.index} place={place} columns={columns} compared={compared} isFirst={firsts.includes(place)} />
  );
  return (
    <div className="compare-scroll scroll" tabIndex={0} role="region" aria-label={say('compare.table')}>
      <table className="compare-table">
        <thead>
          <tr>
            <td />
            {columns.map(({ mockId, execution, letter, name, about }) => (
              <th scope="col" key={mockId}>
                <b className="letter">{letter}</b>{' '}
                {execution ? (
                  <PlaceLink
                    title={say('compare.show')}
                    to={{ ...toPage(null), ...whatRan(execution.record), run: mockId, input: null }}
                    instead
                    onPress={() => onOpen(execution.record)}
                  >
                    {name}
                  </PlaceLink>
                ) : (
                  name
                )}
                <small>
                  {about}{' '}
                  {execution && isEnd(execution.record.state) && formatMs(tookMs(execution.record, serviceNow()))}
                </small>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <tr>
            <th scope="row">{say('nav.result')}</th>
            {columns.map(({ mockId, execution, ended }) => (
              <td key={mockId}>
                {execution && <RunResult record={execution.record} />}
                {ended?.reading.result?.error && <small className="bad"> {ended.reading.result.error}</small>}
              </td>
            ))}
          </tr>
          {firsts.map(nodeRow)}
          <Section title={say('compare.calls')} columns={columns.length} hidden={calls.length + inputs.length === 0}>
            {calls.map(({ path, values }) => (
              <tr key={path}>
                <th scope="row">{path}</th>
                {values.map((value, index) => (
                  <td key={columns[index]?.mockId} className={value !== values[0] && index > 0 ? 'differs' : undefined}>
                    {value}
                  </td>
                ))}
              </tr>
            ))}
            {inputs.map((row) => (
              <JsonRow key={row.path} row={row} known={sent.map((input) => input !== null)} />
            ))}
          </Section>
          <Section title={say('compare.data')} columns={columns.length} hidden={ended < 2}>
            {data.map((row) => (
              <JsonRow key={row.path} row={row} known={withData} />
            ))}
            {(data.length === 0 || noData > 0 || isUnsure) && (
              <tr>
                <td colSpan={columns.length + 1} className="muted">
                  {say(
                    noData === ended
                      ? 'compare.noneHasData'
                      : noData > 0
                        ? 'compare.oneHasNone'
                        : isUnsure
                          ? 'compare.dataNotKnown'
                          : 'compare.sameData',
                  )}
                </td>
              </tr>
            )}
          </Section>
          <Section
            title={say('compare.trace')}
            columns={columns.length}
            hidden={ended < 2 || occurrences.length === 0}
            aside={<Check label={say('trace.shown.all.hint')} checked={all} onCheck={setAll} />}
          >
            {differing.length === 0 && (
              <tr>
                <td colSpan={columns.length + 1} className="muted">
                  {say('compare.sameTrace')}
                </td>
              </tr>
            )}
            {others.map(nodeRow)}
          </Section>
        </tbody>
      </table>
    </div>
  );
}

type SectionProps = { title: string; columns: number; hidden: boolean; aside?: ReactNode; children: ReactNode };

function Section({ title, columns, hidden, aside, children }: SectionProps) {
  if (hidden) return null;
  return (
    <>
      <tr className="compare-section">
        <th scope="rowgroup" colSpan={columns + 1}>
          {title} {aside}
        </th>
      </tr>
      {children}
    </>
  );
}

/** A value that is not the same in all runs. `known`: those whose values are. */
function JsonRow({ row: { path, values }, known }: { row: ValueRow; known: readonly boolean[] }) {
  const { say } = useText();
  return (
    <tr>
      <th scope="row">
        <code>{path}</code>
      </th>
      {values.map((value, index) => (
        <td
          // biome-ignore lint/suspicious/noArrayIndexKey: one cell for each run, which never change places
          key={index}
          className={known[index] && value !== values[0] ? 'differs' : undefined}
        >
          <Value text={value} />
          {value === null && known[index] && <small>{say('node.absent')}</small>}
        </td>
      ))}
    </tr>
  );
}

function Value({ text }: { text: string | null }) {
  const json = documentOf(text);
  return json && <ChangeValue json={json} />;
}

type NodeProps = {
  place: Occurrence;
  columns: readonly Column[];
  compared: readonly (Beside | null)[];
  isFirst: boolean;
};

function NodeRow({ place, columns, compared, isFirst }: NodeProps) {
  const { say } = useText();
  const differs = compared.some((run) => run?.places.has(place));
  return (
    <tr className={isFirst ? 'first' : differs ? 'follows' : 'alike'}>
      <th scope="row">
        {isFirst && <small className="first-words">{say('compare.first')}</small>} {nodeWords(place, say)}
      </th>
      {columns.map(({ mockId, ended }, index) => {
        const nodeTrace = ended?.reading.replay.nodeTraces.get(place);
        return (
          <td key={mockId} className={compared[index]?.places.has(place) ? 'differs' : undefined}>
            {nodeTrace ? <OutcomeChip outcome={nodeTrace.outcome} /> : ended && <small>{say('compare.notRun')}</small>}{' '}
            {nodeTrace && <small>{traceWords(nodeTrace, say)}</small>}
          </td>
        );
      })}
    </tr>
  );
}

function traceWords(nodeTrace: NodeTrace, say: Say): string {
  if (nodeTrace.error !== null) return nodeTrace.error;
  const writes = nodeTrace.writes.flatMap(({ key, after }) =>
    after ? [say('trace.wrote', { key, value: shortened(compactJson(after)) })] : [],
  );
  return [...writes, ...nodeTrace.reads.map((read) => readWords(read, say))].join(', ');
}
