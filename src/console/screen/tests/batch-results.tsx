import { useDeferredValue, useEffect, useMemo, useRef, useState } from 'react';
import {
  type Batch,
  cancelBatch,
  type FollowedBatch,
  isOver,
  reportPath,
  type Verdict,
  verdicts,
} from '../../api/batches.ts';
import type { SchemaField } from '../../api/browse.ts';
import type { SavedCase } from '../../api/cases.ts';
import { repeatBatch } from '../../cases/batch-call.ts';
import {
  answersOf,
  type CaseRow,
  type Cell,
  decidingNodes,
  filterRows,
  inputColumns,
  noRowFilter,
  type Releases,
  type RowFilter,
  readItemPlace,
  type Since,
  sinceBefore,
  useCaseRows,
} from '../../cases/case-rows.ts';
import { useBatch, useStart } from '../../cases/use-batches.ts';
import { useLacks, useNow } from '../../run/queries/use-service.ts';
import { linkTo, type Place } from '../../state/location.ts';
import { formatAge, formatMs } from '../../text/durations.ts';
import { failureOfWarning } from '../../text/service-words.ts';
import { type Say, useText } from '../../text/use-text.tsx';
import { useFailed } from '../../ui/announce.tsx';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { tellInTitle } from '../frame/title.ts';
import type { RuleContext } from '../frame/use-rule.ts';
import type { Input } from '../input/use-input.ts';
import { Coverage } from './coverage.tsx';
import { Answers, type Pressed, ResultFilters, ResultsTable } from './results-table.tsx';
import { againstWords, RealRuns } from './start-batch.tsx';

type Props = {
  place: Place;
  rule: RuleContext;
  input: Input;
  saved: readonly SavedCase[];
  onOpen: (pressed: Pressed) => void;
};

const noFields: readonly SchemaField[] = [];

/** A batch: its answer, how far it is, and its inputs with a column for each target, or the nodes that they reached. */
export function BatchResults({ place, rule, input, saved, onOpen }: Props) {
  const { say, failed } = useText();
  const fields = rule.schema.data?.fields ?? noFields;
  const followed = useBatch(place.batch);
  const batch = followed?.kind === 'known' ? followed.now : null;
  const { rows, targets, before, releases } = useCaseRows({ place, batch, saved });
  const [filter, setFilter] = useState<RowFilter>(noRowFilter);
  // Typing goes on while ten thousand rows are sorted.
  const wanted = useDeferredValue(filter);
  const found = useMemo(() => filterRows(rows, wanted), [rows, wanted]);
  const answers = useMemo(() => answersOf(rows), [rows]);
  const nodes = useMemo(() => decidingNodes(rows), [rows]);
  const columns = useMemo(() => inputColumns(rows, fields), [rows, fields]);
  const since = useMemo(
    () => (before === null ? null : { at: before.createdAt, since: sinceBefore(rows), releases }),
    [rows, before, releases],
  );
  const { busy, start, error } = useStart('repeat');
  const { app, ruleId, confId } = place;
  const again = { batchId: place.batch ?? '', verdicts: failing, dryRun: batch?.dryRun ?? true };
  const repeat = {
    runs: useMemo(() => (batch === null ? null : runsOfRepeat(rows, batch)), [rows, batch]),
    busy,
    start: () => void start((key) => repeatBatch({ app: app ?? '', ruleId, confId }, again, key)),
  };
  const item = readItemPlace(place);
  const digest = rule.tree.data?.digest ?? null;
  const isOld = digest !== null && rows.some(({ cells }) => cells.some((cell) => ranOnOthers(cell, digest)));
  const showsNodes = place.nodes && batch !== null;
  const filtering = { filter, onFilter: setFilter };
  return (
    <div className={isOld ? 'batch-results fill old' : 'batch-results fill'}>
      <BatchBar place={place} followed={followed} since={since} repeat={repeat} />
      {error !== null && <p className="notice bad">{failed(error)}</p>}
      {isOld && <p className="notice warn">{say('cases.otherRules')}</p>}
      <div className="results-lines">
        <Answers {...{ place, batch, answers, occurrences: rule.occurrences, ...filtering }} />
        {!showsNodes && rows.length > 0 && (
          <ResultFilters {...filtering} found={found.length} all={rows.length} nodes={nodes} />
        )}
      </div>
      {showsNodes ? (
        <Coverage batch={batch} occurrences={rule.occurrences} input={input} />
      ) : (
        <ResultsTable
          rows={found}
          targets={targets}
          columns={columns}
          open={{ batchId: item?.batchId ?? null, n: item ? Number(item.n) : null, name: place.caseName }}
          nothing={say(rows.length === 0 ? (batch === null ? 'cases.none' : 'batch.reading') : 'cases.noMatch')}
          onOpen={onOpen}
        />
      )}
    </div>
  );
}

function ranOnOthers(cell: Cell | null, digest: string): boolean {
  const ran = cell?.item.rules?.digest ?? null;
  return ran !== null && ran !== digest;
}

/** A case runs again on each target when it did not pass on one of them. Null until all items are there. */
function runsOfRepeat(rows: readonly CaseRow[], { batchId, items, targets }: Batch): number | null {
  const own = rows.map(({ cells }) => cells.flatMap((cell) => (cell?.batchId === batchId ? [cell.item] : [])));
  if (own.flat().length < items) return null;
  return own.filter((cells) => cells.some(({ verdict }) => failing.includes(verdict))).length * targets.length;
}

type SinceProps = { at: number; since: Since; releases: Releases };
type BarProps = {
  place: Place;
  followed: FollowedBatch | null;
  since: SinceProps | null;
  repeat: Repeat;
};

/** Without an end for so long a reader wants to know why. */
const SILENT_MS = 20_000;

/** What did not pass, run again as it ran. `runs`: how many that makes; null while the page reads the items. */
type Repeat = { runs: number | null; busy: boolean; start: () => void };

const failing: Verdict[] = ['failed', 'changed', 'error', 'unanswered'];

function BatchBar({ place, followed, since, repeat }: BarProps) {
  const { say, time, ofService } = useText();
  const known = followed?.kind === 'known' ? followed.now : null;
  useTellEnd(known, {
    isOver: known !== null && isOver(known),
    words: known === null ? '' : `${stateWords(known, say)} ${countWords(known, say)}`,
  });
  if (followed === null) return null;
  if (followed.kind === 'unknown') return <p className="notice warn">{ofService(followed.error)}</p>;
  if (followed.kind === 'unreachable') return <p className="notice bad">{say('failed.unreachable')}</p>;
  const { now: batch, connection } = followed;
  const settled = batch.items - batch.counts.pending;
  const failed = failing.reduce((sum, verdict) => sum + batch.counts[verdict], 0);
  return (
    <div className="batch-bar">
      {!isOver(batch) && <progress aria-label={say('batch.progress')} value={settled} max={Math.max(1, batch.items)} />}
      <div className="batch-words" role="status">
        <strong>{stateWords(batch, say)}</strong> {batch.dryRun && <span className="tag">{say('dry.tag')}</span>}{' '}
        {batch.setAside !== undefined && batch.setAside.cases > 0 && (
          <span
            title={batch.setAside.errors.map((each) => `${each.field} ${ofService(failureOfWarning(each))}`).join('\n')}
          >
            {say('batch.setAside', { n: batch.setAside.cases })}
          </span>
        )}
        {batch.against !== undefined && <span>{say('batch.against', { what: againstWords(batch.against, say) })}</span>}
        {batch.state === 'running' && <Going key={batch.batchId} batch={batch} />}
        {connection.kind === 'lost' && (
          <span className="bad">{say('batch.lost', { time: time(connection.since) })}</span>
        )}
        {since !== null && isOver(batch) && <SinceWords {...since} />}
      </div>
      <div className="batch-actions">
        {!isOver(batch) && <StopButton batch={batch} />}
        {isOver(batch) && failed > 0 && <RepeatButton batch={batch} failed={failed} repeat={repeat} />}
        <a className="button" href={reportPath(batch.batchId, 'csv')} download>
          <Icon name="save" size={14} /> CSV
        </a>
        <a className="button" href={reportPath(batch.batchId, 'junit')} download>
          <Icon name="save" size={14} /> JUnit
        </a>
        <CopyButton
          icon="link"
          label={say('batch.link')}
          done={say('link.copied')}
          text={() => linkToBatch(place)}
          quiet
        />
      </div>
    </div>
  );
}

function RepeatButton({ batch, failed, repeat }: { batch: Batch; failed: number; repeat: Repeat }) {
  const { say } = useText();
  const cannot = useLacks()('run');
  const { runs, busy, start } = repeat;
  const blocked = cannot ?? (busy || runs === null);
  if (!batch.dryRun)
    return (
      <RealRuns
        label={say('batch.repeat', { n: failed })}
        icon="again"
        runs={runs ?? 0}
        recorded={batch.against === 'recorded'}
        blocked={blocked}
        onStart={start}
      />
    );
  return (
    <Button className="button dry" blocked={blocked} onPress={start}>
      <Icon name="again" size={14} />
      {say('batch.repeat.dry', { n: failed })}
    </Button>
  );
}

/** Of a batch that runs: how long it may still take, or that nothing has ended for a while; and whether its end is to be told. */
function Going({ batch }: { batch: Batch }) {
  const { say } = useText();
  const now = useNow(true);
  const settled = batch.items - batch.counts.pending;
  const last = useRef({ settled, at: now });
  if (last.current.settled !== settled) last.current = { settled, at: now };
  const silentMs = now - last.current.at;
  const { wants, ask } = useEndNotice(batch);
  const leftMs = settled === 0 ? null : (batch.counts.pending * (now - batch.createdAt)) / settled;
  const words =
    silentMs > SILENT_MS
      ? say('batch.silent', { time: formatAge(silentMs) })
      : leftMs !== null && say('batch.left', { time: formatAge(leftMs) });
  return (
    <>
      <span className={silentMs > SILENT_MS ? 'bad' : ''}>{words}</span>{' '}
      {ask !== null && (
        <Button
          label={say(wants ? 'batch.notice.on' : 'batch.notice')}
          className="quiet"
          aria-pressed={wants}
          onPress={ask}
        />
      )}
    </>
  );
}

function linkToBatch(place: Place): string {
  const linked = { ...place, run: null, runs: [], input: null, find: null, item: null, caseName: null };
  return linkTo(linked);
}

function stateWords(batch: Batch, say: Say): string {
  if (batch.state === 'running')
    return say('batch.running', { done: batch.items - batch.counts.pending, n: batch.items });
  if (batch.state === 'cancelling') return say('batch.cancelling');
  const took = formatMs((batch.endedAt ?? batch.createdAt) - batch.createdAt);
  return say(`batch.${batch.state}`, { n: batch.items, took });
}

/** "3 failed, 25 passed": the worst first, nothing that is not there. */
export function countWords({ counts }: Pick<Batch, 'counts'>, say: Say): string {
  const there = verdicts.filter((verdict) => counts[verdict] > 0);
  return there
    .flatMap((verdict) => (verdict === 'pending' ? [] : say(`batch.count.${verdict}`, { n: counts[verdict] })))
    .join(', ');
}

function SinceWords({ at, since, releases }: SinceProps) {
  const { say, time } = useText();
  const { worse, better, added } = since;
  const parts = [
    ...(worse > 0 ? [say('since.worse', { n: worse })] : []),
    ...(better > 0 ? [say('since.better', { n: better })] : []),
    ...(added > 0 ? [say('since.added', { n: added })] : []),
  ];
  const changes = parts.length === 0 ? say('since.nothing') : parts.join(', ');
  return (
    <span className={worse > 0 ? 'since worse' : 'since'}>
      {say('since.words', { time: time(at), changes })}
      {releases !== null && ` ${say('since.releases', releases)}`}
    </span>
  );
}

function StopButton({ batch }: { batch: Batch }) {
  const { say } = useText();
  const failed = useFailed();
  const cannot = useLacks()('cancel');
  const [asked, setAsked] = useState(false);
  const stop = () => {
    setAsked(true);
    cancelBatch(batch.batchId).catch((error) => {
      setAsked(false);
      failed(error);
    });
  };
  return (
    <Button blocked={cannot ?? asked} onPress={stop}>
      <Icon name="stop" size={14} />
      {say('run.stop')}
    </Button>
  );
}

/** The batches whose end is to be told, as long as this page is open. */
const wanted = new Set<string>();

/** Whether the end of a batch is to be told by the browser, and how to ask for it; null where the browser cannot. */
function useEndNotice({ batchId }: Batch): { wants: boolean; ask: (() => void) | null } {
  const [wants, setWants] = useState(wanted.has(batchId));
  if (!('Notification' in window) || Notification.permission === 'denied') return { wants: false, ask: null };
  const ask = async () => {
    if (wanted.delete(batchId)) return setWants(false);
    if ((await Notification.requestPermission()) !== 'granted') return;
    wanted.add(batchId);
    setWants(true);
  };
  return { wants, ask: () => void ask() };
}

/** When a batch ends while the reader looks elsewhere, the title of the page says so, and the browser where that was asked for. */
function useTellEnd(batch: Batch | null, { isOver, words }: { isOver: boolean; words: string }): void {
  const [ran, setRan] = useState<string | null>(null);
  const batchId = batch?.batchId ?? null;
  useEffect(() => {
    if (batchId === null) return;
    if (!isOver) return setRan(batchId);
    if (ran !== batchId) return;
    setRan(null);
    if (wanted.delete(batchId)) new Notification(words);
    if (document.hidden) tellInTitle(words);
  }, [batchId, isOver, ran, words]);
}
