import { useState } from 'react';
import type { ExecutionRecord } from '../../api/executions.ts';
import { useHistory } from '../../run/use-service.ts';
import { useSteady } from '../../run/use-steady.ts';
import { goTo, type Place } from '../../state/location.ts';
import { historyShown } from '../../state/preferences.ts';
import { formatTime } from '../../text/durations.ts';
import { useText } from '../../text/use-text.tsx';
import { Icon } from '../../ui/icon.tsx';
import { RunResult } from '../result/run-result.tsx';
import { HistoryRow } from './history-row.tsx';

type Props = { place: Place; onOpen: (record: ExecutionRecord) => void; onAgain: (record: ExecutionRecord) => void };

/** Earlier runs of this rule: to be looked at, run again, compared. */
export function HistoryPanel({ place, onOpen, onAgain }: Props) {
  const { say } = useText();
  const shown = historyShown.use();
  const history = useHistory(place.app, place);
  const { error } = useSteady(history);
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
      {error && items.length === 0 && <p className="empty-line">{say('history.failed', { error: error.message })}</p>}
      {!error && items.length === 0 && <p className="empty-line">{say('history.empty')}</p>}
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
