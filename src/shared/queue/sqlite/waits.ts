/** Waits of one reader until something happens, time is over, or the reader ends. */
export function createWaits(waiting: Set<() => void>) {
  const own = new Set<() => void>();

  return {
    /** Resolves when it is woken (true), and after `ms` at the latest. */
    wait(ms: number): Promise<boolean> {
      return new Promise((resolve) => {
        const end = (isWoken: boolean) => {
          clearTimeout(timer);
          waiting.delete(wake);
          own.delete(stop);
          resolve(isWoken);
        };
        const wake = () => end(true);
        const stop = () => end(false);
        const timer = setTimeout(stop, ms);
        waiting.add(wake);
        own.add(stop);
      });
    },
    /** Ends all of them at once. */
    end(): void {
      for (const stop of [...own]) stop();
    },
  };
}
