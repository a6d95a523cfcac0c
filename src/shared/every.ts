/** Runs a task again and again, `pauseMs` after it ended. `stop` resolves when no run is under way any more. */
export function every(pauseMs: number, task: () => Promise<unknown> | unknown, onError: (error: unknown) => void) {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();

  const run = async () => {
    try {
      await task();
    } catch (error) {
      onError(error);
    }
    if (!stopped) schedule();
  };
  const schedule = () => {
    timer = setTimeout(() => {
      running = run();
    }, pauseMs);
  };
  schedule();

  return {
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
