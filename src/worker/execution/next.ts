import { type NoAnswer, noAnswer } from '../../shared/contract/endings/no-answer.ts';
import type { Claim } from '../files/claims/claims.ts';
import { dialects } from '../files/dialects/dialects.ts';
import { openFileName, requestFileName, resultFileName } from '../files/file-names.ts';
import {
  type FoundResult,
  faultOf,
  isWrongForGood,
  noResult,
  withJudgement,
  withSight,
} from '../files/results/result-file.ts';
import type { Listing } from '../files/watch.ts';
import type { Doing, Effect, EffectOutcome, Facts, Moment, State, WaitEvent } from './state.ts';

/** Only a client that has been away for this long has left: one that stops removes its files one after the other. */
const GONE_AFTER_MS = 500;
/** An instant client has answered by then: nobody has to hear of its pick-up, and its directory needs no mark. */
export const INSTANT_MS = 25;

/** The next state, and the effects to carry out. */
type Step = { state: State; effects: Effect[] };
type Open = Exclude<State, { kind: 'over' }>;
/** The context in which an event is handled. */
type Context = { facts: Facts; moment: Moment; event: WaitEvent };

/** The state of an execution whose request is about to be seen by its client. */
export const atFirst: State = {
  kind: 'dispatched',
  doing: null,
  mark: 'none',
  checksOnceMarked: false,
  directoryGoneAt: null,
  registrationGoneAt: null,
  unusable: noResult,
  unreadable: null,
};

/**
 * The machine of a wait: pure, with no clock but `moment`. An event that comes while something is read gives the read up, and what the
 * read was for is handled again afterwards; the driver brings only more urgent events then, and none while something is written.
 */
export function next(state: State, event: WaitEvent, moment: Moment, facts: Facts): Step {
  const context = { facts, moment, event };
  if (state.kind === 'over') return stay(state);
  if (event.kind === 'hangs')
    return also(
      unanswered(state, noAnswer('directory-hangs', { address: facts.claim.address })),
      ...releasedWith(state.doing),
    );
  if (event.kind === 'done')
    return state.doing
      ? afterEffect(state, state.doing, event.outcome, { ...context, event: state.doing.event })
      : stay(state);
  if (state.doing === null) return handle(state, event, context);
  const { state: after, effects } = handle(idle(state), event, context);
  return { state: after, effects: [...effects, { kind: 'handle again', event: state.doing.event }] };
}

/** The memory of an answer that was read, and that the directory did not let go of in time. */
function releasedWith(doing: Doing | null): Effect[] {
  return doing?.kind === 'taking answer' ? [{ kind: 'release', lease: doing.answer.lease }] : [];
}

/** An event that is more urgent is handled first, and gives up what is being read for one that is less so. */
export function urgencyOf({ kind }: WaitEvent): number {
  switch (kind) {
    case 'done':
    case 'hangs':
      return 4;
    case 'hand-over':
      return 3;
    case 'cancel':
      return 2;
    case 'deadline':
      return 1;
    default:
      return 0;
  }
}

function handle(state: Open, event: WaitEvent, context: Context): Step {
  switch (event.kind) {
    case 'result':
      return readResult(state, 'go on', context);
    case 'request':
      return findRequest(state, context);
    case 'mark':
      return begin(state, { kind: 'marking', event }, { kind: 'write mark' });
    case 'resumed':
      return readResult(state, 'find earlier ending', context);
    case 'listing':
      return readListing(state, event, context);
    case 'deadline':
      return readResult(state, 'give up', context);
    case 'cancel':
      // If the client has it and only its caller left, the wait goes on: the answer belongs in the history.
      if (state.kind === 'picked-up') return cancelTooLate(state, event.why, context);
      return withdraw(state, event.why, context);
    case 'hand-over':
      return { state: { kind: 'over', mark: state.mark, ending: { kind: 'interrupted' } }, effects: [] };
    default:
      return stay(state);
  }
}

// A listing of the client's directory.

function readListing(state: Open, { names, registered }: Listing, context: Context): Step {
  const { claim, marksFirst } = context.facts;
  const seen = withRegistration(state, registered, context);
  const isGone =
    seen.registrationGoneAt !== null && context.moment.monotonic - seen.registrationGoneAt >= GONE_AFTER_MS;
  if (names === null) return directoryGone(seen, isGone, context);
  const there = { ...seen, directoryGoneAt: null };
  const requestIsGone = !names.has(requestFileName(claim.mockId)) && !names.has(claim.temporary);
  // With our mark beside it, a missing request was picked up: some file systems still show a removed file by its name when the listing
  // has it no more. Where the mark comes before the dispatch, a listing may also miss a file that is just being renamed.
  const isPickedUp =
    there.kind === 'dispatched' && requestIsGone && names.has(openFileName(claim.mockId)) && !marksFirst;
  const { state: now, effects } = isPickedUp ? pickedUp(there) : stay(there);
  if (requestIsGone && now.kind !== 'picked-up') effects.push({ kind: 'find request in', ms: INSTANT_MS });
  if (names.has(resultFileName(claim.mockId))) return also(readResult(now, 'go on', context), ...effects);
  return isGone ? also(readResult(now, 'leave', context), ...effects) : { state: now, effects };
}

/** A client that registers again, or moves to another lane, has no registration for a moment. */
function withRegistration(state: Open, registered: boolean, context: Context): Open {
  if (registered || wasTakenForDead(state, context)) return { ...state, registrationGoneAt: null };
  return { ...state, registrationGoneAt: state.registrationGoneAt ?? context.moment.monotonic };
}

function directoryGone(state: Open, isGone: boolean, context: Context): Step {
  const { monotonic } = context.moment;
  const directoryGoneAt = state.directoryGoneAt ?? monotonic;
  const gone = { ...state, directoryGoneAt };
  if (monotonic - directoryGoneAt < GONE_AFTER_MS && !wasTakenForDead(state, context)) return stay(gone);
  const now = vanished(gone);
  if (!context.facts.claim.registered || isGone) return readResult(now, 'leave', context);
  // The client lives, but does not make its directory again; without it the answer has nowhere to go.
  return begin(now, { kind: 'making directory', event: context.event }, { kind: 'make directory' });
}

/**
 * The published SDKs cannot beat while they run. Another server takes one that runs for long for dead, and removes its
 * registration and directory under it; when it is done it registers again.
 */
function wasTakenForDead(state: Open, { facts, moment }: Context): boolean {
  const { claim, resultTimeoutMs, clientTimeoutMs } = facts;
  const runningMs = moment.now - (claim.answerBy - resultTimeoutMs);
  return state.kind === 'picked-up' && dialects[claim.dialect].isSilentWhileRunning && runningMs > clientTimeoutMs / 2;
}

// The beginnings of procedures.

function readResult(state: Open, then: (Doing & { kind: 'reading result' })['then'], { event }: Context): Step {
  const isLastRead = then === 'give up';
  return begin(
    state,
    { kind: 'reading result', then, event },
    { kind: 'read result', unusable: state.unusable, isLastRead },
  );
}

function findRequest(state: Open, { facts, event }: Context, then: 'go on' | 'leave' = 'go on'): Step {
  if (state.kind !== 'dispatched') return stay(state);
  // Without its mark nothing tells why the request of a registered client is gone.
  const checksOnceMarked = facts.claim.registered && state.mark === 'none';
  if (checksOnceMarked) return stay({ ...state, checksOnceMarked });
  const effect: Effect = { kind: 'find request', mark: state.mark };
  return begin({ ...state, checksOnceMarked: false }, { kind: 'finding request', then, event }, effect);
}

function withdraw(state: Open, why: (Doing & { kind: 'withdrawing' })['why'], { event }: Context): Step {
  const keepsDirectory = why === 'invalid result' || (why === 'deadline' && faultOf(state.unusable) !== undefined);
  return begin(state, { kind: 'withdrawing', why, event }, { kind: 'withdraw', keepsDirectory });
}

// The results of effects.

function afterEffect(doingState: Open, doing: Doing, outcome: EffectOutcome, context: Context): Step {
  const state = idle(doingState);
  switch (doing.kind) {
    case 'reading result':
      return outcome.kind === 'result' ? afterReading(state, doing.then, outcome, context) : stay(state);
    case 'finding earlier ending':
      if (outcome.kind === 'result') return afterReading(state, 'go on', outcome, context);
      return outcome.kind === 'earlier withdrawal'
        ? afterFindingEarlierEnding(state, outcome.found, context)
        : stay(state);
    case 'finding client':
      return outcome.kind === 'client' ? afterFindingClient(state, outcome.is, context) : stay(state);
    case 'finding request':
      return outcome.kind === 'request' ? afterFindingRequest(state, doing.then, outcome.is, context) : stay(state);
    case 'withdrawing':
      return outcome.kind === 'withdrawn'
        ? afterWithdrawal(state, doing.why, outcome.isWithdrawn, context)
        : stay(state);
    case 'taking answer':
      return {
        state: { kind: 'over', mark: state.mark, ending: { kind: 'answered', answer: doing.answer } },
        effects: [],
      };
    case 'marking':
    case 'making directory':
      return outcome.kind === 'mark' ? afterMark({ ...state, mark: outcome.mark }) : stay(state);
    default:
      return doing satisfies never;
  }
}

type Read = EffectOutcome & { kind: 'result' };

function afterReading(
  before: Open,
  then: (Doing & { kind: 'reading result' })['then'],
  read: Read,
  context: Context,
): Step {
  const { found } = read;
  if (found.kind === 'present' && found.judgement.kind === 'answer') return takeAnswer(before, found, context);
  const state = withReading(before, read, context.moment);
  const effects: Effect[] = [];
  if (found.kind === 'present') effects.push({ kind: 'release', lease: found.lease });
  if (found.kind === 'unreadable' && before.unreadable === null) effects.push({ kind: 'count unreadable result' });
  // A file that has been wrong and unchanged for a while will not become a result.
  if (isWrongForGood(state.unusable, context.moment.now))
    return also(withdraw(state, 'invalid result', context), ...effects);
  return also(goOn(state, then, context), ...effects);
}

/** The state of the result path after a read that brought no answer. */
function withReading(state: Open, { found, sight }: Read, { now }: Moment): Open {
  if (found.kind === 'absent') return { ...state, unusable: noResult, unreadable: null };
  const unusable = sight ? withSight(state.unusable, sight) : state.unusable;
  switch (found.kind) {
    case 'skipped':
      return { ...state, unusable };
    case 'unreadable':
      return { ...state, unusable, unreadable: found.code };
    case 'present':
      return { ...state, unusable: withJudgement(unusable, found.stamp, found.judgement, now), unreadable: null };
  }
}

function goOn(state: Open, then: (Doing & { kind: 'reading result' })['then'], context: Context): Step {
  const { event, facts } = context;
  switch (then) {
    case 'go on':
      return stay(state);
    case 'leave':
      return begin(state, { kind: 'finding client', event }, { kind: 'find client' });
    case 'give up':
      if (state.kind !== 'picked-up') return withdraw(state, 'deadline', context);
      return unanswered(state, whatWasMissing(state, false, facts));
    case 'find earlier ending':
      return begin(state, { kind: 'finding earlier ending', event }, { kind: 'find earlier ending' });
  }
}

function takeAnswer(
  state: Open,
  { judgement, lease, writtenAt }: FoundResult & { kind: 'present' },
  { event }: Context,
): Step {
  if (judgement.kind !== 'answer') return also(stay(state), { kind: 'release', lease });
  const { kind: _, ...judged } = judgement;
  const answer = { ...judged, answeredAt: writtenAt, lease };
  // A client that does not delete its requests would run it again.
  const removesRequest = state.kind !== 'picked-up';
  return begin(state, { kind: 'taking answer', answer, event }, { kind: 'take answer', removesRequest });
}

function afterFindingEarlierEnding(state: Open, found: { isRegistered: boolean } | null, context: Context): Step {
  const { claim } = context.facts;
  if (found === null || faultOf(state.unusable) !== undefined) return stay(state);
  if (context.moment.now >= claim.answerBy) return unanswered(state, withdrawn('not-picked-up', context.facts));
  const hasLeft = claim.registered && !found.isRegistered;
  return unanswered(state, withdrawn(hasLeft ? 'left-before-pick-up' : 'cancelled-before-pick-up', context.facts));
}

/** The client is gone unless it has moved to another lane, or the whole shared directory is away. */
function afterFindingClient(state: Open, is: 'here' | 'gone' | 'not known', context: Context): Step {
  if (is === 'here') return stay({ ...state, registrationGoneAt: null });
  if (is === 'not known') return stay(state);
  if (state.kind === 'picked-up') return unanswered(state, left(context.facts.claim));
  return withdraw(state, 'client left', context);
}

function afterFindingRequest(
  state: Open,
  then: 'go on' | 'leave',
  is: (EffectOutcome & { kind: 'request' })['is'],
  { facts }: Context,
): Step {
  const { state: now, effects } =
    is === 'picked up' ? pickedUp(state) : stay(is === 'vanished' ? vanished(state) : state);
  return also(then === 'leave' ? clientLeft(now, facts) : stay(now), ...effects);
}

function afterWithdrawal(
  state: Open,
  why: (Doing & { kind: 'withdrawing' })['why'],
  isWithdrawn: boolean,
  context: Context,
): Step {
  const { facts } = context;
  switch (why) {
    case 'invalid result':
      return unanswered(state, unusable('result-unusable', facts, faultOf(state.unusable)));
    case 'deadline':
      return unanswered(state, whatWasMissing(state, isWithdrawn, facts));
    case 'client left': {
      if (isWithdrawn) return unanswered(state, withdrawn('left-before-pick-up', facts));
      const look = findRequest(state, context, 'leave');
      return look.state.kind !== 'over' && look.state.doing ? look : clientLeft(state, facts);
    }
    default:
      if (isWithdrawn) return unanswered(state, withdrawn('cancelled-before-pick-up', facts));
      return cancelTooLate(state, why, context);
  }
}

function clientLeft(state: Open, { claim }: Facts): Step {
  return unanswered(
    state,
    state.kind === 'picked-up' ? left(claim) : noAnswer('request-removed', { address: claim.address }),
  );
}

function cancelTooLate(state: Open, why: (WaitEvent & { kind: 'cancel' })['why'], { facts }: Context): Step {
  const { state: now, effects } = state.kind === 'dispatched' ? pickedUp(state) : stay(state);
  return also(
    why === 'caller-left'
      ? stay(now)
      : unanswered(now, noAnswer('cancelled-after-pick-up', { address: facts.claim.address })),
    ...effects,
  );
}

function afterMark(state: Open): Step {
  if (state.kind !== 'dispatched' || !state.checksOnceMarked) return stay(state);
  return also(stay({ ...state, checksOnceMarked: false }), { kind: 'handle', event: { kind: 'request' } });
}

function whatWasMissing(state: Open, isWithdrawn: boolean, facts: Facts): NoAnswer {
  const { claim, resultTimeoutMs: timeoutMs } = facts;
  const { address } = claim;
  const fault = faultOf(state.unusable);
  if (state.unreadable !== null) return noAnswer('result-unreadable', { address, timeoutMs, why: state.unreadable });
  if (fault) return unusable('result-unusable-to-the-end', facts, fault);
  if (isWithdrawn) return withdrawn('not-picked-up', facts);
  return noAnswer(state.kind === 'vanished' ? 'silent-after-removal' : 'silent', { address, timeoutMs });
}

// Endings.

const left = ({ address }: Claim) => noAnswer('left-with-request', { address });

type Withdrawn = 'not-picked-up' | 'left-before-pick-up' | 'cancelled-before-pick-up';

/** A client that gives up on a request that is gone has not run what was withdrawn. Of other clients that is not known. */
function withdrawn(reason: Withdrawn, { claim: { address, givesUp }, resultTimeoutMs: timeoutMs }: Facts): NoAnswer {
  return noAnswer(reason, { address, timeoutMs }, { mayHaveRun: !givesUp });
}

function unusable(
  reason: 'result-unusable' | 'result-unusable-to-the-end',
  { claim: { address }, resultTimeoutMs: timeoutMs }: Facts,
  found: ReturnType<typeof faultOf>,
): NoAnswer {
  const { fault, clientDied = false, written } = found ?? {};
  const more = { ...(clientDied && { clientDied }), ...(written !== undefined && { written }) };
  return noAnswer(reason, { address, timeoutMs, problem: 'result-gone', ...fault }, more);
}

// States and steps.

function idle(state: Open): Open {
  return { ...state, doing: null };
}

function vanished(state: Open): Open {
  if (state.kind !== 'dispatched') return state;
  const { checksOnceMarked: _, ...known } = state;
  return { ...known, kind: 'vanished' };
}

/** The client has the request, and whoever follows the execution hears of it. */
function pickedUp(state: Open): { state: Open; effects: Effect[] } {
  const { doing, mark, directoryGoneAt, registrationGoneAt, unusable, unreadable } = state;
  const known = { doing, mark, directoryGoneAt, registrationGoneAt, unusable, unreadable };
  return { state: { ...known, kind: 'picked-up' }, effects: [{ kind: 'tell of pick-up' }] };
}

function stay<T extends State>(state: T): { state: T; effects: Effect[] } {
  return { state, effects: [] };
}

function begin(state: Open, doing: Doing, effect: Effect): Step {
  return { state: { ...state, doing }, effects: [effect] };
}

/** Effects in the order in which they are carried out. */
function also({ state, effects }: Step, ...first: Effect[]): Step {
  return { state, effects: [...first, ...effects] };
}

function unanswered({ mark }: Open, noAnswer: NoAnswer): Step {
  return { state: { kind: 'over', mark, ending: { kind: 'unanswered', noAnswer } }, effects: [] };
}
