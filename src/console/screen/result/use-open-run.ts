import { useEffect, useRef } from 'react';
import { type ExecutionRecord, getExecution } from '../../api/executions.ts';
import { callOf } from '../../run/call-of.ts';
import { goTo, type Place, readTarget } from '../../state/location.ts';
import type { Input } from '../input/use-input.ts';
import type { Run } from './use-run.ts';

type What = { place: Place; input: Input; run: Run };

/** Opening a run of the history: it is shown, and its input becomes the input. */
export function useOpenRun({ place, input, run }: What) {
  // A link may name a run instead of carrying its input.
  const wanted = useRef<string | null>(place.input === null ? place.run : null);
  const { followed } = run;
  const execution = followed?.kind === 'ended' ? followed.execution : null;

  useEffect(() => {
    if (!execution || wanted.current !== execution.record.mockId) return;
    wanted.current = null;
    if (execution.input !== null) input.adopt(execution.input);
  }, [execution, input]);

  return {
    open({ mockId, ts, target }: ExecutionRecord): void {
      wanted.current = mockId;
      goTo({ run: mockId, runs: [], ts, target: readTarget(target) }, { push: true });
    },
    again(record: ExecutionRecord): void {
      const begin = async () => {
        const { input: sent } = await getExecution(record.mockId);
        if (sent !== null) input.adopt(sent);
        goTo({ target: readTarget(record.target), ts: record.ts });
        await run.begin(callOf(record, sent));
      };
      begin().catch(() => {}); // the history row stays and can be pressed again
    },
  };
}
