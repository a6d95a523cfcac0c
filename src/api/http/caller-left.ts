import type { ServerResponse } from 'node:http';

/** Aborts when the caller closes the connection before its answer was written, not when we do (`closedByUs`). */
export function callerLeft(outgoing: ServerResponse, closedByUs: () => boolean): AbortSignal {
  const controller = new AbortController();
  outgoing.once('close', () => {
    if (!outgoing.writableFinished && !closedByUs()) controller.abort();
  });
  if (outgoing.destroyed) controller.abort();
  return controller.signal;
}
