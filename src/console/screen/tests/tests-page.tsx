import { useEffect, useRef, useState } from 'react';
import { getItem } from '../../api/batch-items.ts';
import type { Batch } from '../../api/batches.ts';
import type { CasesOf, SavedCase } from '../../api/cases.ts';
import type { ExecutionRecord } from '../../api/executions.ts';
import { chosenTargets, runSaved } from '../../cases/batch-call.ts';
import { printItemPlace } from '../../cases/case-rows.ts';
import { casesOf, useSavedCases } from '../../cases/saved-cases.ts';
import { useBatches, useStart } from '../../cases/use-batches.ts';
import { goTo, type Place, type Source, sources, toTests } from '../../state/location.ts';
import { useText } from '../../text/use-text.tsx';
import { useFailed } from '../../ui/announce.tsx';
import { IconButton } from '../../ui/icon.tsx';
import { PlaceLink } from '../../ui/place-link.tsx';
import { Select } from '../../ui/select.tsx';
import type { RuleContext } from '../frame/use-rule.ts';
import { isBeside } from '../frame/views.tsx';
import type { Input } from '../input/use-input.ts';
import { BatchResults, countWords } from './batch-results.tsx';
import { NewInputs } from './inputs.tsx';
import type { Pressed } from './results-table.tsx';
import { ChosenRuns } from './runs.tsx';
import { BatchHead } from './start-batch.tsx';

type Opened = Pick<ExecutionRecord, 'app' | 'ruleId' | 'confId' | 'ts' | 'target' | 'mockId'>;
type Props = {
  place: Place;
  rule: RuleContext;
  input: Input;
  onOpenRun: (run: Opened, more: Partial<Place>) => void;
};

/** Many inputs on some targets, in one table: saved cases, inputs that are given, or those of earlier runs. */
export function TestsPage({ place, rule, input, onOpenRun }: Props) {
  const { say, failed } = useText();
  const [tall, setTall] = useState(false);
  const open = useOpenCase({ place, input, onOpenRun });
  const { source, batch } = place;
  const of = casesOf(place);
  const saved = useSavedCases(of);
  const cases = (source === 'cases' && saved.data?.cases) || noCases;
  useLastBatch(place);
  return (
    <section className={tall ? 'drawer fill tall' : 'drawer fill'} aria-label={say('nav.tests')}>
      <div className="drawer-head line">
        <nav className="sources" aria-label={say('tests.sources')}>
          {sources.map((one) => (
            <PlaceLink key={one} to={toTests(one)} aria-current={one === source ? 'true' : undefined}>
              {say(`tests.source.${one}`)}
            </PlaceLink>
          ))}
        </nav>
        <BatchPicker place={place} />
        {isBeside(place) && (
          <IconButton
            icon={tall ? 'down' : 'up'}
            label={say(tall ? 'drawer.lower' : 'drawer.taller')}
            onPress={() => setTall(!tall)}
          />
        )}
      </div>
      {source !== 'inputs' && of === null && <p className="empty-line">{say('save.wholeRule')}</p>}
      {source === 'cases' && saved.error && (
        <p className="notice warn">{say('cases.failed', { error: failed(saved.error) })}</p>
      )}
      {of !== null && cases.length > 0 && !isBeside(place) && <SavedCases of={of} cases={cases} rule={rule} />}
      {source === 'inputs' && batch === null && <NewInputs place={place} rule={rule} />}
      {source === 'runs' && batch === null && of !== null && (
        <ChosenRuns key={place.ruleId} place={place} rule={rule} />
      )}
      {(source === 'cases' || batch !== null) && (
        <BatchResults place={place} rule={rule} input={input} saved={cases} onOpen={open} />
      )}
    </section>
  );
}

const noCases = [] as const;

type SavedProps = { of: CasesOf; cases: readonly SavedCase[]; rule: RuleContext };

function SavedCases({ of, cases, rule }: SavedProps) {
  const { say } = useText();
  const starting = useStart();
  const run = cases.filter(({ skip }) => !skip);
  return (
    <BatchHead
      source="cases"
      label={say('cases.run', { n: run.length })}
      cases={run.length}
      inputCharacters={run.reduce((sum, { input }) => sum + input.length, 0)}
      rule={rule}
      targets={chosenTargets.use()}
      onTargets={chosenTargets.set}
      starting={starting}
      onStart={(how) => void starting.start((key) => runSaved({ ...of, ...how }, key))}
    />
  );
}

function BatchPicker({ place }: { place: Place }) {
  const { say, time } = useText();
  const batches = useBatches(place).data ?? [];
  if (batches.length === 0) return null;
  const wordsOf = (batch: Batch) =>
    [time(batch.createdAt), say(`tests.source.${sourceOf(batch)}`), countWords(batch, say)].join(' · ');
  const choose = (batchId: string) => {
    const batch = batches.find((one) => one.batchId === batchId);
    goTo({ ...toTests(batch ? sourceOf(batch) : place.source), batch: batchId || null }, { push: true });
  };
  return (
    <label className="batch-picker line muted">
      {say('batch.earlier')}
      <Select
        value={batches.some(({ batchId }) => batchId === place.batch) ? (place.batch ?? '') : ''}
        options={[['', say('batch.none')], ...batches.map((batch) => [batch.batchId, wordsOf(batch)] as const)]}
        onChoose={choose}
      />
    </label>
  );
}

function sourceOf({ etag, against }: Batch): Source {
  if (etag !== null) return 'cases';
  return against === 'recorded' ? 'runs' : 'inputs';
}

/** Whoever opens the cases sees the last batch of them: without one in the address it is the newest there is. */
function useLastBatch(place: Place): void {
  const batches = useBatches(place);
  const last = batches.data?.find(({ etag }) => etag !== null);
  const seen = useRef('');
  const { source, batch, ruleId } = place;
  useEffect(() => {
    const of = `${source} ${ruleId}`;
    if (seen.current === of || source !== 'cases' || !last) return;
    seen.current = of;
    if (batch === null) goTo({ batch: last.batchId });
  }, [last, batch, source, ruleId]);
}

type Opening = Pick<Props, 'place' | 'input' | 'onOpenRun'>;

function useOpenCase({ place, input, onOpenRun }: Opening) {
  const failed = useFailed();
  const { app, ruleId, confId, batch } = place;
  const load = (text: string, change: Partial<Place>) => {
    input.adopt(text);
    goTo({ run: null, runs: [], ...change }, { push: true });
  };
  const openItem = async ({ row, cell }: Pressed) => {
    if (cell === null) {
      if (row.saved) load(row.saved.input, { ts: row.saved.ts, caseName: row.name, item: null });
      return;
    }
    const item = await getItem(cell.batchId, String(cell.item.n));
    const named = { item: printItemPlace({ batchId: cell.batchId, n: item.n }, batch), caseName: null };
    const { mockId, ts, target, verdict } = item;
    if (mockId === null || verdict === 'pending' || verdict === 'skipped') return load(item.input, { ...named, ts });
    onOpenRun({ app: Number(app), ruleId, confId, ts, target, mockId }, { ...named, input: item.input });
  };
  return (pressed: Pressed) => void openItem(pressed).catch(failed);
}
