import { lazy, Suspense, useCallback, useEffect, useState } from 'react';
import { flushSync } from 'react-dom';
import type { Occurrence } from '../../shared/reasoning/tree.ts';
import { useExecution } from '../run/queries/use-execution.ts';
import { usePlace } from '../state/location.ts';
import { useText } from '../text/use-text.tsx';
import { SaveCaseBar } from './cases/saving/save-case-bar.tsx';
import { type Detail, DetailsPanel } from './details/details-panel.tsx';
import { onCommand } from './frame/commands.ts';
import { focusFirstValue, focusSearch } from './frame/focus.ts';
import { Header } from './frame/header.tsx';
import { Help } from './frame/help.tsx';
import { Loading } from './frame/loading.tsx';
import { signOut, useSession } from './frame/session.ts';
import { useLacks } from './frame/use-may.ts';
import { useRule } from './frame/use-rule.ts';
import { useRuleOfRun } from './frame/use-rule-of-run.ts';
import { HistoryPanel } from './history/history-panel.tsx';
import { AsOf } from './input/as-of.tsx';
import { InputPanel } from './input/input-panel.tsx';
import { Notices } from './input/notices.tsx';
import { blockedBecause, RunBar } from './input/run-bar.tsx';
import { TargetPicker } from './input/target-picker.tsx';
import { useAsOf } from './input/use-as-of.ts';
import { useInput } from './input/use-input.ts';
import { DryRunNotice } from './result/notices/dry-run-notice.tsx';
import { RulesNotice } from './result/notices/rules-notice.tsx';
import { ResultPanel } from './result/result-panel.tsx';
import { useOpenRun } from './result/use-open-run.ts';
import { useRun } from './result/use-run.ts';
import { TreePanel } from './tree/tree-panel.tsx';

const ComparePanel = lazy(() =>
  import('./compare/compare-panel.tsx').then(({ ComparePanel }) => ({ default: ComparePanel })),
);

const CasesPanel = lazy(() => import('./cases/cases-panel.tsx').then(({ CasesPanel }) => ({ default: CasesPanel })));

const parts = ['input', 'result', 'details', 'history'] as const;
type Part = (typeof parts)[number];

/** The one screen: what to run, how it went, and what it did. On a narrow one, one part at a time. */
export function Screen() {
  const { say } = useText();
  const place = usePlace();
  const rule = useRule(place);
  const input = useInput(place, rule);
  const asOf = useAsOf(place.ts);
  const followed = useExecution(place.run);
  const shown = useRuleOfRun(rule, followed);
  const run = useRun({ place, input, followed, clients: rule.clients.data ?? [], occurrences: shown.occurrences });
  const { open, again } = useOpenRun({ place, input, run });
  const session = useSession();
  const [part, setPart] = useState<Part>(place.panel === null ? 'input' : 'history');
  const [detail, setDetail] = useState<Detail>('changes');
  const [help, setHelp] = useState(false);
  const [chosenAt, setChosenAt] = useState<{ of: readonly Occurrence[]; index: number } | null>(null);
  const chosen = chosenAt?.of === shown.occurrences ? (shown.occurrences[chosenAt.index] ?? null) : null;
  const lacks = useLacks();
  const blocked = lacks('run') ?? blockedBecause({ place, input, asOf, rule, dry: run.dry, say });
  const comparing = place.runs.length > 0;

  const choose = useCallback(
    (occurrence: Occurrence, how: 'pass' | 'press' = 'press') => {
      setChosenAt({ of: shown.occurrences, index: occurrence.index });
      if (how !== 'press') return;
      setDetail('node');
      if (window.matchMedia('(width < 820px)').matches) setPart('details');
    },
    [shown.occurrences],
  );

  const { start, stop, isOpen, sending } = run;
  useEffect(
    () =>
      onCommand((command) => {
        if (command === 'run' && blocked === null && !isOpen && !sending) void start();
        if (command === 'stop') stop();
        if (command === 'help') setHelp((shown) => !shown);
        if (command === 'search') {
          flushSync(() => setPart('result'));
          focusSearch();
        }
      }),
    [blocked, isOpen, sending, start, stop],
  );
  // Whoever presses Run wants to see what comes of it.
  const shownCase = place.item ?? place.caseName;
  useEffect(() => {
    if (shownCase !== null) setDetail('case');
  }, [shownCase]);
  const shownRun = place.run ?? place.runs.join();
  useEffect(() => {
    if (shownRun !== '') setPart('result');
  }, [shownRun]);

  return (
    <div className="screen" data-part={part}>
      <Header
        place={place}
        rule={rule}
        input={input}
        changed={run.changes.length > 0}
        onHelp={() => setHelp(true)}
        onInput={() => {
          flushSync(() => setPart('input'));
          focusFirstValue();
        }}
        signOut={session.signedIn ? () => void signOut() : null}
      />
      <nav className="parts" aria-label={say('nav.label')}>
        {parts.map((name) => (
          <button
            type="button"
            key={name}
            aria-current={name === part ? 'page' : undefined}
            onClick={() => setPart(name)}
          >
            {say(`nav.${name}`)}
          </button>
        ))}
      </nav>
      <main className={comparing ? 'comparing' : run.changes.length > 0 ? 'changed' : ''}>
        <div className="column input">
          <div className="column-scroll">
            <TargetPicker app={place.app ?? ''} target={place.target} clients={rule.clients.data ?? null} />
            <AsOf asOf={asOf} window={rule.tree.data?.rule?.timeWindow ?? null} occurrences={rule.occurrences} />
            <InputPanel input={input} rule={rule} />
          </div>
          <RunBar run={run} rule={rule} input={input} blocked={blocked} />
        </div>
        {comparing ? (
          <div className="column tree-column">
            <Suspense fallback={<Loading text="loading.page" />}>
              <ComparePanel
                mockIds={place.runs}
                clients={rule.clients.data ?? []}
                tree={rule.tree.data ?? null}
                onOpen={open}
              />
            </Suspense>
          </div>
        ) : (
          <>
            <div className="column headlines">
              <DryRunNotice run={run} />
              <RulesNotice rule={shown} onAgain={() => 'record' in shown.ofRun && again(shown.ofRun.record)} />
              <ResultPanel place={place} run={run} rule={shown} input={input} onChoose={choose} />
              <SaveCaseBar reading={run.sending ? null : run.reading} />
              <button
                type="button"
                className="button primary run-here"
                aria-disabled={blocked !== null || run.isOpen || run.sending}
                onClick={() => blocked === null && !run.isOpen && !run.sending && void run.start()}
              >
                {say(run.dry.isOn ? 'dry.button' : 'run.button')}
              </button>
            </div>
            <div className="column tree-column">
              <TreePanel place={place} run={run} rule={shown} chosen={chosen} onChoose={choose} />
              <Notices run={run} rule={shown} />
            </div>
            <aside className="column details" aria-label={say('details.label')}>
              <DetailsPanel
                place={place}
                run={run}
                rule={shown}
                input={input}
                chosen={chosen}
                detail={detail}
                onDetail={setDetail}
                onChoose={choose}
              />
            </aside>
          </>
        )}
        {place.panel === null ? (
          <HistoryPanel place={place} onOpen={open} onAgain={again} />
        ) : (
          <Suspense fallback={<Loading text="loading.page" />}>
            <CasesPanel place={place} rule={rule} input={input} onOpenRun={open} />
          </Suspense>
        )}
      </main>
      {help && <Help onClose={() => setHelp(false)} />}
    </div>
  );
}
