import { type ExecutionRecord, getExecution, isEnd, type Listed } from '../../api/executions.ts';
import { callOf } from '../../run/call-of.ts';
import { curlOf } from '../../run/curl.ts';
import { tookMs } from '../../run/headline.ts';
import { changedInput, inputInShort } from '../../run/history/history-filter.ts';
import { printPlace, readTarget } from '../../state/location.ts';
import { useIsDry } from '../../state/preferences.ts';
import { formatMs } from '../../text/durations.ts';
import { useText } from '../../text/use-text.tsx';
import { useAnnounce } from '../../ui/announce.tsx';
import { copyText } from '../../ui/copy.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { IconButton } from '../../ui/icon-button.tsx';
import { useSession } from '../frame/session.ts';
import { useLacks } from '../frame/use-may.ts';
import { targetWords } from '../input/target-words.ts';
import { RunResult } from '../result/run-result.tsx';

const MAX_INPUT = 90;

type RowProps = {
  record: Listed;
  /** The input of the run that it repeats; null when there is none, or it is not listed. */
  before: string | null;
  everyRule: boolean;
  current: boolean;
  selected: boolean;
  onSelect: (on: boolean) => void;
  onOpen: () => void;
  onAgain: () => void;
};

/** One earlier run: what came of it, and what can be done with it. */
export function HistoryRow({ record, before, everyRule, current, selected, onSelect, onOpen, onAgain }: RowProps) {
  const { say, moment, ...text } = useText();
  const cannotRun = useLacks()('run');
  const isDry = useIsDry(String(record.app)) || record.dryRun;
  const time = text.time(record.history[0]?.at ?? 0);
  const changed = changedInput(before, record.input ?? null);
  const short = inputInShort(record.input ?? null, MAX_INPUT) ?? '';
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
        <RunResult record={record} /> {record.dryRun && <span className="tag">{say('dry.tag')}</span>}
      </td>
      {everyRule && <td>#{record.ruleId ?? record.confId}</td>}
      <td className="given" title={record.input ?? undefined}>
        {short} {changed !== null && <b>{changed}</b>}
      </td>
      <td>
        {record.address ?? targetWords(record.target, say)}
        {record.target.startsWith('lane:') && <small> {targetWords(record.target, say)}</small>}
        {record.keyName !== null && <small> {say('history.by', { name: record.keyName })}</small>}
        {record.ts !== null && <small> {say('history.asOf', { time: moment(record.ts) })}</small>}
      </td>
      <td className="number">{isEnd(record.state) ? formatMs(tookMs(record, 0)) : '…'}</td>
      <td className="row-actions" onClick={(event) => event.stopPropagation()}>
        <IconButton
          icon="again"
          label={cannotRun ?? say(isDry ? 'history.rerun.dry' : 'history.rerun')}
          disabled={cannotRun !== null}
          onPress={onAgain}
        />
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
  const below = { panel: null, batch: null, item: null, caseName: null };
  const place = {
    app: String(app),
    ruleId,
    confId,
    target: readTarget(target),
    ts,
    run: mockId,
    runs: [],
    input: null,
    find: null,
    ...below,
  };
  return `${window.location.origin}${window.location.pathname}${printPlace(place)}`;
}
