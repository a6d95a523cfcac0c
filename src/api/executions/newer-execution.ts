/** An execution that an API of a newer version put on the queue: it can be read here once it has ended and is in the history. */
export class NewerExecution extends Error {
  readonly mockId: string;
  constructor(mockId: string) {
    super(`execution ${mockId} is of a newer version`);
    this.mockId = mockId;
  }
}

/** Turns a `NewerExecution` into null, for callers that can do without the execution; throws every other error. */
export function unlessNewer(error: unknown): null {
  if (error instanceof NewerExecution) return null;
  throw error;
}
