import type { Ending } from '../../shared/contract/ending.ts';
import type { Progress } from '../../shared/contract/execution-record.ts';
import { JOB_VERSION, type JobResult, type Warning } from '../../shared/contract/job.ts';
import type { Privacy } from '../../shared/privacy/privacy.ts';
import { resultKey } from '../../shared/store/history.ts';
import { INLINE_BYTES, type Store } from '../../shared/store/key-value-store.ts';
import { answerWarnings, withoutRefuted } from '../dialects/warnings.ts';
import type { Claim } from '../files/claim.ts';
import type { Claimed, Ended } from './execution.ts';
import type { Answer, WaitEnding } from './state.ts';

const STORED_SECONDS = 180;

/** An ending as the queue is told of it. */
type Reported = Exclude<WaitEnding, { kind: 'interrupted' }>;

type Told = { store: Store; privacy: Privacy; input: string };

/** The ending of a wait as it goes to the queue. A small answer travels with its job; a large one waits in the store. */
export async function toEnded(
  ending: Reported,
  { claim, warnings, marked }: Claimed & { marked: boolean },
  { store, privacy, input }: Told,
): Promise<Ended> {
  if (ending.kind === 'unanswered') {
    const noAnswer = { ...ending.noAnswer, ...some(withoutHidden(warnings, claim, { privacy, texts: [input] })) };
    return { kind: 'ended', ending: { kind: 'unanswered', noAnswer }, claim, marked };
  }
  try {
    const result = await toJobResult(claim, ending.answer, { warnings, store, privacy, input });
    return { kind: 'ended', ending: { kind: 'answered', result }, claim, marked };
  } finally {
    ending.answer.lease.release();
  }
}

async function toJobResult(
  claim: Claim,
  { body, success, decision, answeredAt }: Answer,
  { warnings, store, privacy, input }: Told & { warnings: Warning[] },
): Promise<JobResult> {
  const all = [...withoutRefuted(warnings, body), ...answerWarnings(claim, { body, success, input })];
  const shown = some(withoutHidden(all, claim, { privacy, texts: [input, body] }));
  const head = { v: JOB_VERSION, address: claim.address, success, decision, answeredAt, ...shown };
  if (Buffer.byteLength(body) <= INLINE_BYTES) return { ...head, body };
  const stored = resultKey(claim.mockId);
  await store.setIfAbsent(stored, body, STORED_SECONDS);
  return { ...head, stored };
}

/** Warnings quote numbers, and are shown with the state of an execution, where its data is not at hand. */
function withoutHidden(
  warnings: Warning[],
  { app }: Claim,
  { privacy, texts: [input = '', body = ''] }: { privacy: Privacy; texts: string[] },
): Warning[] {
  const mask = warnings.length === 0 ? null : privacy.maskFor(app);
  if (mask === null) return warnings;
  mask.data(input);
  mask.answer(body);
  return warnings.map((warning) => ({ ...warning, message: mask.text(warning.message) }));
}

/** Puts the states an execution went through here into its ending: the job tells the whole story as long as it is there. */
export function withSteps(ended: Ended, reached: Progress | null): Ended {
  return reached ? { ...ended, ending: told(ended.ending, reached) } : ended;
}

function told(ending: Ending, { steps, address }: Progress): Ending {
  if (ending.kind === 'answered') return { kind: 'answered', result: { ...ending.result, steps } };
  const { noAnswer } = ending;
  return { kind: 'unanswered', noAnswer: { ...noAnswer, address: noAnswer.address ?? address, steps } };
}

function some(warnings: Warning[]): { warnings?: Warning[] } {
  return warnings.length > 0 ? { warnings } : {};
}
