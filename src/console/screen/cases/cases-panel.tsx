import { useEffect, useRef, useState } from 'react';
import { getItem } from '../../api/batch-items.ts';
import type { ExecutionRecord } from '../../api/executions.ts';
import { runSaved } from '../../cases/inputs/batch-call.ts';
import { printItemPlace } from '../../cases/item-place.ts';
import { chosenTargets } from '../../cases/targets.ts';
import { useBatches } from '../../cases/use-batch.ts';
import { casesOf, useSavedCases } from '../../cases/use-saved-cases.ts';
import { useStart } from '../../cases/use-start.ts';
import { goTo, type Place } from '../../state/location.ts';
import { useText } from '../../text/use-text.tsx';
import { useAnnounce } from '../../ui/announce.tsx';
import { IconButton } from '../../ui/icon-button.tsx';
import type { RuleContext } from '../frame/use-rule.ts';
import type { Input } from '../input/use-input.ts';
import { BatchPicker } from './batch-picker.tsx';
import { BatchResults } from './batch-results.tsx';
import { CoveragePanel } from './coverage-panel.tsx';
import { InputsPanel } from './inputs/inputs-panel.tsx';
import type { PanelProps } from './panel-props.ts';
import { ReleasePanel } from './release/release-panel.tsx';
import { ReplayPanel } from './replay/replay-panel.tsx';
import type { Pressed } from './results-table.tsx';
import { StartBatch } from './start-batch.tsx';
import { TargetsField } from './targets-field.tsx';

/** The names by which a run can be opened. */
type Opened = Pick<ExecutionRecord, 'app' | 'ruleId' | 'confId' | 'ts' | 'target' | 'mockId'>;
type Props = {
  place: Place;
  rule: RuleContext;
  input: Input;
  onOpenRun: (run: Opened, more: Partial<Place>) => void;
};

/** Below the tree: the saved cases, many inputs at once, what a release would change, which nodes the cases reach, or whether the rules can be released. */
export function CasesPanel({ place, rule, input, onOpenRun }: Props) {
  const { say } = useText();
  const [tall, setTall] = useState(false);
  const open = useOpenCase({ place, input, onOpenRun });
  const props = { place, rule, onOpen: open };
  return (
    <section className={tall ? 'drawer tall' : 'drawer'} aria-label={say(`drawer.${place.panel ?? 'cases'}`)}>
      <div className="drawer-head">
        {place.panel !== 'coverage' && place.panel !== 'release' && <BatchPicker place={place} />}
        <IconButton
          icon={tall ? 'down' : 'up'}
          label={say(tall ? 'drawer.lower' : 'drawer.taller')}
          onPress={() => setTall(!tall)}
        />
      </div>
      {place.panel === 'inputs' && <InputsPanel {...props} />}
      {place.panel === 'replay' && <ReplayPanel {...props} />}
      {place.panel === 'release' && rule.clients.data && <ReleasePanel place={place} clients={rule.clients.data} />}
      {place.panel === 'coverage' && <CoveragePanel {...props} input={input} />}
      {place.panel === 'cases' && <SavedCasesPanel {...props} />}
    </section>
  );
}

function SavedCasesPanel({ place, rule, onOpen }: PanelProps) {
  const { say } = useText();
  const of = casesOf(place);
  const saved = useSavedCases(of);
  const targets = chosenTargets.use();
  const clients = rule.clients.data ?? [];
  const { busy, error, start } = useStart();
  useLastBatch(place);
  if (of === null) return <p className="empty-line">{say('save.wholeRule')}</p>;
  const cases = saved.data?.cases ?? [];
  return (
    <>
      {saved.error && <p className="notice warn">{say('cases.failed', { error: saved.error.message })}</p>}
      {cases.length > 0 && (
        <div className="inputs-start">
          <TargetsField targets={targets} clients={clients} onTargets={chosenTargets.set} />
          <StartBatch
            label={say('cases.run', { n: cases.length })}
            cases={cases.filter(({ skip }) => !skip).length}
            inputCharacters={cases.reduce((sum, { input, skip }) => sum + (skip ? 0 : input.length), 0)}
            targets={targets}
            clients={clients}
            occurrences={rule.occurrences}
            busy={busy}
            error={error}
            onStart={({ dryRun }) => void start((key) => runSaved({ ...of, targets, dryRun }, key))}
          />
        </div>
      )}
      <BatchResults place={place} fields={rule.schema.data?.fields} saved={cases} onOpen={onOpen} />
    </>
  );
}

/** Whoever opens the cases sees the last batch of them: without one in the address it is the newest there is. */
function useLastBatch(place: Place): void {
  const batches = useBatches(place);
  const last = batches.data?.find(({ etag }) => etag !== null);
  const seen = useRef(false);
  useEffect(() => {
    if (seen.current || !last) return;
    seen.current = true;
    if (place.batch === null) goTo({ batch: last.batchId });
  }, [last, place.batch]);
}

type Opening = Pick<Props, 'place' | 'input' | 'onOpenRun'>;

/** Opens a case: its run where there is one, with the input it had; else its input alone. */
function useOpenCase({ place, input, onOpenRun }: Opening) {
  const { say } = useText();
  const announce = useAnnounce();
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
  return (pressed: Pressed) => {
    openItem(pressed).catch(() => announce(say('failed.unreachable')));
  };
}
