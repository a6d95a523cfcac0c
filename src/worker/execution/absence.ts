import { time } from '../../shared/seams/time.ts';
/** How long something has been away, by looks at it. */
export type Absence = ReturnType<typeof createAbsence>;

/** Begins with nothing away. */
export function createAbsence() {
  let since: number | undefined;
  return {
    /** It was away at this look. Returns how long ago that was first seen, in ms: 0 at the first look. */
    awayMs(): number {
      since ??= time.monotonic();
      return time.monotonic() - since;
    },
    /** It was there at this look. */
    there(): void {
      since = undefined;
    },
  };
}
