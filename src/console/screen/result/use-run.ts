import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { Client } from '../../api/browse.ts';
import { beginExecution, cancelExecution, type ExecuteCall } from '../../api/executions.ts';
import type { Refused, Unreachable } from '../../api/request.ts';
import { compactText } from '../../json/whole-text.ts';
import { type Reading, readRun } from '../../run/reading.ts';
import { useExecution } from '../../run/use-execution.ts';
import { goTo, type Place, printTarget } from '../../state/location.ts';
import type { Occurrence } from '../../trace/tree.ts';

export type Run = ReturnType<typeof useRun>;

/** A call that did not become an execution. `key`: to send the very same call again, which never runs twice. */
export type NotBegun = { error: Refused | Unreachable | Error; call: ExecuteCall; key: string };

type What = { place: Place; input: string; clients: readonly Client[]; occurrences: readonly Occurrence[] };

/** The run on the screen, and everything that can be done about it. */
export function useRun({ place, input, clients, occurrences }: What) {
  const queries = useQueryClient();
  const [sending, setSending] = useState(false);
  const [notBegun, setNotBegun] = useState<NotBegun | null>(null);
  const [stopping, setStopping] = useState<string | null>(null);
  const followed = useExecution(place.run);
  const execution = followed?.kind === 'ended' ? followed.execution : null;
  const reading = useMemo(() => (execution ? readRun(execution, occurrences) : null), [execution, occurrences]);
  const shown = useLast(reading, { place, waiting: sending || followed?.kind === 'open' || followed === null });

  const state = followed?.kind === 'open' ? followed.record.state : followed?.kind;
  useEffect(() => {
    if (state !== undefined) void queries.invalidateQueries({ queryKey: ['history'] });
  }, [state, queries]);

  const call = useCallback(
    (change: Partial<ExecuteCall> = {}): ExecuteCall => ({
      app: place.app ?? '',
      ruleId: place.ruleId,
      confId: place.confId,
      ts: place.ts,
      target: printTarget(place.target),
      input: compactText(input),
      ...change,
    }),
    [place, input],
  );

  const send = useCallback(async (wanted: ExecuteCall, key: string): Promise<string | null> => {
    try {
      return await beginExecution(wanted, key);
    } catch (error) {
      setNotBegun({ error: error instanceof Error ? error : new Error(String(error)), call: wanted, key });
      return null;
    }
  }, []);

  const begin = useCallback(
    async (wanted: ExecuteCall, key: string = randomKey()) => {
      setSending(true);
      setNotBegun(null);
      const mockId = await send(wanted, key);
      setSending(false);
      if (mockId !== null) goTo({ run: mockId, runs: [], ts: wanted.ts }, { push: true });
    },
    [send],
  );

  const beginOnEach = useCallback(async () => {
    setSending(true);
    setNotBegun(null);
    const runs: string[] = [];
    for (const { address } of clients.filter(({ online }) => online)) {
      const mockId = await send(call({ target: `address:${address}` }), randomKey());
      if (mockId !== null) runs.push(mockId);
    }
    setSending(false);
    if (runs.length > 0) goTo({ run: null, runs }, { push: true });
  }, [clients, call, send]);

  const open = followed?.kind === 'open' ? followed.record : null;
  return {
    sending,
    notBegun,
    followed,
    reading,
    /** The reading to draw: while a new run is on its way, still that of the one before. */
    shown,
    stopping: open !== null && stopping === open.mockId,
    isOpen: open !== null,
    call,
    begin,
    start: (change: Partial<ExecuteCall> = {}) => (place.target.kind === 'each' ? beginOnEach() : begin(call(change))),
    again: (failed: NotBegun) => begin(failed.call, failed.key),
    forget: () => setNotBegun(null),
    stop(): void {
      if (!open) return;
      setStopping(open.mockId);
      cancelExecution(open.mockId).catch(() => setStopping(null));
    },
  };
}

/** The reading before this one, as long as it is of the same rule and another is on its way. */
function useLast(reading: Reading | null, { place, waiting }: { place: Place; waiting: boolean }): Reading | null {
  const last = useRef<{ rule: string; reading: Reading } | null>(null);
  const rule = `${place.app}/${place.ruleId}/${place.confId}`;
  useEffect(() => {
    if (reading) last.current = { rule, reading };
  }, [reading, rule]);
  if (reading) return reading;
  return waiting && place.run !== null && last.current?.rule === rule ? last.current.reading : null;
}

/** `crypto.randomUUID` is missing on plain HTTP. */
function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
