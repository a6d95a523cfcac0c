import { lazy, type ReactNode, Suspense } from 'react';
import type { Occurrence } from '../../../shared/reasoning/tree.ts';
import { Refused, Unreachable } from '../../api/request.ts';
import type { Words } from '../../run/headline.ts';
import type { Reading } from '../../run/reading.ts';
import type { Place } from '../../state/location.ts';
import { formatMoment } from '../../text/durations.ts';
import type { TextKey } from '../../text/en.ts';
import { useText } from '../../text/use-text.tsx';
import { Icon } from '../../ui/icon.tsx';
import { OutcomeChip } from '../../ui/outcome-chip.tsx';
import { useLacks } from '../frame/use-may.ts';
import type { RuleContext } from '../frame/use-rule.ts';
import type { Input } from '../input/use-input.ts';
import { FormChanges } from './notices/form-changes.tsx';
import { Timings } from './timings.tsx';
import { useHeadline } from './use-headline.ts';
import type { Run } from './use-run.ts';
import { Why } from './why.tsx';

const WayToTrue = lazy(() => import('./notices/way-line.tsx').then(({ WayToTrue }) => ({ default: WayToTrue })));

type Props = { place: Place; run: Run; rule: RuleContext; input: Input; onChoose: (occurrence: Occurrence) => void };

/** The result, its reason and its state; one press shows where its time went. */
export function ResultPanel({ place, run, rule, input, onChoose }: Props) {
  const { say, language, zone } = useText();
  const cannotStop = useLacks()('cancel');
  const { followed, reading, notBegun } = run;
  const ended = followed?.kind === 'ended' ? followed.execution.record : null;
  const record = followed?.kind === 'open' ? followed.record : ended;
  const headline = useHeadline({ place, run, rule, record });
  const words = ({ key, parameters }: Words) => say(key, parameters);
  const asOf = record?.ts == null ? null : formatMoment(record.ts, language, zone);
  return (
    <div className="result-panel">
      <FormChanges run={run} />
      <div className={`headline ${headline.tone}`} role="status" aria-live="polite" aria-atomic="true">
        {reading?.decision ? (
          <span className="verdict">
            <OutcomeChip outcome={reading.decision} large />
          </span>
        ) : (
          <i className="light" aria-hidden="true" />
        )}
        <div>
          <strong>{words(headline.title)}</strong>{' '}
          {asOf !== null && notBegun === null && (
            <span className="as-of-words">{say('state.asOf', { time: asOf })}</span>
          )}
          <p>{headline.hint ? words(headline.hint) : ''}</p>
        </div>
        {run.isOpen && (
          <button
            type="button"
            className="button"
            aria-disabled={run.stopping || cannotStop !== null}
            title={cannotStop ?? undefined}
            onClick={run.stop}
          >
            <Icon name="stop" />
            {say('run.stop')}
            <kbd>Esc</kbd>
          </button>
        )}
        {notBegun !== null && <AfterRefusal run={run} hasBefore={place.run !== null} />}
      </div>
      <WhyLine reading={run.shown} {...{ run, input, onChoose }} />
      <Timings
        record={notBegun === null && !run.sending ? record : null}
        execution={reading?.execution ?? null}
        trace={reading?.result?.trace ?? null}
      />
    </div>
  );
}

/** A call that did not become a run: send the very same again, or look at the run before it. */
function AfterRefusal({ run, hasBefore }: { run: Run; hasBefore: boolean }) {
  const { say } = useText();
  const { notBegun } = run;
  return (
    <>
      {notBegun?.error instanceof Unreachable && (
        <button type="button" className="button" onClick={() => void run.again(notBegun)}>
          {say('state.askAgain')}
        </button>
      )}
      {hasBefore && (
        <button type="button" className="button" onClick={run.forget}>
          {say('state.before')}
        </button>
      )}
    </>
  );
}

type WhyProps = Pick<Props, 'run' | 'input' | 'onChoose'> & { reading: Reading | null };

function WhyLine({ reading, run, input, onChoose }: WhyProps) {
  const { say } = useText();
  const stale = reading !== null && run.reading === null;
  let content: ReactNode = <span className="muted">{say(reading ? withoutReason(reading) : 'why.empty')}</span>;
  if (run.notBegun !== null) {
    const { error } = run.notBegun;
    const unsure = error instanceof Unreachable || (error instanceof Refused && error.mayHaveRun);
    content = <span className="muted">{say(unsure ? 'why.noAnswer' : 'why.notBegun')}</span>;
  } else if (reading && reading.why.length > 0) {
    const outcome = reading.decision === null ? say('outcome.ERROR') : say(`outcome.${reading.decision}`);
    content = (
      <>
        <b>{say('why.title', { outcome })}</b> <Why why={reading.why} withWanted={false} {...{ reading, onChoose }} />
        <Suspense>
          <WayToTrue {...{ reading, input, onChoose }} />
        </Suspense>
      </>
    );
  }
  return <div className={stale ? 'why stale' : 'why'}>{content}</div>;
}

function withoutReason({ trace, execution }: Reading): TextKey {
  const { outcome } = execution.record;
  if (outcome !== null && outcome.code !== null && !outcome.mayHaveRun) return 'why.notRun';
  if (trace === 'none') return 'why.noTrace';
  return trace === 'empty' ? 'why.emptyTrace' : 'why.noPlace';
}
