import { type KeyboardEvent, useState } from 'react';
import { type ExecutionRecord, type Failures, isEnd, type Listed, type RunSearch } from '../../api/executions.ts';
import { noFailure } from '../../api/request.ts';
import { tookMs } from '../../run/headline.ts';
import { groupComparisons } from '../../run/history/found-words.ts';
import { changedInput, inputInShort } from '../../run/input-words.ts';
import { useFailures } from '../../run/queries/use-history.ts';
import { useLacks } from '../../run/queries/use-service.ts';
import { versionRan } from '../../run/reading.ts';
import { goTo, type Place, toPage } from '../../state/location.ts';
import { useForeignZone, useIsDry } from '../../state/preferences.ts';
import { formatMs } from '../../text/durations.ts';
import { useText } from '../../text/use-text.tsx';
import { IconButton } from '../../ui/icon.tsx';
import { isPlain, PlaceLink } from '../../ui/place-link.tsx';
import { type Column, TableHead } from '../../ui/table-head.tsx';
import { decidedWords, RunResult } from '../../ui/verdict-chip.tsx';
import { targetWords } from '../input/target.tsx';
import { whatRan } from '../result/use-open-run.ts';

const MAX_INPUT = 120;

type Actions = { onOpen: (record: ExecutionRecord) => void; onAgain: (record: ExecutionRecord) => void };
type Props = Actions & {
  place: Place;
  runs: readonly Listed[];
  everyRule: boolean;
  selected: readonly string[];
  onSelect: (mockId: string, on: boolean) => void;
};

/** Earlier runs, one a row, each with a link: Tab enters the table once, and arrow keys go from row to row. */
export function HistoryTable({ place, runs, everyRule, selected, onSelect, ...actions }: Props) {
  const lines = groupComparisons(runs);
  const inputs = new Map(runs.map(({ mockId, input = null }) => [mockId, input]));
  const [focused, setFocused] = useState<string | null>(null);
  const idOf = (line: (typeof lines)[number]) => (line.kind === 'run' ? line.run : line.runs[0])?.mockId ?? '';
  const at = lines.some((line) => idOf(line) === focused) ? focused : lines[0] && idOf(lines[0]);
  return (
    <div className="scroll">
      <table onKeyDown={onArrowKeys}>
        <TableHead columns={useColumns(everyRule)} />
        <tbody>
          {lines.map((line) => {
            const id = idOf(line);
            const row = { tabIndex: id === at ? 0 : -1, onFocus: () => setFocused(id), everyRule };
            return line.kind === 'comparison' ? (
              <ComparisonRow key={id} runs={line.runs} {...row} />
            ) : (
              <RunRow
                key={id}
                {...row}
                {...actions}
                record={line.run}
                before={inputs.get(line.run.derivedFrom ?? '') ?? null}
                current={place.run === id || place.runs.includes(id)}
                selected={selected.includes(id)}
                onSelect={(on) => onSelect(id, on)}
              />
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function useColumns(everyRule: boolean): Column[] {
  const { say } = useText();
  const foreign = useForeignZone();
  return [
    [null, 'select'],
    [foreign === null ? say('history.time') : `${say('history.time')} ${foreign}`, 'time'],
    [say('nav.result'), 'came-to'],
    [say('history.reason')],
    ...(everyRule ? [[say('nav.rule'), 'rule'] as const] : []),
    [say('history.input'), 'given'],
    [say('history.version'), 'ran-version'],
    [say('target.legend'), 'ran-on'],
    [say('node.time'), 'number'],
    [null, 'row-actions'],
  ];
}

type RowProps = { tabIndex: number; onFocus: () => void; everyRule: boolean };
type RunProps = RowProps &
  Actions & {
    record: Listed;
    /** The input of the run that it repeats; null when there is none, or it is not listed. */
    before: string | null;
    current: boolean;
    selected: boolean;
    onSelect: (on: boolean) => void;
  };

function RunRow({ record, before, everyRule, current, selected, tabIndex, ...props }: RunProps) {
  const { say, moment, zone, ofService, ...text } = useText();
  const cannotRun = useLacks()('run');
  const isDry = useIsDry(String(record.app)) || record.dryRun;
  const time = text.time(record.history[0]?.at ?? 0);
  const changed = changedInput(before, record.input ?? null);
  const reason =
    record.error === null
      ? decidedWords(record.outcome, record.decidedBy ?? null, say)
      : ofService({ ...noFailure, ...record.ending, error: record.error });
  const { ruleId, confId, ts, target, mockId } = record;
  const to = { ...toPage(null), ...whatRan(record), run: mockId, input: null };
  const open = () => props.onOpen(record);
  return (
    <tr
      className={current ? 'current' : ''}
      aria-current={current ? 'true' : undefined}
      onFocus={props.onFocus}
      onClick={(event) => isPlain(event) && open()}
    >
      <td onClick={(event) => event.stopPropagation()}>
        <input
          type="checkbox"
          tabIndex={tabIndex}
          aria-label={say('history.select', { time })}
          checked={selected}
          onChange={({ target }) => props.onSelect(target.checked)}
        />
      </td>
      <td>
        <PlaceLink
          className="row-link"
          to={to}
          instead
          tabIndex={tabIndex}
          aria-label={say('history.open', { time })}
          onPress={open}
        >
          {time}
        </PlaceLink>
      </td>
      <td>
        <RunResult record={record} /> {record.dryRun && <span className="tag">{say('dry.tag')}</span>}
      </td>
      <td className="reason-of" title={reason}>
        {reason !== '' && <span className="clamped">{reason}</span>}
      </td>
      {everyRule && <td>#{ruleId ?? confId}</td>}
      <td className="given" title={record.input ?? undefined}>
        {inputInShort(record.input ?? null, MAX_INPUT)} {changed !== null && <b>{changed}</b>}
      </td>
      <td className="ran-version">{versionRan(record.rules)}</td>
      <td className="ran-on">
        {record.address ?? targetWords(target, say)}
        {record.lane !== null && <small> {say('target.inLane', { lane: record.lane })}</small>}
        {record.keyName !== null && <small> {say('history.by', { name: record.keyName })}</small>}
        {ts !== null && <small> {say('state.asOf', { time: moment(ts) })}</small>}
      </td>
      <td className="number">{isEnd(record.state) ? formatMs(tookMs(record, 0)) : '…'}</td>
      <td className="row-actions" onClick={(event) => event.stopPropagation()}>
        <IconButton
          icon="again"
          label={cannotRun ?? say(isDry ? 'history.rerun.dry' : 'history.rerun')}
          disabled={cannotRun !== null}
          tabIndex={tabIndex}
          onPress={() => props.onAgain(record)}
        />
      </td>
    </tr>
  );
}

/** The runs of one comparison as one row, which opens the comparison. */
function ComparisonRow({ runs, everyRule, tabIndex, onFocus }: RowProps & { runs: readonly Listed[] }) {
  const { say, ...text } = useText();
  const oldest = runs.at(-1);
  if (!oldest) return null;
  const time = text.time(oldest.history[0]?.at ?? 0);
  const { app, ruleId, confId, input = null } = oldest;
  const to = {
    ...toPage(null),
    app: String(app),
    ruleId,
    confId,
    run: null,
    runs: runs.map(({ mockId }) => mockId).reverse(),
    input,
  };
  const ends = [...new Map(runs.map((run) => [run.outcome ?? run.state, run])).values()];
  const versions = [...new Set(runs.map(({ rules }) => versionRan(rules)))];
  return (
    <tr onFocus={onFocus}>
      <td />
      <td>
        <PlaceLink
          className="row-link"
          to={to}
          tabIndex={tabIndex}
          aria-label={say('history.open.comparison', { time })}
        >
          {time}
        </PlaceLink>
      </td>
      <td>
        {ends.map((run) => (
          <RunResult key={run.mockId} record={run} />
        ))}
      </td>
      <td />
      {everyRule && <td>#{ruleId ?? confId}</td>}
      <td className="given">{inputInShort(input, MAX_INPUT)}</td>
      <td className="ran-version">{versions.join(', ')}</td>
      <td className="ran-on">{say('history.comparison', { n: runs.length })}</td>
      <td className="number" />
      <td className="row-actions" />
    </tr>
  );
}

type Scope = { app: string | null; ruleId: string | null; search: RunSearch | null };

/** The failures among the runs, those alike in one row, which opens the newest of them. */
export function FailureGroups(scope: Scope) {
  const { say, failed } = useText();
  const { data, error } = useFailures(scope);
  if (error) return <p className="empty-line">{say('history.failed', { error: failed(error) })}</p>;
  if (!data) return <p className="empty-line">{say('history.searching')}</p>;
  if (data.groups.length === 0) return <p className="empty-line">{say('failures.none', { n: data.searched })}</p>;
  return (
    <div className="scroll">
      <table onKeyDown={onArrowKeys}>
        <TableHead
          columns={[
            [say('failures.count'), 'number'],
            [say('nav.result'), 'came-to'],
            [say('failures.sentence')],
            [say('target.legend')],
            [say('failures.when')],
          ]}
        />
        <tbody>
          {data.groups.map((group) => (
            <GroupRow key={JSON.stringify([group.code, group.reason, group.sentence])} group={group} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function GroupRow({ group }: { group: Failures }) {
  const { code, count, first, last, mockId, clients } = group;
  const { say, time, ofService } = useText();
  // What differs from one to the next is named by the service in angle brackets.
  const sentence = ofService({ ...group, error: group.sentence, mayHaveRun: null }).replace(/<\w+>/g, '…');
  const to = { ...toPage(null), run: mockId, input: null };
  const [most] = clients;
  const client = most?.address ?? say('failures.noClient');
  return (
    <tr onClick={(event) => isPlain(event) && goTo(to, { push: true })}>
      <td className="number">{count}</td>
      <td>
        <span className="chip error">{code}</span>
      </td>
      <td className="given" title={sentence}>
        <PlaceLink className="row-link" to={to} aria-label={say('failures.open', { sentence: sentence || code })}>
          {sentence || say('failures.silent')}
        </PlaceLink>
      </td>
      <td title={clients.map(({ address, count: n }) => `${address ?? '–'} ${n}`).join('\n')}>
        {clients.length > 1 ? say('failures.clients', { client, n: clients.length - 1 }) : client}
      </td>
      <td>{say('failures.since', { first: time(first), last: time(last) })}</td>
    </tr>
  );
}

/** Arrow keys, Home and End go from row to row of a table whose rows have one link each, or from button to button; Tab enters and leaves. */
export function onArrowKeys(event: KeyboardEvent<HTMLElement>): void {
  const links = [...event.currentTarget.querySelectorAll<HTMLElement>('a.row-link, button.answer')];
  const at = links.findIndex((link) => link.contains(document.activeElement));
  const [next, last] = [at + 1, links.length - 1];
  const to = { ArrowDown: next, ArrowRight: next, ArrowUp: at - 1, ArrowLeft: at - 1, Home: 0, End: last }[event.key];
  const link = at < 0 || to === undefined ? undefined : links[to];
  if (!link) return;
  event.preventDefault();
  link.focus();
}
