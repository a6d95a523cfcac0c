/** An answer as JSON text with every number exact, or what is not there. */
export type Answer =
  | { kind: 'found'; body: string }
  | { kind: 'refused'; status: 404 | 422 | 503; error: string }
  /** This worker cannot answer; another one may. */
  | { kind: 'pass-on' };
