import type { ServerResponse } from 'node:http';

/** Aborts when the caller disconnects before the answer was written. `closedByUs` excludes connections that this process closes. */
export function callerLeft(outgoing: ServerResponse, closedByUs: () => boolean): AbortSignal {
  const controller = new AbortController();
  outgoing.once('close', () => {
    if (!outgoing.writableFinished && !closedByUs()) controller.abort();
  });
  if (outgoing.destroyed) controller.abort();
  return controller.signal;
}
