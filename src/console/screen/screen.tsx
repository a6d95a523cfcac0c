import { useCallback, useEffect, useState } from 'react';
import { usePlace } from '../state/location.ts';
import { useText } from '../text/use-text.tsx';
import type { Occurrence } from '../trace/tree.ts';
import { AsOf } from './as-of.tsx';
import { onCommand } from './commands.ts';
import { type Detail, DetailsPanel } from './details-panel.tsx';
import { Header } from './header.tsx';
import { InputPanel } from './input-panel.tsx';
import { ResultPanel } from './result-panel.tsx';
import { blockedBecause, RunBar } from './run-bar.tsx';
import { TargetPicker } from './target-picker.tsx';
import { TreePanel } from './tree-panel.tsx';
import { useInput } from './use-input.ts';
import { useRule } from './use-rule.ts';
import { useRun } from './use-run.ts';

const parts = ['input', 'result', 'details', 'history'] as const;
type Part = (typeof parts)[number];

/** The one screen: what to run, how it went, and what it did. On a narrow one, one part at a time. */
export function Screen() {
  const { say } = useText();
  const place = usePlace();
  const rule = useRule(place);
  const input = useInput(place, rule);
  const run = useRun({ place, input: input.text, clients: rule.clients.data ?? [], occurrences: rule.occurrences });
  const [part, setPart] = useState<Part>('input');
  const [detail, setDetail] = useState<Detail>('changes');
  const [chosenIndex, setChosenIndex] = useState<{ of: readonly Occurrence[]; index: number } | null>(null);
  const chosen = chosenIndex?.of === rule.occurrences ? (rule.occurrences[chosenIndex.index] ?? null) : null;
  const blocked = blockedBecause({ place, input, rule, say });

  const choose = useCallback(
    (occurrence: Occurrence, how: 'pass' | 'press' = 'press') => {
      setChosenIndex({ of: rule.occurrences, index: occurrence.index });
      if (how === 'press') setDetail('node');
    },
    [rule.occurrences],
  );

  const { start, stop, isOpen, sending } = run;
  useEffect(
    () =>
      onCommand((command) => {
        if ((command === 'run' || command === 'again') && blocked === null && !isOpen && !sending) void start();
        if (command === 'stop') stop();
      }),
    [blocked, isOpen, sending, start, stop],
  );
  // Whoever presses Run wants to see what comes of it.
  useEffect(() => {
    if (place.run !== null) setPart('result');
  }, [place.run]);

  return (
    <div className="screen" data-part={part}>
      <Header place={place} rule={rule} onHelp={() => {}} signOut={null} />
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
      <main>
        <div className="column input">
          <div className="column-scroll">
            <TargetPicker app={place.app ?? ''} target={place.target} clients={rule.clients.data ?? []} />
            <AsOf ts={place.ts} />
            <InputPanel input={input} rule={rule} />
          </div>
          <RunBar run={run} rule={rule} blocked={blocked} />
        </div>
        <div className="column result">
          <ResultPanel place={place} run={run} rule={rule} onChoose={choose} />
          <TreePanel place={place} run={run} rule={rule} chosen={chosen} onChoose={choose} />
        </div>
        <aside className="column details" aria-label={say('details.label')}>
          <DetailsPanel run={run} rule={rule} chosen={chosen} detail={detail} onDetail={setDetail} onChoose={choose} />
        </aside>
      </main>
    </div>
  );
}
