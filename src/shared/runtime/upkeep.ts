import { type Timer, time } from '../ports/time.ts';

/** Work that is done again and again: `everyMs` after it ended, the first time after `firstMs`. */
export type Task = {
  name: string;
  everyMs: number;
  firstMs?: number;
  run: () => Promise<unknown> | unknown;
};

/** Repeats one task until it is stopped. */
export function every(everyMs: number, run: Task['run'], onError: (error: unknown) => void, firstMs = everyMs) {
  return startUpkeep([{ name: '', everyMs, firstMs, run }], onError);
}

/** Repeats tasks in one loop, in which a task that hangs delays only itself. */
export function startUpkeep(tasks: readonly Task[], onError: (error: unknown, name: string) => void) {
  const startedAt = time.monotonic();
  const plans = tasks.map((task) => ({ task, dueAt: startedAt + (task.firstMs ?? task.everyMs) }));
  const running = new Map<string, Promise<void>>();
  let [timer, stopped]: [Timer | undefined, boolean] = [undefined, false];

  async function run(plan: (typeof plans)[number]): Promise<void> {
    plan.dueAt = Number.POSITIVE_INFINITY;
    try {
      await plan.task.run();
    } catch (error) {
      onError(error, plan.task.name);
    }
    plan.dueAt = time.monotonic() + plan.task.everyMs;
    schedule();
  }

  function runDue(): void {
    const now = time.monotonic();
    for (const plan of plans.filter(({ dueAt }) => dueAt <= now)) running.set(plan.task.name, run(plan));
    schedule();
  }

  function schedule(): void {
    time.clearTimeout(timer);
    const next = Math.min(...plans.map(({ dueAt }) => dueAt));
    if (!stopped && next !== Number.POSITIVE_INFINITY)
      timer = time.setTimeout(runDue, Math.max(0, next - time.monotonic()));
  }

  schedule();
  return {
    /** Begins no task any more, and resolves when none is under way. */
    async stop(): Promise<void> {
      stopped = true;
      time.clearTimeout(timer);
      await Promise.all(running.values());
    },
  };
}
