/** An execution that an API of a newer version put on the queue: it can be read here once it has ended and is in the history. */
export class NewerExecution extends Error {
  constructor(mockId: string) {
    super(
      `Execution ${mockId} is on its way, but this API is older than the one that took the call and cannot read it. Ask again in a moment.`,
    );
  }
}

/** Turns a `NewerExecution` into null, for callers that can do without the execution; throws every other error. */
export function unlessNewer(error: unknown): null {
  if (error instanceof NewerExecution) return null;
  throw error;
}
