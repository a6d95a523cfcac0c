import { type Code, outcomes } from './codes.ts';
import type { Params } from './template.ts';

/**
 * Whether the rule ran: `no`, `maybe`, `yes`; `earlier`: this call ran nothing, and whether an earlier one under its Idempotency-Key
 * ran was not looked up; `either`: the ending says it.
 */
export type Ran = 'no' | 'maybe' | 'yes' | 'earlier' | 'either';

/** `text` is what happened; parameters may be causes (`causes.ts`). `todo`: what to do beside what `Ran` says. */
type Row<Text extends string = string> = { code: Code; ran: Ran; text: Text; todo: Todo | null };

/** What to do. */
export const advice = {
  again: 'Try again in a moment.',
  scale: 'Try again in a moment, or start more workers (without Redis there is one: set REDIS_URL).',
  'more-apis': 'Try again in a moment, or start more APIs.',
  'later-or-without-key': 'Try again later, or without a key.',
  'another-process': 'Send it again: another process takes it.',
  'start-worker': 'Start a worker and try again.',
  'same-key': 'Send the call again with the same Idempotency-Key.',
  'start-client':
    '[Online: {online}. ]Start it, or check its SHARED_DIR.[ A registration was passed over: {unread} {why}.]',
  'check-both-sides':
    'Start a client, or check on both sides, workers and client, that SHARED_DIR is the same directory.',
  'break-cycle': 'Remove one of these nodes from the children or the forward condition of the node before it.',
  'make-room': 'Make room and try again.',
  'workers-first': 'Replace the workers first, then the APIs.',
  'newer-api': 'Ask an API of the newer version.',
  'other-client-or-real':
    'Name another client with `target`, or leave `dryRun` out to run the rule with all its effects.',
  'other-name-or-client': 'Choose another name, or another client.',
  'smaller-number': 'Write a smaller number, or a string.',
  'new-key': 'Use a new key for a new call.',
} as const;
export type Todo = keyof typeof advice;

const no = <const Text extends string>(code: Code, text: Text, todo: Todo | null = null): Row<Text> => ({
  ...{ code, ran: 'no', text, todo },
});
const maybe = <const Text extends string>(code: Code, text: Text, todo: Todo | null = null): Row<Text> => ({
  ...{ code, ran: 'maybe', text, todo },
});
const yes = <const Text extends string>(code: Code, text: Text): Row<Text> => ({ code, ran: 'yes', text, todo: null });
const earlier = <const Text extends string>(code: Code, text: Text): Row<Text> => ({
  ...{ code, ran: 'earlier', text, todo: null },
});
const either = <const Text extends string>(code: Code, text: Text): Row<Text> => ({
  ...{ code, ran: 'either', text, todo: null },
});

const STOPPING = 'This API process is stopping.';
const BODIES_FULL = 'The bodies of all open calls take as much memory as they may (MAX_OPEN_BODY_BYTES).';

/**
 * Every reason why an execution has no answer of a client. The sentence that callers get is made of a row and its parameters
 * (`words.ts`); the page has its own in Chinese (`console/text/zh/reasons.ts`). A client that the request was for is the parameter
 * `address`.
 */
export const endings = {
  // Before it is on the queue.
  'too-many-wait': no('overloaded', '{waiting} executions are waiting already.', 'scale'),
  'too-many-calls': no(
    'overloaded',
    'Calls come faster than the workers can begin them: a new one would wait for {seconds} s.',
    'scale',
  ),
  'not-sent': no('queue-unavailable', 'The queue store {why}, so nothing was sent.', 'again'),
  'bodies-full': no('overloaded', BODIES_FULL, 'more-apis'),
  'bodies-full-for-keyed': earlier('overloaded', BODIES_FULL),
  'scene-unknown': no('no-worker', 'No worker could say which rule the scene names.', 'again'),
  'keys-full': no(
    'overloaded',
    'As many calls are remembered by their Idempotency-Key as there is room for (IDEMPOTENCY_BYTES).',
    'later-or-without-key',
  ),
  'key-record-away': earlier('outcome-unknown', 'The queue store {why}.'),
  'key-not-looked-up': earlier('overloaded', 'Calls come faster than the workers can begin them.'),
  'not-confirmed': maybe('outcome-unknown', 'The queue store did not confirm execution {mockId}.'),
  stopping: no('stopping', STOPPING, 'another-process'),
  'stopping-for-keyed': earlier('stopping', STOPPING),

  // On the queue.
  'cancelled-in-queue': no('cancelled', 'Execution {mockId} was cancelled before a worker began it.'),
  'cancelled-in-doubt': maybe(
    'cancelled',
    'Execution {mockId} was cancelled before a worker began it, and no worker was there to rule out that one does.',
  ),
  'never-begun': no('overloaded', 'No worker began this execution for "{target}" in time: they are full.', 'scale'),
  'no-worker': no(
    'no-worker',
    'No worker takes executions: none runs, or none reaches the queue store.',
    'start-worker',
  ),
  'no-worker-can': no('no-worker', 'No worker takes executions. {fault}.'),
  'no-worker-for-keyed': earlier('no-worker', 'No worker takes executions[: {fault}].'),
  'store-was-away': maybe(
    'outcome-unknown',
    'The queue store was away while execution {mockId} waited, and no worker took it up again.',
  ),
  'no-worker-in-doubt': maybe(
    'outcome-unknown',
    'No worker takes executions, and the queue store may have lost execution {mockId} before it was added again.',
  ),
  'never-reported': maybe('no-answer', 'No worker reported the end of execution {mockId} within {timeoutMs} ms.'),
  'worker-failed': maybe('outcome-unknown', 'The worker failed on execution {mockId}; its log says why.'),

  // It ended, but how cannot be told.
  'newer-form': maybe(
    'outcome-unknown',
    'Execution {mockId} ended in a newer form that this API does not know.',
    'newer-api',
  ),
  'answer-unreadable': yes(
    'outcome-unknown',
    'Client {address} answered execution {mockId}, but its answer could not be read back from the store.',
  ),
  'answer-gone': yes(
    'outcome-unknown',
    'Client {address} answered execution {mockId}, and its answer is no longer kept (IDEMPOTENCY_BYTES, HISTORY_OFF). It is not run again under this Idempotency-Key.',
  ),
  'ending-unknown': maybe('outcome-unknown', 'How execution {mockId} ended is not known.'),
  'repeat-unknown': maybe(
    'outcome-unknown',
    'Execution {mockId} was begun by an earlier call under this Idempotency-Key, and how it ended is not known any more: it was erased, or the queue store lost it. It is not run again under this key.',
  ),
  'may-be-on-its-way': earlier(
    'outcome-unknown',
    'Execution {mockId}, the first one under this Idempotency-Key, is not on the queue, and no worker could say whether it has begun.',
  ),
  'item-unknown': maybe('outcome-unknown', 'How {mockId} ended is not known: {why}. It is not sent again.'),
  'store-lost': maybe('outcome-unknown', 'How execution {mockId} ended is not known: the store that held it was lost.'),

  // At a worker, before the request was dispatched.
  'no-room': no('overloaded', 'No worker had room for this execution in time.', 'scale'),
  'cancelled-before-dispatch': no('cancelled', 'Execution {mockId} was cancelled before its request was written.'),
  fenced: no(
    'fenced',
    'Execution {mockId} was withdrawn before it began: the same call was sent again, or its time was over.',
    'same-key',
  ),
  'key-reused': no('key-reused', 'This Idempotency-Key was used for a call with another body.', 'new-key'),
  'no-client-online': no('no-client', 'App {app} has no client online[ for "{wanted}"].', 'start-client'),
  'no-clients': no(
    'no-client',
    "App {app} has no client online. The workers' SHARED_DIR has no clients at all, of any app.",
    'check-both-sides',
  ),
  'unknown-client': no('no-client', 'App {app} has no client {wanted}.', 'start-client'),
  'client-offline': no('client-offline', 'Client {wanted} is offline.', 'start-client'),
  cycle: no('cycle', '[Rule {ruleId}][Node {confId}] of app {app} has a cycle: {nodes}.', 'break-cycle'),
  'client-full': no(
    'overloaded',
    'Client {address} has no room for this execution: it has as many open as it may (MAX_WAITS_PER_CLIENT), or this API key has its full share of them.',
    'again',
  ),
  'request-unwritable': no(
    'channel-unavailable',
    'The request for client {address} could not be written to mock/{app}/{directory}: {why}.',
  ),
  'disk-full': no('channel-unavailable', '{fault}, so clients cannot say that they are online.', 'make-room'),
  'clients-unreadable': no(
    'channel-unavailable',
    'The clients of app {app} could not be looked up in clients/{app} and mock/{app}: {why}.',
  ),
  'claims-unwritable': no(
    'channel-unavailable',
    'No claim can be written in .rule-server/claims of the shared directory: {why}.',
  ),
  'job-too-new': no(
    'no-worker',
    'No worker can read the job of this execution: it is of version {v}, and this worker knows versions up to {known}.',
    'workers-first',
  ),
  'job-unreadable': maybe(
    'outcome-unknown',
    'No worker can read the job of execution {mockId}, and whether an earlier worker began it is not known.',
  ),
  'claim-unreadable': maybe(
    'outcome-unknown',
    'Whether execution {mockId} was begun is not known: its claim in .rule-server/claims cannot be read, or is no longer kept.',
  ),

  // Something in the call that only a worker can judge: the text goes on after the name of the `field`.
  'target-malformed': no('bad-request', '{problem}'),
  'target-not-plain': no(
    'bad-request',
    '"address:{wanted}" names no registered client of app {app}, and an address without a registration is 1 to 200 bytes without slashes, a leading dot or ".."',
  ),
  'dry-run-unsupported': no(
    'bad-request',
    'needs a client that can run without effects, and {client} (SDK: {sdk}) cannot',
    'other-client-or-real',
  ),
  'reserved-key': no(
    'bad-request',
    'has "{key}" at its top level, a name that client {client} may use itself',
    'other-name-or-client',
  ),
  'number-too-large': no(
    'bad-request',
    'has {number} at {path}, larger than any 64-bit float, and client {client} ({sdk}) cannot read such a number',
    'smaller-number',
  ),
  'stub-unknown': no(
    'bad-request',
    'is no node of the tree that is to run, so this stub would replace nothing: the tree has {nodes}',
  ),

  // From here on the request was dispatched, or may have been.
  'cancelled-before-pick-up': either(
    'cancelled',
    'The execution was cancelled before {address} picked the request up; it was withdrawn.',
  ),
  'cancelled-after-pick-up': maybe(
    'cancelled',
    'The execution was cancelled after {address} had picked the request up.',
  ),
  'left-before-pick-up': either('client-left', 'Client {address} unregistered before it picked the request up.'),
  'left-with-request': maybe('client-left', 'Client {address} left while it had the request.'),
  'request-removed': maybe(
    'client-left',
    'Client {address} is gone, and its directory was removed with the request in it; the worker did not see whether the client had picked it up.',
  ),
  'not-picked-up': either(
    'not-picked-up',
    'Client {address} did not pick the request up within {timeoutMs} ms; it was withdrawn.',
  ),
  silent: maybe('no-answer', 'Client {address} picked the request up, but wrote no answer within {timeoutMs} ms.'),
  'silent-after-removal': maybe(
    'no-answer',
    'The directory of client {address} was removed with the request in it, and there was no answer within {timeoutMs} ms.',
  ),
  'result-unusable': maybe('invalid-result', 'Client {address} wrote a result that cannot be used: it {problem}.'),
  'result-unusable-to-the-end': maybe(
    'invalid-result',
    'Client {address} left a result that cannot be used: after {timeoutMs} ms it {problem}.',
  ),
  'dry-run-ignored': maybe(
    'client-ignored-dry-run',
    'Client {address} was asked for a run without effects, and its answer does not say that it made one.',
  ),
  'dry-run-impossible': no(
    'client-ignored-dry-run',
    'Client {address} cannot run without effects, and found nothing to run in the request. Another client may have had this address a moment ago.',
  ),
  'result-unreadable': maybe(
    'no-answer',
    'Client {address} may have answered, but the worker could not read the answer for {timeoutMs} ms ({why}). An answer that can be read later is kept with the execution.',
  ),
  'directory-hangs': maybe(
    'no-answer',
    'The directory of client {address} does not respond, so the worker does not know whether it picked the request up or answered.',
  ),
  'wait-broken': maybe(
    'no-answer',
    'The wait for client {address} on execution {mockId} could not be finished ({why}).',
  ),
} as const satisfies Record<string, Row>;

export type Reason = keyof typeof endings;
export const isReason = (text: string): text is Reason => Object.hasOwn(endings, text);

const isOfEarlier = (reason: string | null): boolean =>
  reason !== null && isReason(reason) && endings[reason].ran === 'earlier';

/** Whether it ran nothing itself: at most an earlier call under its key ran. */
export const ranNothing = ({ reason, mayHaveRun }: { reason: string | null; mayHaveRun: boolean }): boolean =>
  !mayHaveRun || isOfEarlier(reason);

const SAME_KEY_SECONDS = 2;

type Retried = { code: Code; reason: string; params?: Params };

/** Seconds after which to send a call again, if it did not run or under the same key: as long as the wait where a reason knows one. */
export function retryAfterOf({ code, reason, params }: Retried): number | undefined {
  const row = outcomes[code];
  if (typeof params?.seconds === 'number') return params.seconds;
  if (isOfEarlier(reason)) return SAME_KEY_SECONDS;
  return 'retryAfterSeconds' in row ? row.retryAfterSeconds : undefined;
}
