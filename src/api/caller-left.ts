import type { ServerResponse } from 'node:http';

/** Aborts when the caller closes the connection before its answer was written. */
export function callerLeft(outgoing: ServerResponse): AbortSignal {
  const controller = new AbortController();
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) controller.abort();
  });
  if (outgoing.destroyed) controller.abort();
  return controller.signal;
}
