import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useState } from 'react';
import type { Occurrence } from '../../../shared/reasoning/tree.ts';
import { type ExecutionRecord, everyRun, getHistory } from '../../api/executions.ts';
import { Unreachable } from '../../api/request.ts';
import type { Words } from '../../run/headline.ts';
import { openedRun } from '../../run/queries/use-execution.ts';
import { useLacks, useLongerThan } from '../../run/queries/use-service.ts';
import type { Reading } from '../../run/reading.ts';
import { goTo, type Place } from '../../state/location.ts';
import { useText } from '../../text/use-text.tsx';
import { useAnnounce, useFailed } from '../../ui/announce.tsx';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { later } from '../../ui/later.tsx';
import { OutcomeChip } from '../../ui/outcome-chip.tsx';
import { PlaceLink } from '../../ui/place-link.tsx';
import { onCommand } from '../frame/commands.ts';
import type { OfRun, RuleContext } from '../frame/use-rule.ts';
import { isBeside } from '../frame/views.tsx';
import type { Input } from '../input/use-input.ts';
import { SaveCaseBar } from '../tests/save-case-bar.tsx';
import { FormChanges } from './notices.tsx';
import { SaveRun } from './run-file.tsx';
import { Timings, Waiting } from './timings.tsx';
import { useHeadline } from './use-headline.ts';
import type { Run } from './use-run.ts';
import { Why } from './why.tsx';

const SinceWhen = later(() => import('./since-when.tsx').then(({ SinceWhen }) => SinceWhen));
const WayToOther = later(() => import('./smallest-change.tsx').then(({ WayToOther }) => WayToOther));

/** A run that ends sooner is shown when it has ended: its way there would only flash up. */
const WAITING_MS = 400;

/** Of a longer way the nodes nearest to the one that decided are told, and the root; the tree shows the others. */
const MAX_LED = 4;

type Props = {
  place: Place;
  run: Run;
  rule: RuleContext & { ofRun: OfRun };
  input: Input;
  onChoose: (occurrence: Occurrence) => void;
};

/** The head of a run: its decision and the reason, how it stands, on which client and when, and what can be done with it. */
export function ResultPanel({ place, run, rule, input, onChoose }: Props) {
  const { say, moment } = useText();
  const { followed, reading, notBegun } = run;
  const ended = followed?.kind === 'ended' ? followed.execution.record : null;
  const record = followed?.kind === 'open' ? followed.record : ended;
  const headline = useHeadline({ place, run, rule, record });
  const isWaiting = useLongerThan(run.isOpen || run.sending, WAITING_MS);
  const words = ({ key, parameters }: Words) => say(key, parameters);
  const asOf = record?.ts == null ? null : moment(record.ts);
  return (
    <section className="result-panel" aria-labelledby="result-title">
      <h2 id="result-title" className="hidden-words">
        {say('nav.result')}
      </h2>
      <Spoken reading={run.reading} />
      <FormChanges changes={run.changes} onBack={run.takeItsInput} />
      <div className={`headline ${headline.tone}`}>
        <div className="decision">
          {reading?.decision ? (
            <span className="verdict">
              <OutcomeChip outcome={reading.decision} large />
            </span>
          ) : (
            <i className="light" aria-hidden="true" />
          )}
        </div>
        {isWaiting ? (
          <Waiting record={followed?.kind === 'open' ? followed.record : null} />
        ) : (
          <WhyLine reading={run.shown} {...{ run, input, onChoose }} />
        )}
        <div className="state">
          <div role="status" aria-live="polite" aria-atomic="true">
            <strong>{words(headline.title)}</strong>{' '}
            {asOf !== null && notBegun === null && (
              <span className="as-of-words">{say('state.asOf', { time: asOf })}</span>
            )}
            {headline.hint && <p>{words(headline.hint)}</p>}
          </div>
          <Timings
            record={notBegun === null && !run.sending && !isWaiting ? record : null}
            execution={reading?.execution ?? null}
            trace={reading?.result?.trace ?? null}
          />
          {run.reading !== null && openedRun(run.reading.execution.record.mockId) === null && (
            <SinceWhen key={run.reading.execution.record.mockId} reading={run.reading} rule={rule} />
          )}
        </div>
        <div className="run-actions">
          {run.isOpen && <StopButton run={run} />}
          {notBegun !== null && <AfterRefusal run={run} hasBefore={place.run !== null} />}
          {reading !== null && !run.sending && (place.panel === null || isBeside(place)) && (
            <CompareBefore record={reading.execution.record} />
          )}
          {run.reading !== null && <SaveRun mockId={run.reading.execution.record.mockId} />}
          {run.reading !== null && isAnswered(run.reading) && <SaveCaseBar reading={run.reading} />}
        </div>
      </div>
    </section>
  );
}

/** What a screen reader says of a run that has ended: its outcome, and the sentence that says why. */
function Spoken({ reading }: { reading: Reading | null }) {
  const { say } = useText();
  const [words, setWords] = useState('');
  useEffect(() => {
    const reason = document.querySelector('.why > .reason')?.textContent ?? '';
    setWords(reading?.decision ? `${say(`outcome.${reading.decision}`)}. ${reason}` : '');
  }, [reading, say]);
  return (
    <p className="hidden-words spoken" role="status">
      {words}
    </p>
  );
}

function StopButton({ run }: { run: Run }) {
  const { say } = useText();
  const cannotStop = useLacks()('cancel');
  return (
    <Button blocked={cannotStop ?? run.stopping} onPress={run.stop}>
      <Icon name="stop" />
      {say('run.stop')}
      <kbd>Esc</kbd>
    </Button>
  );
}

/** Whether there is an answer of the client: of another run nothing can be expected again. */
function isAnswered({ execution, late }: Reading): boolean {
  return late || execution.record.ending?.code === null;
}

/** A call that did not become a run: send the very same again, or look at the run before it. */
function AfterRefusal({ run, hasBefore }: { run: Run; hasBefore: boolean }) {
  const { say } = useText();
  const { notBegun } = run;
  return (
    <>
      {notBegun?.error instanceof Unreachable && (
        <Button label={say('state.askAgain')} onPress={() => void run.again(notBegun)} />
      )}
      {hasBefore && <Button label={say('state.before')} onPress={run.forget} />}
    </>
  );
}

type WhyProps = Pick<Props, 'run' | 'input' | 'onChoose'> & { reading: Reading | null };

/** The node that decided and the values it had come first, then node by node what that made of the rule, and what would change it. */
function WhyLine({ reading, run, input, onChoose }: WhyProps) {
  const { say } = useText();
  if (reading === null || reading.why.length === 0 || run.notBegun !== null) return null;
  const stale = run.reading === null;
  const led = reading.why.slice(0, -1).reverse();
  const between = Math.max(0, led.length - MAX_LED);
  const near = led.slice(0, between > 0 ? MAX_LED - 1 : MAX_LED);
  const far = led.slice(near.length + between);
  return (
    <div className={stale ? 'why stale' : 'why'}>
      <Why why={reading.why.slice(-1)} withWanted={false} {...{ reading, onChoose }} />
      <span className="led">
        <Why why={near} withWanted={false} {...{ reading, onChoose }} />
        {between > 0 && ` ${say('why.between', { n: between })} `}
        <Why why={far} withWanted={false} {...{ reading, onChoose }} />
        <WayToOther {...{ reading, input, onChoose }} />
      </span>
    </div>
  );
}

const PAGE = 20;

/** Shows a run beside the one before it: the run it repeats, else the last earlier one of the same rule. */
function CompareBefore({ record }: { record: ExecutionRecord }) {
  const { say } = useText();
  const announce = useAnnounce();
  const failed = useFailed();
  const { mockId } = record;
  const queries = useQueryClient();
  const asked = useMemo(
    () =>
      queryOptions({
        queryKey: ['run-before', mockId],
        queryFn: () => runBefore(record),
        staleTime: Number.POSITIVE_INFINITY,
      }),
    [record, mockId],
  );
  const { data: before = null } = useQuery(asked);
  const beside = useCallback((other: string) => ({ panel: null, run: null, runs: [other, mockId] }), [mockId]);
  const press = useCallback(async () => {
    const other = await queries.fetchQuery(asked);
    if (other === null) announce(say('compare.before.none'));
    else goTo(beside(other), { push: true });
  }, [queries, asked, beside, announce, say]);
  useEffect(
    () =>
      onCommand((command) => {
        if (command === 'compare') press().catch(failed);
      }),
    [press, failed],
  );
  if (before === null) return null;
  return (
    <PlaceLink className="button" title={say('compare.before.hint')} to={beside(before)}>
      {say('keys.compare')}
      <kbd>c</kbd>
    </PlaceLink>
  );
}

async function runBefore({
  mockId,
  app,
  ruleId,
  confId,
  derivedFrom,
  history,
}: ExecutionRecord): Promise<string | null> {
  if (derivedFrom !== null) return derivedFrom;
  const search = { ...everyRun, to: String(history[0]?.at ?? 0) };
  const { items } = await getHistory({ app: String(app), ruleId, search, limit: PAGE, cursor: null });
  return items.find((item) => item.mockId !== mockId && item.confId === confId)?.mockId ?? null;
}
