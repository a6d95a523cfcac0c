import autocannon from 'autocannon';
import { executeCall, tellAnswers } from './load.ts';

/** Longer than any bench: it is stopped before. */
const FOREVER_SECONDS = 3600;
/** How soon it notices that it is stopped. */
const SAMPLE_MS = 100;

/** Keeps `callers` connections calling, spread over the URLs, and counts answers until it is stopped. */
export function keepCalling(urls: readonly string[], callers: number) {
  const counted = { calls: 0, failed: 0, why: '' };
  const count = ({ status, body }: { status: number; body: string }) => {
    if (status === 200) counted.calls++;
    else {
      counted.failed++;
      counted.why ||= `${status} ${body.slice(0, 300)}`;
    }
  };
  const all = urls.map((url, index) => callOne(url, Math.floor((callers + index) / urls.length), count));
  return {
    /** So far. `why`: what the first failed call was answered. */
    counted: () => ({ ...counted }),
    async stop(): Promise<void> {
      await Promise.all(all.map((stop) => stop()));
    },
  };
}

function callOne(url: string, connections: number, onAnswer: Parameters<typeof tellAnswers>[0]): () => Promise<void> {
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  const running = autocannon(
    {
      ...executeCall(url),
      connections,
      duration: FOREVER_SECONDS,
      sampleInt: SAMPLE_MS,
      setupClient: tellAnswers(onAnswer),
    },
    () => resolve(),
  );
  // A connection that breaks or hangs answers nothing, and is a failed call all the same.
  running.on('reqError', (error) => onAnswer({ status: 0, body: String(error), ms: Number.NaN }));
  return () => {
    running.stop();
    return ended;
  };
}
