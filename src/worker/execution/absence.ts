/** How long something has been missing, by looks at it. */
export type Absence = ReturnType<typeof createAbsence>;

/** Begins with nothing missing. */
export function createAbsence() {
  let since: number | undefined;
  return {
    /** It was missing at this look, and the number tells how long ago that was first seen, in ms: 0 at the first look. */
    missing(): number {
      since ??= performance.now();
      return performance.now() - since;
    },
    /** It was there at this look. */
    there(): void {
      since = undefined;
    },
  };
}
