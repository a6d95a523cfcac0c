import { type Code, type NoAnswer, noAnswer } from '../shared/contract/outcomes.ts';
import type { Claim } from './files/claim.ts';

/** Why a wait ended without an answer: who, what happened, and whether the rule may have run. */
export function createUnanswered({ address, givesUp }: Claim, resultTimeoutMs: number) {
  const client = `Client ${address}`;
  const because = (code: Code, what: string, mayHaveRun: boolean): NoAnswer =>
    noAnswer(code, `${what} ${ranOrNot(mayHaveRun)}`, { mayHaveRun, address });
  // What was withdrawn has not run, if the client is one that gives up on a request that is gone.
  const withdrawn = !givesUp;

  return {
    invalidResult: (problem: string) =>
      noAnswer(
        'invalid-result',
        `${client} wrote a result that cannot be used: it ${problem}. The rule ran or began to run.`,
        { mayHaveRun: true, address },
      ),
    invalidToTheEnd: (problem: string) =>
      because(
        'invalid-result',
        `${client} left a result that cannot be used: after ${resultTimeoutMs} ms it ${problem}.`,
        true,
      ),
    left: () => because('client-left', `${client} left while it had the request.`, true),
    leftBeforePickUp: () =>
      because('client-left', `${client} unregistered before it picked the request up.`, withdrawn),
    notPickedUp: () =>
      because(
        'not-picked-up',
        `${client} did not pick the request up within ${resultTimeoutMs} ms; it was withdrawn.`,
        withdrawn,
      ),
    noAnswer: () =>
      because('no-answer', `${client} picked the request up, but wrote no answer within ${resultTimeoutMs} ms.`, true),
    cancelledBeforePickUp: () =>
      because(
        'cancelled',
        `The execution was cancelled before ${address} picked the request up; it was withdrawn.`,
        withdrawn,
      ),
    cancelledAfterPickUp: () =>
      because('cancelled', `The execution was cancelled after ${address} had picked the request up.`, true),
  };
}

function ranOrNot(mayHaveRun: boolean): string {
  return mayHaveRun ? 'The rule may have run; look at the client before running it again.' : 'The rule did not run.';
}
