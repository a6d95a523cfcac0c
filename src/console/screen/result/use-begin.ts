import { useCallback, useState } from 'react';
import { compactText } from '../../../shared/json-tree/whole-text.ts';
import type { Client } from '../../api/browse.ts';
import { beginExecution, type ExecuteCall } from '../../api/executions.ts';
import type { Refused, Unreachable } from '../../api/request.ts';
import { randomKey } from '../../run/random-key.ts';
import { isSlip } from '../../run/slip.ts';
import { goTo, type Place, printTarget } from '../../state/location.ts';
import type { DryRun } from '../input/use-dry-run.ts';

/** A call that did not become an execution. `key`: to send the very same call again, which never runs twice. */
export type NotBegun = { error: Refused | Unreachable | Error; call: ExecuteCall; key: string };

const EXECUTION_ID = /^[0-9a-f-]{36}$/;

/** Makes the call that the form stands for, with what the caller wants otherwise. */
export function useCall(place: Place, text: string, { isOn: dryRun, pins }: Pick<DryRun, 'isOn' | 'pins'>) {
  return useCallback(
    (change: Partial<ExecuteCall> = {}): ExecuteCall => ({
      app: place.app ?? '',
      ruleId: place.ruleId,
      confId: place.confId,
      ts: place.ts,
      target: printTarget(place.target),
      input: compactText(text),
      dryRun,
      stub: pins,
      comparisonId: null,
      derivedFrom: EXECUTION_ID.test(place.run ?? '') ? place.run : null,
      ...change,
    }),
    [place, text, dryRun, pins],
  );
}

/** What a person asks for with a call, whatever stood on the screen before. */
const askedFor = (call: ExecuteCall) => JSON.stringify({ ...call, derivedFrom: null });

/** Sends calls. Once one has become an execution, it is the run on the screen. */
export function useBegin(call: ReturnType<typeof useCall>, clients: readonly Client[]) {
  const [sending, setSending] = useState(false);
  const [notBegun, setNotBegun] = useState<NotBegun | null>(null);

  const send = useCallback(async (wanted: ExecuteCall, key: string): Promise<string | null> => {
    try {
      return await beginExecution(wanted, key);
    } catch (error) {
      setNotBegun({ error: error instanceof Error ? error : new Error(String(error)), call: wanted, key });
      return null;
    }
  }, []);

  const begin = useCallback(
    async (wanted: ExecuteCall, known?: string) => {
      if (known === undefined && isSlip(askedFor(wanted))) return;
      const key = known ?? randomKey();
      setSending(true);
      setNotBegun(null);
      const mockId = await send(wanted, key);
      setSending(false);
      if (mockId !== null) goTo({ run: mockId, runs: [], input: wanted.input }, { push: true });
    },
    [send],
  );

  const beginOnEach = useCallback(async () => {
    if (isSlip(askedFor(call()))) return;
    setSending(true);
    setNotBegun(null);
    const runs: string[] = [];
    const comparisonId = randomKey();
    for (const { address } of clients.filter(({ online }) => online)) {
      const mockId = await send(call({ target: `address:${address}`, comparisonId }), randomKey());
      if (mockId !== null) runs.push(mockId);
    }
    setSending(false);
    if (runs.length > 0) goTo({ run: null, runs, input: call().input }, { push: true });
  }, [clients, call, send]);

  return { sending, notBegun, begin, beginOnEach, forget: () => setNotBegun(null) };
}
