/** A difference below this is that of the header, which has whole seconds, and of the way. */
const SAME_MS = 2500;

let ahead = 0;

/** Learns from an answer by how much the service's clock is ahead of this reader's (RFC 9110, Date). */
export function hearClock(date: string | null): void {
  const at = date === null ? Number.NaN : Date.parse(date);
  if (Number.isNaN(at)) return;
  const found = at - Date.now();
  ahead = Math.abs(found) < SAME_MS ? 0 : found;
}

/** The time by the service's clock, epoch ms: the times of runs are by that, and this reader's clock may be wrong. */
export function serviceNow(): number {
  return Date.now() + ahead;
}
