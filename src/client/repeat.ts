/** Runs a task again and again, `pauseMs` after it ended, or as long as `pauseMs` says then. `stop` resolves when no run is under way any more. */
export function repeat(
  pauseMs: number | (() => number),
  task: () => Promise<unknown> | unknown,
  onError: (error: unknown) => void,
) {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();

  function schedule(): void {
    timer = setTimeout(
      () => {
        running = run();
      },
      typeof pauseMs === 'number' ? pauseMs : pauseMs(),
    );
  }

  async function run(): Promise<void> {
    try {
      await task();
    } catch (error) {
      onError(error);
    }
    if (!stopped) schedule();
  }

  schedule();
  return {
    async stop(): Promise<void> {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
