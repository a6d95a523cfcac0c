import { useState } from 'react';
import { type ExecutionRecord, getExecution, isEnd } from '../api/executions.ts';
import { callOf } from '../run/call-of.ts';
import { curlOf } from '../run/curl.ts';
import { tookMs } from '../run/headline.ts';
import { useHistory } from '../run/use-service.ts';
import { goTo, type Place, printPlace, readTarget } from '../state/location.ts';
import { historyShown } from '../state/preferences.ts';
import { formatMs, formatTime } from '../text/durations.ts';
import { type Say, useText } from '../text/use-text.tsx';
import { useAnnounce } from '../ui/announce.tsx';
import { copyText } from '../ui/copy.ts';
import { CopyButton } from '../ui/copy-button.tsx';
import { Icon } from '../ui/icon.tsx';
import { IconButton } from '../ui/icon-button.tsx';
import { OutcomeChip } from '../ui/outcome-chip.tsx';
import { useSession } from './session.ts';

type Props = { place: Place; onOpen: (record: ExecutionRecord) => void; onAgain: (record: ExecutionRecord) => void };

/** Earlier runs of this rule: to be looked at, run again, compared. */
export function HistoryPanel({ place, onOpen, onAgain }: Props) {
  const { say } = useText();
  const shown = historyShown.use();
  const history = useHistory(place.app, place);
  const [selected, setSelected] = useState<readonly string[]>([]);
  const items = history.data?.items ?? [];
  const select = (mockId: string, on: boolean) =>
    setSelected((now) => (on ? [...now, mockId] : now.filter((other) => other !== mockId)));
  const chosen = selected.filter((mockId) => items.some((item) => item.mockId === mockId));
  return (
    <section className={shown ? 'history' : 'history closed'} aria-label={say('history.label')}>
      <div className="history-head">
        <button type="button" className="history-toggle" aria-expanded={shown} onClick={() => historyShown.set(!shown)}>
          <Icon name={shown ? 'down' : 'up'} size={14} />
          <h2>{say('history.label')}</h2>
        </button>
        {!shown && items[0] && <LastRun record={items[0]} />}
        <span className="muted">{chosen.length < 2 ? say('history.compare.hint') : ''}</span>
        <button
          type="button"
          className="button small"
          disabled={chosen.length < 2}
          onClick={() => goTo({ runs: [...chosen].reverse(), run: null }, { push: true })}
        >
          {say('history.compare')}
        </button>
      </div>
      {history.error && items.length === 0 && (
        <p className="empty-line">{say('history.failed', { error: history.error.message })}</p>
      )}
      {!history.error && items.length === 0 && <p className="empty-line">{say('history.empty')}</p>}
      {items.length > 0 && (
        <div className="history-list">
          <table>
            <HistoryHead />
            <tbody>
              {items.map((record) => (
                <HistoryRow
                  key={record.mockId}
                  record={record}
                  current={place.run === record.mockId || place.runs.includes(record.mockId)}
                  selected={chosen.includes(record.mockId)}
                  onSelect={(on) => select(record.mockId, on)}
                  onOpen={() => onOpen(record)}
                  onAgain={() => onAgain(record)}
                />
              ))}
            </tbody>
          </table>
          {history.hasNextPage && (
            <button
              type="button"
              className="quiet"
              disabled={history.isFetchingNextPage}
              onClick={() => void history.fetchNextPage()}
            >
              {say('history.more')}
            </button>
          )}
        </div>
      )}
    </section>
  );
}

function HistoryHead() {
  const { say } = useText();
  return (
    <thead>
      <tr>
        <td className="select" />
        <th scope="col" className="time">
          {say('history.time')}
        </th>
        <th scope="col" className="came-to">
          {say('history.result')}
        </th>
        <th scope="col">{say('history.target')}</th>
        <th scope="col">{say('history.client')}</th>
        <th scope="col" className="number">
          {say('history.took')}
        </th>
        <td className="row-actions" />
      </tr>
    </thead>
  );
}

function LastRun({ record }: { record: ExecutionRecord }) {
  const { language } = useText();
  return (
    <span className="last-run">
      {formatTime(record.history[0]?.at ?? 0, language, Date.now())} <RunResult record={record} />
    </span>
  );
}

type RowProps = {
  record: ExecutionRecord;
  current: boolean;
  selected: boolean;
  onSelect: (on: boolean) => void;
  onOpen: () => void;
  onAgain: () => void;
};

function HistoryRow({ record, current, selected, onSelect, onOpen, onAgain }: RowProps) {
  const { say, language } = useText();
  const time = formatTime(record.history[0]?.at ?? 0, language, Date.now());
  return (
    <tr className={current ? 'current' : ''} aria-current={current ? 'true' : undefined} onClick={onOpen}>
      <td onClick={(event) => event.stopPropagation()}>
        <input
          type="checkbox"
          aria-label={say('history.select', { time })}
          checked={selected}
          onChange={({ target }) => onSelect(target.checked)}
        />
      </td>
      <td>
        <button
          type="button"
          className="row-button"
          aria-label={say('history.open', { time })}
          onClick={(event) => {
            event.stopPropagation();
            onOpen();
          }}
        >
          {time}
        </button>
      </td>
      <td>
        <RunResult record={record} />
      </td>
      <td>
        {targetWords(record.target, say)}
        {record.ts !== null && (
          <small> {say('history.asOf', { time: formatTime(Number(record.ts), language, Date.now()) })}</small>
        )}
      </td>
      <td className="muted">{record.address ?? '–'}</td>
      <td className="number">{isEnd(record.state) ? formatMs(tookMs(record, 0)) : '…'}</td>
      <td className="row-actions" onClick={(event) => event.stopPropagation()}>
        <IconButton icon="again" label={say('history.rerun')} onPress={onAgain} />
        <CurlButton record={record} />
        <CopyButton
          icon="link"
          label={say('history.link')}
          done={say('link.copied')}
          text={() => linkTo(record)}
          quiet
        />
      </td>
    </tr>
  );
}

/** What a run came to, or how it ended when it came to nothing. */
export function RunResult({ record }: { record: ExecutionRecord }) {
  const { say } = useText();
  if (record.decision !== null && record.state === 'succeeded') return <OutcomeChip outcome={record.decision} />;
  const tone = record.state === 'failed' || record.state === 'timed-out' ? 'error' : 'none';
  return <span className={`chip ${tone}`}>{say(`history.state.${record.state}`)}</span>;
}

function targetWords(text: string, say: Say): string {
  const target = readTarget(text);
  if (target.kind === 'lane') return say('target.inLane', { lane: target.lane });
  return say(target.kind === 'address' ? 'target.address' : 'target.all');
}

/** The input is fetched when it is wanted: lists come without. */
function CurlButton({ record }: { record: ExecutionRecord }) {
  const { say } = useText();
  const announce = useAnnounce();
  const { signedIn } = useSession();
  const copy = async () => {
    const { input } = await getExecution(record.mockId);
    const worked = await copyText(curlOf(callOf(record, input), { origin: window.location.origin, signedIn }));
    announce(say(worked ? 'link.curlCopied' : 'link.failed'));
  };
  return (
    <IconButton
      icon="terminal"
      label={say('history.curl')}
      onPress={() => void copy().catch(() => announce(say('failed.unreachable')))}
    />
  );
}

function linkTo({ app, ruleId, confId, target, ts, mockId }: ExecutionRecord): string {
  const place = { app, ruleId, confId, target: readTarget(target), ts, run: mockId, runs: [], input: null };
  return `${window.location.origin}${window.location.pathname}${printPlace(place)}`;
}
