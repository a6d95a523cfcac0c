import { type Timer, time } from '../ports/time.ts';
/**
 * Runs a task again and again, `pauseMs` after it ended, the first time after `firstMs`. `stop` resolves when no run is
 * under way any more.
 */
export function every(
  pauseMs: number,
  task: () => Promise<unknown> | unknown,
  onError: (error: unknown) => void,
  firstMs = pauseMs,
) {
  let stopped = false;
  let timer: Timer | undefined;
  let running: Promise<void> = Promise.resolve();

  const run = async () => {
    try {
      await task();
    } catch (error) {
      onError(error);
    }
    if (!stopped) schedule(pauseMs);
  };
  const schedule = (afterMs: number) => {
    timer = time.setTimeout(() => {
      running = run();
    }, afterMs);
  };
  schedule(firstMs);

  return {
    async stop() {
      stopped = true;
      time.clearTimeout(timer);
      await running;
    },
  };
}
