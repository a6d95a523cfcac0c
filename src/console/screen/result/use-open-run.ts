import { useLayoutEffect, useRef } from 'react';
import { type ExecutionRecord, getExecution } from '../../api/executions.ts';
import { callOf, isSlip } from '../../run/calls.ts';
import { openedRun } from '../../run/queries/use-execution.ts';
import { draftKey } from '../../state/drafts.ts';
import { goTo, type Place, readTarget, useArrivals } from '../../state/location.ts';
import { isDry } from '../../state/preferences.ts';
import { useFailed } from '../../ui/announce.tsx';
import type { Input } from '../input/use-input.ts';
import type { Run } from './use-run.ts';

type What = { place: Place; input: Input; run: Run };

/** Opening a run, from the history, a link or by Back: it is shown, and the form becomes what it was. */
export function useOpenRun({ place, input, run }: What) {
  const arrivals = useArrivals();
  const arrived = useRef(0);
  const wanted = useRef<string | null>(null);
  const { followed } = run;

  // Before it is painted: the run must not stand beside the form of another one, not even for a frame.
  useLayoutEffect(() => {
    if (arrived.current !== arrivals) {
      arrived.current = arrivals;
      wanted.current = place.run;
    }
    if (place.run === null || wanted.current !== place.run || followed === null) return;
    if (followed.kind === 'unreachable') return;
    if (followed.kind === 'unknown') {
      wanted.current = null;
      if (place.input !== null) input.adopt(place.input);
      return;
    }
    const record = followed.kind === 'open' ? followed.record : followed.execution.record;
    const sent = followed.kind === 'open' ? place.input : followed.execution.input;
    // A link that somebody wrote may say another rule or time than the run was of: the run is right.
    if (draftKey(String(record.app), record) !== draftKey(place.app ?? '', place)) return goTo(whatRan(record));
    if (followed.kind === 'open' && sent === null) return;
    wanted.current = null;
    if (sent !== null) input.adopt(sent);
    // An item ran on one of the clients of its target: the form keeps the target.
    goTo({ ...whatRan(record), input: sent, ...(place.item !== null && { target: place.target }) });
  }, [arrivals, place, followed, input]);

  return {
    /** `more`: what else the place has, such as the input of a run that may not be kept any more. */
    open(record: Ran & { mockId: string }, more: Partial<Place> = {}): void {
      wanted.current = record.mockId;
      goTo({ ...whatRan(record), run: record.mockId, runs: [], input: null, ...more }, { push: true });
    },
    again: useAgain({ input, run }),
  };
}

/** Runs an earlier run again: without effects if it had none, or if those of this app are to have none now. Once, however long the page reads that run. */
function useAgain({ input, run }: Omit<What, 'place'>) {
  const isBeginning = useRef(false);
  const failed = useFailed();
  const begin = async (record: ExecutionRecord, more: Partial<Place>) => {
    const { input: sent, masked } = openedRun(record.mockId)?.execution ?? (await getExecution(record.mockId));
    if (sent !== null) input.adopt(sent);
    goTo({ ...whatRan(record), ...more });
    // Hidden values have to be filled in first; opened, the run says so.
    if (masked.length > 0) return goTo({ run: record.mockId, runs: [] }, { push: true });
    await run.begin({
      ...callOf(record, sent),
      dryRun: record.dryRun || isDry(String(record.app)),
      derivedFrom: record.mockId,
    });
  };
  return (record: ExecutionRecord, more: Partial<Place> = {}): void => {
    if (isSlip('again') || isBeginning.current) return;
    isBeginning.current = true;
    void begin(record, more)
      .catch(failed)
      .finally(() => {
        isBeginning.current = false;
      });
  };
}

type Ran = Pick<ExecutionRecord, 'app' | 'ruleId' | 'confId' | 'ts' | 'target'>;

/** The place of the rule that a run is of, as it ran. */
export function whatRan({ app, ruleId, confId, ts, target }: Ran): Partial<Place> {
  return { app: String(app), ruleId, confId, ts, target: readTarget(target) };
}
