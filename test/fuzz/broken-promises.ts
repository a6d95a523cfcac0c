import type { Answer } from '../support/http-call.ts';
import type { Played } from './play-scenario.ts';
import { hitsStore, type Play, RESULT_TIMEOUT_MS, type Scenario } from './scenario.ts';
import { unsound } from './sound-answer.ts';

/** An answer this close to its deadline may be late. */
const MARGIN_MS = 150;

/** What may come of a call by what its client does, when nobody else does anything. */
const endings: Record<Play['kind'], string[]> = {
  answers: ['answered'],
  fails: ['answered'],
  'fills in slowly': ['answered'],
  'keeps its request': ['answered'],
  'writes nonsense': ['invalid-result'],
  'answers late': ['no-answer', 'answered'],
  'looks late': ['answered', 'not-picked-up', 'no-answer'],
  'never looks': ['not-picked-up'],
  'never answers': ['no-answer'],
  'leaves at once': ['client-left', 'no-client', 'channel-unavailable'],
  // Two listings 500 ms apart have to miss it: on a busy machine the deadline may come first.
  'leaves with the request': ['client-left', 'no-answer'],
};
/** What may come of any call while processes die or sleep. */
const REFUSED = ['no-worker', 'overloaded', 'queue-unavailable', 'outcome-unknown', 'stopping'];
/** What a worker that was away may find: the time is up, or the file it looks for is gone. */
const TIMED_OUT = ['no-answer', 'not-picked-up', 'client-left', 'invalid-result'];

/** Every promise that a scenario showed to be broken, in words. */
export function brokenPromises(scenario: Scenario, played: Played[], secrets: string[]): string[] {
  return played.flatMap((call) =>
    problemsOf(scenario, call, secrets).map((problem) => `call ${call.number}: ${problem}`),
  );
}

function problemsOf(scenario: Scenario, call: Played, secrets: string[]): string[] {
  const { deeds, answer, again } = call;
  const problems: string[] = [];
  // A store that loses its data also forgets which keys it has seen.
  const mayRunAgain = again !== undefined && hitsStore(scenario);
  const found = deeds.found.map(({ mockId }) => mockId);
  if (found.length > (mayRunAgain ? new Set(found).size : 1)) problems.push(`dispatched ${found.length} times`);
  if (deeds.ran.length > new Set(deeds.ran).size) problems.push(`ran ${deeds.ran.length} times`);
  problems.push(...badRecord(call));
  for (const each of [answer, again]) {
    if (typeof each === 'object') problems.push(...badAnswer(scenario, { ...call, answer: each }, each, secrets));
  }
  if (typeof answer === 'object' && typeof again === 'object' && !mayRunAgain)
    if (answer.status === 200 && again.status === 200 && answer.text !== again.text)
      problems.push(`one key, two answers: ${answer.text} and ${again.text}`);
  return problems;
}

function badAnswer(scenario: Scenario, call: Played, answer: Answer, secrets: string[]): string[] {
  const { deeds, plan } = call;
  const problems = unsound('execute', answer, secrets);
  const ran = deeds.ran.includes(answer.json?.mockId);
  if (answer.json?.mayHaveRun === false && ran && plan.play.kind !== 'keeps its request')
    problems.push(`ran, but its caller was told it had not: ${answer.text}`);
  if (answer.status === 200) problems.push(...notItsOwn(call, answer));
  else if (ran && answeredInTime(call) && !isHonest(scenario, call, answer))
    problems.push(`its answer was lost: ${answer.text}`);
  const ending = endingOf(answer);
  if (!allowed(scenario, call).includes(ending)) problems.push(`ended with ${ending}: ${answer.text}`);
  return problems;
}

const STATES = ['queued', 'dispatched', 'picked-up', 'succeeded', 'failed', 'timed-out', 'cancelled', 'rejected'];
const FIRST_END = STATES.indexOf('succeeded');

/** What is kept of an execution agrees with what its caller was told, and with what its client did. */
function badRecord({ record, answer, deeds, plan, cancelled }: Played): string[] {
  if (!record) return [];
  const { state, history, outcome } = record;
  const problems: string[] = [];
  const steps = history.map((step) => STATES.indexOf(step.state));
  const isForward = steps.every(
    (step, at) => at === 0 || (step > (steps[at - 1] ?? 0) && (steps[at - 1] ?? 0) < FIRST_END),
  );
  if (!isForward || STATES.indexOf(state) < FIRST_END) problems.push(`went through ${JSON.stringify(history)}`);
  if (outcome?.mayHaveRun === false && deeds.ran.includes(record.mockId) && plan.play.kind !== 'keeps its request')
    problems.push('ran, but its record says it had not');
  if (cancelled === 409 && state === 'cancelled') problems.push('was cancelled after it had ended');
  if (typeof answer === 'string' || answer.json?.code === 'outcome-unknown') return problems;
  if (answer.json?.mockId !== record.mockId) return problems;
  const told = [answer.status, answer.json?.code ?? null];
  if (told.join() !== [outcome?.status, outcome?.code].join())
    problems.push(`was told ${told}, but its record says ${JSON.stringify(outcome)}`);
  return problems;
}

function endingOf({ status, json }: Answer): string {
  return status === 200 ? 'answered' : (json?.code ?? (status === 503 ? 'stopping' : `status ${status}`));
}

/** The client's answer belongs to this call: its id, its number to the last digit, and whether it succeeded. */
function notItsOwn({ exact, deeds, plan }: Played, { text, json }: Answer): string[] {
  const isOwn =
    text.includes(`"the service":{"exact":${exact}}`) &&
    deeds.found.some(({ mockId }) => mockId === json.mockId) &&
    json.success === (plan.play.kind !== 'fails');
  return isOwn ? [] : [`got another answer than its own: ${text}`];
}

function answeredInTime({ deeds: { answeredAt, createdAt } }: Played): boolean {
  return answeredAt !== undefined && createdAt !== undefined && answeredAt < createdAt + RESULT_TIMEOUT_MS - MARGIN_MS;
}

/** The client had the request, and a machine with much to do kept its answer until after the deadline. */
function wasKeptBusy(call: Played): boolean {
  const answers = endings[call.plan.play.kind].includes('answered');
  return answers && call.deeds.createdAt !== undefined && !answeredInTime(call);
}

/** Ways not to get an answer that is there: it was stopped on purpose, or the store did not say whether it took the call. */
function isHonest(scenario: Scenario, { plan }: Played, { json }: Answer): boolean {
  if (json?.code === 'cancelled') return plan.caller.kind === 'cancels';
  return json?.code === 'outcome-unknown' && (hitsStore(scenario) || /did not confirm/.test(json.error));
}

function allowed({ actions }: Scenario, call: Played): string[] {
  const { plan } = call;
  const usual = [...endings[plan.play.kind], ...(wasKeptBusy(call) ? ['no-answer', 'not-picked-up'] : [])];
  const stopped = plan.caller.kind === 'cancels' ? ['cancelled'] : [];
  // A machine that is busy may be told to come again, or that nobody knows, without any fault.
  return actions.length === 0
    ? [...usual, ...stopped, 'outcome-unknown']
    : [...usual, ...stopped, ...REFUSED, ...TIMED_OUT];
}
