/** The code of a failed system call (`ENOENT`), or an empty string for any other error. */
export function errnoOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** For `.catch`: turns the errors with one of these codes into undefined and throws the others. */
export function unless(...codes: string[]) {
  return (error: unknown): undefined => {
    if (!codes.includes(errnoOf(error))) throw error;
  };
}
