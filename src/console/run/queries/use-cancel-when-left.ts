import { useEffect, useLayoutEffect, useRef } from 'react';
import { cancelExecution, type ExecutionRecord } from '../../api/executions.ts';

/**
 * Cancels a run that its reader leaves before a client has picked it up: by closing the page, or by turning to another rule or
 * run. A call with an Idempotency-Key is not cancelled by the connection that breaks, so the page says it. A run that a client
 * has picked up goes on.
 */
export function useCancelWhenLeft(open: ExecutionRecord | null, shown: string | null): void {
  const current = useRef(shown);
  // Before the clean-up below, which runs in the same step when another run is shown and asks which one that is.
  useLayoutEffect(() => {
    current.current = shown;
  }, [shown]);
  const waiting = open !== null && open.state !== 'picked-up' ? open.mockId : null;
  useEffect(() => {
    if (waiting === null) return;
    const leave = ({ persisted }: PageTransitionEvent) => {
      if (!persisted) cancelQuietly(waiting);
    };
    window.addEventListener('pagehide', leave);
    return () => {
      window.removeEventListener('pagehide', leave);
      if (current.current !== waiting) cancelQuietly(waiting);
    };
  }, [waiting]);
}

/** A failure is told to nobody, because the reader has left. The run then ends at its client's deadline. */
function cancelQuietly(mockId: string): void {
  cancelExecution(mockId, { keepalive: true }).catch(() => {});
}
