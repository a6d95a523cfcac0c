import { type Timer, time } from '../../shared/ports/time.ts';
import type { Logger } from '../../shared/runtime/telemetry/logger.ts';
import type { PickUps } from '../clients/pick-ups.ts';
import type { Claim } from '../files/claims/claims.ts';
import type { Mailbox } from '../files/mailbox.ts';
import { HANGS_AFTER_MS } from '../files/shared-directory.ts';
import type { AtStep, Interrupt, ProgressReports } from './execution.ts';
import { atFirst, INSTANT_MS, next, urgencyOf } from './next.ts';
import type { Effect, EffectOutcome, Facts, Mark, State, WaitEnding, WaitEvent } from './state.ts';

/**
 * Runs the machine of a wait (`next.ts`): brings it the events, the urgent ones first, and does its effects through the mailbox. At most
 * one read or write is under way. A read is given up for an event that is more urgent: then its result is no event. A write is given up only
 * when it still hangs a while after the deadline.
 */

/** Shared by all waits of a worker. */
export type Surroundings = {
  mailbox: Mailbox;
  progress: ProgressReports;
  pickUps: Pick<PickUps, 'took'>;
  atStep: AtStep;
  /** A result is there that this worker cannot read. */
  onUnreadable: () => void;
  log: Logger;
};

/** One execution that waits: the machine's state, its inbox, and what was begun for it. */
export type Wait = {
  readonly facts: Facts;
  /** Something happened to it. */
  put(event: WaitEvent): void;
  /** Something is to happen to it in so many ms. */
  later(ms: number, event: WaitEvent): void;
  /** Its time is over in so many ms. What hangs then, a write too, is not waited for much longer. */
  deadlineIn(ms: number): void;
  readonly isInterrupted: boolean;
  /** The mark was written before the dispatch. */
  marked(mark: Mark): void;
  /** Runs the machine to the end. */
  run(): Promise<{ ending: WaitEnding; mark: Mark }>;
  close(): void;
};

/** Opens the wait for the answer to a claimed execution. The caller closes it. */
export function openWait(facts: Facts, parts: Surroundings): Wait {
  const inbox = createInbox();
  const timers = createTimers((event) => {
    inbox.put(event);
    // The API waits a little longer. From now on: a worker that stood still has had no time to look.
    if (event.kind === 'deadline') timers.later(HANGS_AFTER_MS, { kind: 'hangs' });
  });
  const { claim } = facts;
  const stopWatching = parts.mailbox.watch(claim, (sighting) => {
    if (sighting.kind === 'listing') inbox.put(sighting);
    else if (sighting.kind === 'result-event') inbox.put({ kind: 'result' });
    else if (state.kind !== 'picked-up') timers.later(INSTANT_MS, { kind: 'request' });
  });
  let state: State = atFirst;

  return {
    facts,
    put: inbox.put,
    later: timers.later,
    deadlineIn: (ms) => timers.later(ms, { kind: 'deadline' }),
    get isInterrupted() {
      return inbox.isInterrupted;
    },
    marked(mark) {
      state = { ...state, mark };
    },
    async run() {
      const effects = createEffects(facts, { ...parts, inbox, timers });
      try {
        for (;;) {
          const event = await inbox.next(effects.leastUrgency());
          const step = next(state, event, { now: time.now(), monotonic: time.monotonic() }, facts);
          state = step.state;
          effects.start(step.effects, urgencyIn(state));
          if (state.kind !== 'over') continue;
          if (event.kind !== 'hangs') await effects.settled();
          return state;
        }
      } catch (error) {
        if (state.kind !== 'over' && state.doing?.kind === 'taking answer') state.doing.answer.lease.release();
        throw error;
      } finally {
        effects.abandon();
        const unread = inbox.leftOutcome();
        if (unread) discard(unread);
      }
    },
    close() {
      stopWatching();
      timers.clear();
    },
  };
}

/** How urgent it is what the machine is doing. */
function urgencyIn(state: State): number {
  return state.kind !== 'over' && state.doing ? urgencyOf(state.doing.event) : 0;
}

/** How an interrupt is told to the machine. */
export function toEvent(interrupt: Interrupt): WaitEvent {
  return interrupt === 'handover' ? { kind: 'hand-over' } : { kind: 'cancel', why: interrupt };
}

type Inbox = ReturnType<typeof createInbox>;

/** The events of one wait: one pending of each kind, the urgent ones first, the others in the order they came. */
export function createInbox() {
  const pending = new Map<string, WaitEvent>();
  let failure: { error: unknown } | undefined;
  let wake = () => {};

  const mostUrgent = () =>
    [...pending.values()].reduce((first, other) => (urgencyOf(other) > urgencyOf(first) ? other : first));
  const hasOne = (least: number) => pending.size > 0 && urgencyOf(mostUrgent()) >= least;

  return {
    /** Adds an event, or replaces the pending one of its kind. */
    put(event: WaitEvent): void {
      pending.set(nameOf(event), event);
      wake();
    },
    /** Keeps an event for later, unless a newer one of its kind came. */
    putBack(event: WaitEvent): void {
      if (!pending.has(nameOf(event))) pending.set(nameOf(event), event);
    },
    /** The wait fails. */
    fail(error: unknown): void {
      failure ??= { error };
      wake();
    },
    /** Takes the next event that is at least so urgent, waiting for one if there is none. */
    async next(least: number): Promise<WaitEvent> {
      while (failure === undefined && !hasOne(least)) await new Promise<void>((resolve) => (wake = resolve));
      if (failure !== undefined) throw failure.error;
      const event = mostUrgent();
      pending.delete(nameOf(event));
      return event;
    },
    /** The result of an effect that came after the end of the wait. */
    leftOutcome(): EffectOutcome | undefined {
      const done = pending.get('done');
      return done?.kind === 'done' ? done.outcome : undefined;
    },
    get isInterrupted(): boolean {
      return [...pending.values()].some(({ kind }) => kind === 'hand-over' || kind === 'cancel');
    },
  };
}

function nameOf(event: WaitEvent): string {
  return event.kind === 'cancel' ? event.why : event.kind;
}

/** Keeps only the earliest timer per event kind. */
function createTimers(put: (event: WaitEvent) => void) {
  const timers = new Map<string, { at: number; timer: Timer }>();
  return {
    later(ms: number, event: WaitEvent): void {
      const at = time.monotonic() + ms;
      const earlier = timers.get(event.kind);
      if (earlier && earlier.at <= at) return;
      time.clearTimeout(earlier?.timer);
      const timer = time.setTimeout(() => {
        timers.delete(event.kind);
        put(event);
      }, ms);
      timers.set(event.kind, { at, timer });
    },
    clear: () => {
      for (const { timer } of timers.values()) time.clearTimeout(timer);
    },
  };
}

type Doer = Surroundings & { inbox: Inbox; timers: ReturnType<typeof createTimers> };
type Begun = { kind: 'read'; urgency: number; abort: AbortController } | { kind: 'write' };

/** Does the effects of one wait. */
function createEffects(facts: Facts, parts: Doer) {
  const { inbox } = parts;
  let begun: Begun | undefined;
  /** The report of a pick-up, which is a write too; the next write comes after it. */
  let told: Promise<void> = Promise.resolve();

  function start(effects: readonly Effect[], urgency: number): void {
    if (begun?.kind === 'read') abandon(); // only what is more urgent is handled beside a read
    for (const effect of effects) doOne(effect, urgency);
  }

  function doOne(effect: Effect, urgency: number): void {
    if (isReadOrWrite(effect)) begin(effect, urgency);
    else if (effect.kind === 'tell of pick-up') {
      told = told.then(() => tellOfPickUp(facts.claim, parts));
      told.catch(inbox.fail);
    } else doAtOnce(effect, parts);
  }

  function begin(effect: Read | Write, urgency: number): void {
    const abort = new AbortController();
    const own: Begun = isRead(effect) ? { kind: 'read', urgency, abort } : { kind: 'write' };
    begun = own;
    const work = isRead(effect)
      ? read(effect, facts.claim, { ...parts, signal: abort.signal })
      : told.then(() => write(effect, facts.claim, parts));
    work.then(
      (outcome) => {
        if (begun !== own) return discard(outcome);
        begun = undefined;
        inbox.put({ kind: 'done', outcome });
      },
      (error) => begun === own && inbox.fail(error),
    );
  }

  function abandon(): void {
    if (begun?.kind === 'read') begun.abort.abort();
    begun = undefined;
  }

  return {
    start,
    /** Beside a read only what is more urgent is handled, beside a write only its end. */
    leastUrgency: () =>
      begun === undefined ? 0 : begun.kind === 'read' ? begun.urgency + 1 : urgencyOf({ kind: 'hangs' }),
    settled: () => told,
    abandon,
  };
}

type AtOnce = Exclude<Effect, Read | Write | { kind: 'tell of pick-up' }>;

function doAtOnce(effect: AtOnce, { inbox, timers, onUnreadable }: Doer): void {
  switch (effect.kind) {
    case 'find request in':
      timers.later(effect.ms, { kind: 'request' });
      break;
    case 'handle':
      inbox.put(effect.event);
      break;
    case 'handle again':
      inbox.putBack(effect.event);
      break;
    case 'release':
      effect.lease.release();
      break;
    case 'count unreadable result':
      onUnreadable();
      break;
  }
}

type Read = Effect & { kind: 'read result' | 'find earlier ending' | 'find client' | 'find request' };
type Write = Effect & { kind: 'withdraw' | 'take answer' | 'write mark' | 'make directory' };

const READS = new Set<Effect['kind']>(['read result', 'find earlier ending', 'find client', 'find request']);
const WRITES = new Set<Effect['kind']>(['withdraw', 'take answer', 'write mark', 'make directory']);
const isRead = (effect: Effect): effect is Read => READS.has(effect.kind);
const isReadOrWrite = (effect: Effect): effect is Read | Write => isRead(effect) || WRITES.has(effect.kind);

async function read(
  effect: Read,
  claim: Claim,
  { mailbox, signal }: Surroundings & { signal: AbortSignal },
): Promise<EffectOutcome> {
  switch (effect.kind) {
    case 'read result':
      return { kind: 'result', ...(await mailbox.readResult(claim, { ...effect, signal })) };
    case 'find earlier ending': {
      const kept = await mailbox.readKept(claim, signal);
      if (kept) return { kind: 'result', found: kept, sight: undefined };
      if (!(await mailbox.wasWithdrawn(claim))) return { kind: 'earlier withdrawal', found: null };
      return { kind: 'earlier withdrawal', found: { isRegistered: await mailbox.isRegistered(claim) } };
    }
    case 'find client':
      return { kind: 'client', is: await mailbox.findClient(claim) };
    case 'find request':
      return { kind: 'request', is: await mailbox.findRequest(claim, effect.mark) };
  }
}

async function write(effect: Write, claim: Claim, { mailbox, log }: Surroundings): Promise<EffectOutcome> {
  switch (effect.kind) {
    case 'withdraw': {
      const isWithdrawn = await mailbox.withdraw(claim);
      if (effect.keepsDirectory) await mailbox.keepDirectory(claim);
      return { kind: 'withdrawn', isWithdrawn };
    }
    case 'take answer':
      if (effect.removesRequest && (await mailbox.removeRequest(claim))) {
        const { mockId, app, address } = claim;
        log.warn({ mockId, app, address }, 'the client does not delete its requests; it may run them again');
      }
      await mailbox.keepDirectory(claim);
      return { kind: 'done' };
    case 'write mark':
      return { kind: 'mark', mark: await mailbox.mark(claim) };
    case 'make directory':
      await mailbox.makeDirectory(claim);
      return { kind: 'mark', mark: await mailbox.mark(claim) };
  }
}

/** Whoever follows the execution hears of it, and the directory is the client's. */
async function tellOfPickUp(claim: Claim, { mailbox, progress, pickUps, atStep, log }: Surroundings): Promise<void> {
  const { mockId, app, address } = claim;
  progress.reached(mockId, address, 'picked-up');
  pickUps.took(claim);
  await atStep('picked-up', mockId);
  log.debug({ mockId, app, address }, 'picked up');
  await mailbox.keepDirectory(claim);
}

/** The result of a read that was given up. */
function discard(outcome: EffectOutcome): void {
  if (outcome.kind === 'result' && outcome.found.kind === 'present') outcome.found.lease.release();
}
