/**
 * Runs at most `limit` tasks at a time, the rest in order of arrival. A listing of thousands of files must neither use up
 * the file descriptors nor stand in front of everybody else in libuv's small thread pool.
 */
export function createConcurrencyLimit(limit: number) {
  const waiting: (() => void)[] = [];
  let running = 0;

  return async function run<T>(task: () => Promise<T>): Promise<T> {
    // A task that ends gives its place to the next one, so `running` only grows for tasks that did not wait.
    if (running >= limit) await new Promise<void>((resolve) => waiting.push(resolve));
    else running++;
    try {
      return await task();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  };
}

/** The same, apart for each app: the files of one that hang hold up no other. An app is the first number in a path below `root`. */
export function createLimitPerApp(limit: number, root: string) {
  const limits = new Map<string, { run: ReturnType<typeof createConcurrencyLimit>; tasks: number }>();

  return async function run<T>(path: string, task: () => Promise<T>): Promise<T> {
    const [app = ''] = /\d+/.exec(path.slice(root.length)) ?? [];
    const ofApp = limits.get(app) ?? { run: createConcurrencyLimit(limit), tasks: 0 };
    limits.set(app, ofApp);
    ofApp.tasks++;
    try {
      return await ofApp.run(task);
    } finally {
      if (--ofApp.tasks === 0) limits.delete(app);
    }
  };
}
