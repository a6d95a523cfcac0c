import type { Ending, Execution } from './execution.ts';
import { type Run, Stopped } from './run.ts';

/** How a run ended; one that takes longer than `timeoutMs` is stopped, left behind, and failed with what it was still at. */
export function endedInTime(execution: Execution, timeoutMs: number): Ending | Promise<Ending> {
  const { run, ended } = execution;
  if (!(ended instanceof Promise)) return settled(ended);
  return firstOf(run, ended, timeoutMs).then(settled);

  function settled(ending: Ending): Ending {
    run.end();
    const wasStopped = ending.kind === 'failed' && ending.error instanceof Stopped;
    return wasStopped ? { kind: 'failed', error: new Error(sentence(execution, timeoutMs)) } : ending;
  }
}

function firstOf(run: Run, ended: Promise<Ending>, timeoutMs: number): Promise<Ending> {
  const { promise: timeIsUp, resolve } = Promise.withResolvers<Ending>();
  const timer = setTimeout(() => {
    run.stop('its time is up');
    resolve({ kind: 'failed', error: new Stopped('its time is up') });
  }, timeoutMs);
  return Promise.race([ended, timeIsUp]).finally(() => clearTimeout(timer));
}

function sentence({ run }: Execution, timeoutMs: number): string {
  const steps = run.steps?.list ?? [];
  const parents = new Set(steps.map(({ parent }) => parent));
  const stuck = steps.filter((step) => step.outcome === 'UNFINISHED' && !parents.has(step));
  const where = stuck.slice(0, 3).map(({ name, nodeId }) => `${name} (node ${nodeId})`);
  return `the rule did not end within ${timeoutMs} ms${where.length === 0 ? '' : `: still in ${where.join(', ')}`}`;
}
