import { type ExecutionRecord, getExecution, isEnd } from '../../api/executions.ts';
import { callOf } from '../../run/call-of.ts';
import { curlOf } from '../../run/curl.ts';
import { tookMs } from '../../run/headline.ts';
import { printPlace, readTarget } from '../../state/location.ts';
import { formatMs, formatTime } from '../../text/durations.ts';
import { type Say, useText } from '../../text/use-text.tsx';
import { useAnnounce } from '../../ui/announce.tsx';
import { copyText } from '../../ui/copy.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { IconButton } from '../../ui/icon-button.tsx';
import { useSession } from '../frame/session.ts';
import { RunResult } from '../result/run-result.tsx';

type RowProps = {
  record: ExecutionRecord;
  current: boolean;
  selected: boolean;
  onSelect: (on: boolean) => void;
  onOpen: () => void;
  onAgain: () => void;
};

/** One earlier run: what came of it, and what can be done with it. */
export function HistoryRow({ record, current, selected, onSelect, onOpen, onAgain }: RowProps) {
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
