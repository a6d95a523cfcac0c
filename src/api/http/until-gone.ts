import type { Context } from 'hono';
import { type SSEStreamingApi, streamSSE } from 'hono/streaming';
import { startUpkeep } from '../../shared/runtime/upkeep.ts';
import type { Environment } from './environment.ts';

type Tell = (stream: SSEStreamingApi, gone: AbortSignal) => Promise<void>;

/** Server-sent events, with headers that keep proxies from compressing or buffering them. */
export function streamEvents(context: Context<Environment>, stopping: AbortSignal, tell: Tell): Response {
  const response = streamSSE(context, (stream) =>
    untilGone({ context, stream, stopping }, (gone) => tell(stream, gone)),
  );
  response.headers.set('cache-control', 'no-store, no-transform');
  response.headers.set('x-accel-buffering', 'no');
  return response;
}

/**
 * Runs an event stream until the reader disconnects, this API stops, or the reader loses its permission. A browser then reconnects and
 * learns why it is refused.
 */
async function untilGone(
  { context, stream, stopping }: { context: Context<Environment>; stream: SSEStreamingApi; stopping: AbortSignal },
  tell: (gone: AbortSignal) => Promise<void>,
): Promise<void> {
  const gone = new AbortController();
  const end = () => gone.abort();
  stream.onAbort(end);
  stopping.addEventListener('abort', end);
  if (stopping.aborted) end();
  const { mayStay } = context.var;
  const upkeep = startUpkeep(
    [
      { name: 'keeping the connection open', everyMs: 15_000, run: () => void stream.write(': still here\n\n') },
      {
        name: 'looking whether its reader may stay',
        everyMs: 2000,
        run: async () => {
          if (mayStay && !(await mayStay())) end();
        },
      },
    ],
    () => {}, // the store is away: the next look tells
  );
  try {
    await tell(gone.signal);
  } finally {
    stopping.removeEventListener('abort', end);
    await upkeep.stop();
  }
}
