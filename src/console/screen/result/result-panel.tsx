import type { ReactNode } from 'react';
import { type ExecutionRecord, isEnd } from '../../api/executions.ts';
import { Refused, Unreachable } from '../../api/request.ts';
import { endedHeadline, type Headline, openHeadline, refusedHeadline, tookMs, type Words } from '../../run/headline.ts';
import type { Reading } from '../../run/reading.ts';
import type { Place } from '../../state/location.ts';
import { formatMs } from '../../text/durations.ts';
import type { TextKey } from '../../text/en.ts';
import { useText } from '../../text/use-text.tsx';
import type { Occurrence } from '../../trace/tree.ts';
import { Icon } from '../../ui/icon.tsx';
import { OutcomeChip } from '../../ui/outcome-chip.tsx';
import type { RuleContext } from '../frame/use-rule.ts';
import { StateStrip } from './state-strip.tsx';
import { windowWords } from './time-window-words.ts';
import type { NotBegun, Run } from './use-run.ts';
import { Why } from './why.tsx';

type Props = { place: Place; run: Run; rule: RuleContext; onChoose: (occurrence: Occurrence) => void };

/** How the run stands: its state in a sentence, its way, and why it came out as it did. */
export function ResultPanel({ place, run, rule, onChoose }: Props) {
  const { say } = useText();
  const { followed, reading } = run;
  const record =
    followed?.kind === 'open' ? followed.record : followed?.kind === 'ended' ? followed.execution.record : null;
  const headline = useHeadline({ place, run, rule, record });
  const words = ({ key, parameters }: Words) => say(key, parameters);
  return (
    <div className="result-panel">
      <div className={`headline ${headline.tone}`} role="status" aria-live="polite" aria-atomic="true">
        <i className="light" aria-hidden="true" />
        <div>
          <strong>{words(headline.title)}</strong>
          <p>{headline.hint ? words(headline.hint) : ''}</p>
        </div>
        {reading?.decision && (
          <span className="verdict">
            {say('state.done.result')} <OutcomeChip outcome={reading.decision} large />
          </span>
        )}
        {run.isOpen && (
          <button type="button" className="button" aria-disabled={run.stopping} onClick={run.stop}>
            <Icon name="stop" />
            {say('run.stop')}
            <kbd>Esc</kbd>
          </button>
        )}
        {run.notBegun?.error instanceof Unreachable && (
          <button type="button" className="button" onClick={() => run.notBegun && void run.again(run.notBegun)}>
            {say('state.askAgain')}
          </button>
        )}
      </div>
      <StateStrip record={record} />
      <WhyLine reading={run.shown} stale={reading === null} onChoose={onChoose} />
    </div>
  );
}

function WhyLine({
  reading,
  stale,
  onChoose,
}: {
  reading: Reading | null;
  stale: boolean;
  onChoose: (occurrence: Occurrence) => void;
}) {
  const { say } = useText();
  let content: ReactNode = <span className="muted">{say(reading ? withoutReason(reading) : 'why.empty')}</span>;
  if (reading && reading.why.length > 0) {
    const outcome = reading.decision === null ? say('outcome.ERROR') : say(`outcome.${reading.decision}`);
    content = (
      <>
        <b>{say('why.title', { outcome })}</b> <Why why={reading.why} reading={reading} onChoose={onChoose} />
      </>
    );
  }
  return <div className={stale && reading ? 'why stale' : 'why'}>{content}</div>;
}

function withoutReason({ trace, execution }: Reading): TextKey {
  const { outcome } = execution.record;
  if (outcome !== null && outcome.code !== null && !outcome.mayHaveRun) return 'why.notRun';
  if (trace === 'none') return 'why.noTrace';
  return trace === 'empty' ? 'why.emptyTrace' : 'why.noPlace';
}

function useHeadline({
  place,
  run,
  rule,
  record,
}: Omit<Props, 'onChoose'> & { record: ExecutionRecord | null }): Headline {
  const { say, language } = useText();
  const { followed, notBegun, reading } = run;
  if (run.sending) return { title: { key: 'state.sending' }, hint: null, tone: 'busy' };
  if (notBegun) return notBegunHeadline(notBegun);
  if (place.run === null) return { title: { key: 'state.idle' }, hint: { key: 'state.idle.hint' }, tone: 'calm' };
  if (followed?.kind === 'unknown')
    return { title: { key: 'state.unknown' }, hint: { key: 'state.unknown.hint' }, tone: 'warn' };
  if (followed?.kind === 'unreachable')
    return { title: { key: 'state.unreachable' }, hint: { key: 'state.unreachable.hint' }, tone: 'bad' };
  if (!record) return { title: { key: 'state.sending' }, hint: null, tone: 'busy' };
  const named = record.target.startsWith('address:') ? record.target.slice(8) : null;
  const client = record.address ?? named ?? say('client.any');
  if (!isEnd(record.state) || !reading) return openHeadline(record, { client, stopping: run.stopping });
  const tree = rule.tree.data ?? null;
  const window = tree?.rule ? windowWords(tree.rule.timeWindow, { say, language }) : '';
  return endedHeadline(reading, { client, time: formatMs(tookMs(record, Date.now())), window, tree });
}

function notBegunHeadline({ error, call }: NotBegun): Headline {
  if (error instanceof Unreachable) {
    return { title: { key: 'state.notSent' }, hint: { key: 'state.notSent.hint' }, tone: 'bad' };
  }
  const { code, status } = error instanceof Refused ? error : { code: null, status: null };
  return refusedHeadline({ code, status, message: error.message }, call.app);
}
