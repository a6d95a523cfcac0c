import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { isMeant } from '../../../shared/contract/target.ts';
import { compactText } from '../../../shared/json-tree/whole-text.ts';
import type { Occurrence } from '../../../shared/reasoning/tree.ts';
import type { Client } from '../../api/browse.ts';
import { beginExecution, cancelExecution, type ExecuteCall, type ExecutionRecord } from '../../api/executions.ts';
import type { FollowedExecution } from '../../api/follow-execution.ts';
import { isSlip, randomKey } from '../../run/calls.ts';
import { changesSince, type FormChange } from '../../run/form.ts';
import { useLacks } from '../../run/queries/use-service.ts';
import { documentOf, type Reading, readRun } from '../../run/reading.ts';
import { goTo, type Place, printTarget, readTarget } from '../../state/location.ts';
import { chooseDry, type Pins, useIsDry, usePins } from '../../state/preferences.ts';
import { useFailed } from '../../ui/announce.tsx';
import type { Input } from '../input/use-input.ts';

export type Run = ReturnType<typeof useRun>;

type Form = { place: Place; input: Input };
type What = Form & {
  followed: FollowedExecution | null;
  clients: readonly Client[];
  /** The places of the tree that the run ran through. */
  occurrences: readonly Occurrence[];
};

/** The run on the screen, and everything that can be done about it. */
export function useRun({ place, input, followed, clients, occurrences }: What) {
  const queries = useQueryClient();
  const dry = useDryRun(place, { clients, occurrences });
  const call = useCall(place, input.text, dry);
  const { sending, notBegun, begin, beginOnEach, forget } = useBegin(call, clients);
  const [stopping, setStopping] = useState<string | null>(null);
  const execution = followed?.kind === 'ended' ? followed.execution : null;
  const reading = useMemo(() => (execution ? readRun(execution, occurrences) : null), [execution, occurrences]);
  const shown = useLast(reading, { place, waiting: sending || followed?.kind === 'open' || followed === null });
  const open = followed?.kind === 'open' ? followed.record : null;
  const mayCancel = useLacks()('cancel') === null;
  const failed = useFailed();
  useCancelWhenLeft(mayCancel ? open : null, place.run);

  const state = open?.state ?? followed?.kind;
  useEffect(() => {
    if (state !== undefined) void queries.invalidateQueries({ queryKey: ['history'] });
  }, [state, queries]);

  const record = open ?? execution?.record ?? null;
  const sent = execution ? execution.input : place.input;
  const changes = useChanges(record, sent, { input, place });

  return {
    sending,
    notBegun,
    followed,
    /** The reading of the run on the screen; none while a call is sent, and none beside a call that was refused. */
    reading: notBegun === null ? reading : null,
    /** The reading to draw: while a new run is on its way, still that of the one before. */
    shown: notBegun === null ? shown : null,
    /** The values that the form has and the run on the screen did not. */
    changes: sending || notBegun !== null ? [] : changes,
    stopping: open !== null && stopping === open.mockId,
    isOpen: open !== null,
    call,
    dry,
    begin,
    start: () => (place.target.kind === 'each' ? beginOnEach() : begin(call())),
    again: (failed: NotBegun) => begin(failed.call, failed.key),
    forget,
    /** Gives the form back what the run on the screen was. */
    takeItsInput(): void {
      if (record === null) return;
      if (sent !== null) input.adopt(sent);
      goTo({ ts: record.ts, target: readTarget(record.target) });
    },
    stop(): void {
      if (!open || !mayCancel) return;
      setStopping(open.mockId);
      cancelExecution(open.mockId).catch((error) => {
        setStopping(null);
        failed(error);
      });
    },
  };
}

function useChanges(record: ExecutionRecord | null, sent: string | null, form: Form): FormChange[] {
  const { input, place } = form;
  return useMemo(
    () => (record === null ? [] : changesOfForm(record, sent, { read: input.read, place })),
    [record, sent, input.read, place],
  );
}

/** The changes of a form since a run. */
export function changesOfForm(
  record: ExecutionRecord,
  sent: string | null,
  { read, place }: { read: Input['read']; place: Place },
): FormChange[] {
  const form = { input: read.kind === 'ok' ? read.root : null, ts: place.ts };
  const target = isOneOf(place.target, record) ? printTarget(place.target) : record.target;
  const asked = { input: documentOf(sent), ts: record.ts, target };
  return changesSince(asked, { ...form, target: printTarget(place.target) });
}

/** Whether a run on one client, such as an item of a batch, is one that this target could have had. */
function isOneOf(target: Place['target'], { target: asked, lane }: ExecutionRecord): boolean {
  if (readTarget(asked).kind !== 'address') return false;
  return target.kind === 'all' || (target.kind === 'lane' && target.lane === lane);
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

/** A call that did not become an execution. `key`: to send the very same call again, which never runs twice. */
export type NotBegun = { error: unknown; call: ExecuteCall; key: string };

const EXECUTION_ID = /^[0-9a-f-]{36}$/;

function useCall(place: Place, text: string, { isOn: dryRun, pins }: Pick<DryRun, 'isOn' | 'pins'>) {
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

function useBegin(call: ReturnType<typeof useCall>, clients: readonly Client[]) {
  const [sending, setSending] = useState(false);
  const [notBegun, setNotBegun] = useState<NotBegun | null>(null);

  const send = useCallback(async (wanted: ExecuteCall, key: string): Promise<string | null> => {
    try {
      return await beginExecution(wanted, key);
    } catch (error) {
      setNotBegun({ error, call: wanted, key });
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

/**
 * Cancels a run that its reader leaves before a client has picked it up: by closing the page, or by turning to another rule or
 * run. A call with an Idempotency-Key is not cancelled by the connection that breaks, so the page says it. A run that a client
 * has picked up goes on.
 */
function useCancelWhenLeft(open: ExecutionRecord | null, shown: string | null): void {
  const current = useRef(shown);
  // Before the clean-up below, which runs in the same step when another run is shown and asks which one that is.
  useLayoutEffect(() => {
    current.current = shown;
  }, [shown]);
  const waiting = open !== null && open.state !== 'picked-up' ? open.mockId : null;
  useEffect(() => {
    if (waiting === null) return;
    const leave = ({ persisted }: PageTransitionEvent) => {
      if (!persisted) cancelQuietly(waiting);
    };
    window.addEventListener('pagehide', leave);
    return () => {
      window.removeEventListener('pagehide', leave);
      if (current.current !== waiting) cancelQuietly(waiting);
    };
  }, [waiting]);
}

/** A failure is told to nobody, because the reader has left. The run then ends at its client's deadline. */
function cancelQuietly(mockId: string): void {
  cancelExecution(mockId, { keepalive: true }).catch(() => {});
}

export type DryRun = ReturnType<typeof useDryRun>;

type Rule = { clients: readonly Client[]; occurrences: readonly Occurrence[] };

/**
 * Whether the runs of this app are to have no effects. The choice stays until somebody takes it back: a run that was to have none never
 * becomes a real one because the last client that can is gone. `pins`: the replacements of nodes of this rule.
 */
function useDryRun({ app, target }: Place, { clients, occurrences }: Rule) {
  const choose = (isOn: boolean) => chooseDry(app, isOn);
  const all = usePins(app);
  const pins: Pins = useMemo(() => {
    const here = new Set(occurrences.map(({ node }) => node.id));
    return Object.fromEntries(Object.entries(all).filter(([id]) => here.has(id)));
  }, [all, occurrences]);
  const meant = clients.filter((client) => client.online && (target.kind === 'each' || isMeant(target, client)));
  const isPossible = target.kind === 'each' ? meant.every(({ dryRun }) => dryRun) : meant.some(({ dryRun }) => dryRun);
  return { isOn: useIsDry(app), isPossible, choose, pins };
}
