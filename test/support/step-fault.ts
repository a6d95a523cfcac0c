import { setTimeout as delay } from 'node:timers/promises';
import { vi } from 'vitest';
import type { Step } from '../../src/worker/execution/steps.ts';
import { echoes } from './echoes.ts';
import type { Answer } from './http-call.ts';
import { privateLeftovers } from './private-leftovers.ts';
import { createResponder } from './responder.ts';
import { type Fault, startWorkerProcess } from './start-process.ts';
import { startService } from './start-service.ts';
import { sweepLater } from './sweep-later.ts';

export const FREEZE_MS = 20_000;
/** Nothing is left to take over: the queue has the answer. */
const answeredAlready: Step[] = ['completed', 'before-record', 'removed'];

/** What came of a call whose worker got a signal at a step. */
export type StepFaultSeen = {
  call: unknown;
  answer: { status: number; data: unknown };
  /** How often the client found a request. */
  dispatches: number;
  /** From the fault to the answer, less the time the client took. */
  takeoverMs: number;
  exitCode: number | null;
  leftovers: string[];
  noise: string[];
};

/** Writes down what happens. `number`: of the call. */
type Observer = {
  number: number;
  call(number: number, make: () => Promise<Answer>): Promise<Answer>;
  found(mockId: string, number: number): void;
};
const nobody: Observer = { number: 0, call: (_, make) => make(), found: () => {} };

/** Lets one worker begin a call and get a signal at a step; another worker comes, and a frozen one wakes after 20 s. */
export async function watchStepFault(
  fault: Fault,
  queueUrl: string,
  settings: Record<string, string | number>,
  { number, ...observer }: Observer = nobody,
): Promise<StepFaultSeen> {
  await using service = await startService({ queueUrl, workers: 0, settings, leavesFiles: true });
  const { sharedDir } = service;
  // A worker on a busy machine must see the pick-up before the answer.
  const clientMs = fault.step === 'picked-up' ? 2000 : 300;
  const does = echoes({ afterMs: clientMs });
  await using responder = await createResponder({ sharedDir, app: 1, does, lookEveryMs: 30, beatEveryMs: 2000 });
  await using faulty = await startWorkerProcess({ queueUrl, sharedDir, settings, fault });

  const call = { step: fault.step, signal: fault.signal, number };
  const calling = observer.call(number, () => service.execute({ app: 1, ruleId: 1, 'the service': call }));
  await faulty.logged('the fault happens');
  const faultAt = Date.now();
  await service.addWorker();
  const { status, json } = await calling;
  const takeoverMs = Math.max(0, Date.now() - faultAt - clientMs);

  let exitCode: number | null = null;
  if (fault.signal === 'SIGSTOP') {
    await delay(faultAt + FREEZE_MS - Date.now()); // the point is how long it sleeps
    faulty.wake();
    if (!answeredAlready.includes(fault.step)) {
      await faulty.logged('another worker has the execution by now, or it has ended', 20_000);
    }
    exitCode = (await faulty.terminate()).code;
  }
  await vi.waitUntil(() => responder.found.length > 0 || status !== 200, { timeout: 10_000 });
  await sweepLater(sharedDir);
  for (const { mockId } of responder.found) observer.found(mockId, number);
  return {
    call,
    answer: { status, data: json['the service'] },
    dispatches: responder.found.length,
    takeoverMs,
    exitCode,
    leftovers: [...(await service.leftovers()), ...(await privateLeftovers(sharedDir))],
    noise: faulty.noise,
  };
}
