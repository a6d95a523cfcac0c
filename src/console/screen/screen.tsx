import { useCallback, useEffect, useState } from 'react';
import { flushSync } from 'react-dom';
import type { Occurrence } from '../../shared/reasoning/tree.ts';
import type { SchemaField } from '../api/browse.ts';
import type { ExecutionRecord } from '../api/executions.ts';
import { useExecution } from '../run/queries/use-execution.ts';
import { useLacks } from '../run/queries/use-service.ts';
import { goTo, toPage, usePlace } from '../state/location.ts';
import { chooseZone, useUnknownZone } from '../state/preferences.ts';
import { useText } from '../text/use-text.tsx';
import { useFailed } from '../ui/announce.tsx';
import { Button } from '../ui/button.tsx';
import { later } from '../ui/later.tsx';
import { Splitter } from '../ui/splitter.tsx';
import { isNarrow } from '../ui/windowed-rows.ts';
import { type Detail, DetailsPanel } from './details/details-panel.tsx';
import { focusFirstValue, focusPage, focusSearch, onCommand } from './frame/commands.ts';
import { Header } from './frame/header.tsx';
import { signOut, useSession } from './frame/sign-in.tsx';
import { useTitle } from './frame/title.ts';
import { useGreeting, useRule, useRuleOfRun } from './frame/use-rule.ts';
import { isBeside, type Part, places, Views } from './frame/views.tsx';
import { InputPanel } from './input/input-form.tsx';
import { blockedBecause, RunBar, RunHere } from './input/run-bar.tsx';
import { useAsOf } from './input/use-as-of.ts';
import { useInput } from './input/use-input.ts';
import { Where } from './input/where.tsx';
import { DryRunNotice, FormChanges, Notices, RulesNotice } from './result/notices.tsx';
import { ResultPanel } from './result/result-panel.tsx';
import { DroppedRuns, FromFile } from './result/run-file.tsx';
import { useOpenRun } from './result/use-open-run.ts';
import { changesOfForm, useRun } from './result/use-run.ts';
import { TreePanel } from './tree/tree-panel.tsx';

const ComparePanel = later(
  () => import('./compare/compare-panel.tsx').then(({ ComparePanel }) => ComparePanel),
  'loading.page',
);
const HistoryPanel = later(
  () => import('./history/history-panel.tsx').then(({ HistoryPanel }) => HistoryPanel),
  'loading.page',
);
const TestsPage = later(() => import('./tests/tests-page.tsx').then(({ TestsPage }) => TestsPage), 'loading.page');
const ShipPage = later(() => import('./tests/ship-page.tsx').then(({ ShipPage }) => ShipPage), 'loading.page');
const Beginning = later(() => import('./frame/beginning.tsx').then(({ Beginning }) => Beginning));
const Finder = later(() => import('./frame/finder.tsx').then(({ Finder }) => Finder));
const Help = later(() => import('./frame/help.tsx').then(({ Help }) => Help));

const toRule = { panel: null };
const noFields: readonly SchemaField[] = [];

/** The rule: what to run, how it went, and what it did; and the pages beside it. On a narrow screen, one part at a time. */
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
  const failed = useFailed();
  const [part, setPart] = useState<Part>('input');
  const [detail, setDetail] = useState<Detail>('changes');
  const [help, setHelp] = useState(false);
  const [finding, setFinding] = useState(false);
  const greeting = useGreeting(rule);
  const unknownZone = useUnknownZone();
  const [chosenAt, setChosenAt] = useState<{ of: readonly Occurrence[]; index: number } | null>(null);
  const chosen = chosenAt?.of === shown.occurrences ? (shown.occurrences[chosenAt.index] ?? null) : null;
  const lacks = useLacks();
  useTitle(place, shown, run);
  const blocked = lacks('run') ?? blockedBecause({ place, input, asOf, rule, dry: run.dry, say });
  // Whoever has gone to the history meanwhile stays there.
  const comparing = place.runs.length > 0 && (place.panel === null || place.panel === 'tests');
  const isEmpty = place.app === null && rule.apps.data?.length === 0;
  // A comparison has the place of its page for itself.
  const view = comparing ? 'compare' : place.panel === null ? 'rule' : isBeside(place) ? 'beside' : 'page';
  const withForm = !comparing || place.target.kind === 'each';

  const choose = useCallback(
    (occurrence: Occurrence, how: 'pass' | 'press' = 'press') => {
      setChosenAt({ of: shown.occurrences, index: occurrence.index });
      if (how !== 'press') return;
      setDetail('node');
      if (isNarrow()) setPart('details');
    },
    [shown.occurrences],
  );

  const openFile = useCallback((record: ExecutionRecord) => open(record, toRule), [open]);

  const { start, stop, isOpen, sending } = run;
  useEffect(
    () =>
      onCommand((command) => {
        if (command === 'run' && view !== 'page' && blocked === null && !isOpen && !sending) void start();
        if (command === 'stop') stop();
        if (command === 'help') setHelp((shown) => !shown);
        if (command === 'find') setFinding((shown) => !shown);
        const wanted = places.find(({ key }) => command === `go ${key}`);
        if (wanted) {
          setPart(wanted.panel === null ? 'result' : 'page');
          flushSync(() => goTo(toPage(wanted.panel), { push: true }));
          focusPage(wanted.panel);
        }
        if (command === 'search' && view !== 'page') {
          flushSync(() => setPart('result'));
          focusSearch();
        }
      }),
    [blocked, view, isOpen, sending, start, stop],
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
    <div className="screen" data-view={view} data-part={partOf(view, part)}>
      <Header
        place={place}
        rule={rule}
        input={input}
        changed={run.changes.length > 0}
        onHelp={() => setHelp(true)}
        onFind={() => setFinding(true)}
        onSkip={() => {
          if (view === 'page') return focusPage(place.panel);
          flushSync(() => setPart('input'));
          focusFirstValue();
        }}
        signOut={session.signedIn ? () => void signOut().catch(failed) : null}
      />
      {!isEmpty && <Views place={place} part={partOf(view, part)} onPart={setPart} />}
      {unknownZone !== null && (
        <p className="notice greeting" role="status">
          {say('zone.unknown', { zone: unknownZone })}{' '}
          <Button label={say('sheet.close')} className="quiet" onPress={() => chooseZone('UTC')} />
        </p>
      )}
      {greeting.client && (
        <p className="notice greeting" role="status">
          {say('begin.greeting', { client: greeting.client.address, app: place.app ?? '' })}{' '}
          <Button label={say('sheet.close')} className="quiet" onPress={greeting.dismiss} />
        </p>
      )}
      {isEmpty ? (
        <main>
          <Beginning />
        </main>
      ) : (
        <main className={classesOf({ comparing, withForm, changed: run.changes.length > 0 })}>
          <div className="column input" hidden={!withForm}>
            <div className="column-scroll scroll">
              <Where app={place.app ?? ''} target={place.target} rule={rule} asOf={asOf} />
              <InputPanel input={input} rule={rule} />
            </div>
            <RunBar run={run} rule={rule} input={input} blocked={blocked} />
          </div>
          {withForm && view !== 'page' && <Splitter pane="input" />}
          {comparing ? (
            <div className="column tree-column">
              <ComparePanel
                mockIds={place.runs}
                clients={rule.clients.data ?? []}
                tree={rule.tree.data ?? null}
                stale={(record, sent) =>
                  withForm && (
                    <FormChanges
                      changes={changesOfForm(record, sent, { read: input.read, place })}
                      onBack={() => {
                        if (sent !== null) input.adopt(sent);
                        goTo({ ts: record.ts });
                      }}
                    />
                  )
                }
                onOpen={(record) => open(record, { panel: null })}
                onClose={(last) => (place.panel === null && last ? open(last) : goTo({ runs: [] }, { push: true }))}
              />
            </div>
          ) : (
            <>
              <div className="column headlines" tabIndex={-1}>
                <FromFile mockId={place.run} />
                <DryRunNotice run={run} />
                <RulesNotice rule={shown} onAgain={() => 'record' in shown.ofRun && again(shown.ofRun.record)} />
                <ResultPanel place={place} run={run} rule={shown} input={input} onChoose={choose} />
              </div>
              <div className="column tree-column">
                <TreePanel place={place} run={run} rule={shown} chosen={chosen} onChoose={choose} />
                <Notices run={run} rule={shown} />
              </div>
              {view !== 'page' && <Splitter pane="details" />}
              <aside className="column details" aria-label={say('nav.details')}>
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
          {place.panel !== null && !comparing && (
            <div className="column page" tabIndex={-1}>
              {place.panel === 'history' ? (
                <HistoryPanel
                  place={place}
                  fields={rule.schema.data?.fields ?? noFields}
                  onOpen={(record) => open(record, toRule)}
                  onAgain={(record) => again(record, toRule)}
                />
              ) : place.panel === 'tests' ? (
                <TestsPage place={place} rule={rule} input={input} onOpenRun={open} />
              ) : (
                rule.clients.data && <ShipPage place={place} clients={rule.clients.data} />
              )}
            </div>
          )}
          <RunHere place={place} run={run} input={input} blocked={blocked} onInput={() => setPart('input')} />
        </main>
      )}
      <DroppedRuns onOpen={openFile} />
      {help && <Help onClose={() => setHelp(false)} />}
      {finding && (
        <Finder
          rule={rule}
          occurrences={shown.occurrences}
          onNode={choose}
          onRun={open}
          onClose={() => setFinding(false)}
        />
      )}
    </div>
  );
}

function classesOf({ comparing, withForm, changed }: Record<'comparing' | 'withForm' | 'changed', boolean>): string {
  if (comparing) return withForm ? 'comparing' : 'comparing alone';
  return changed ? 'changed' : '';
}

/** What a narrow screen shows: the page, unless a run stands above it. */
function partOf(view: 'rule' | 'beside' | 'page' | 'compare', part: Part): Part {
  if (view === 'page') return 'page';
  return view !== 'beside' && part === 'page' ? 'result' : part;
}
