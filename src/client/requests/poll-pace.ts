/** How often a directory is looked at where no event arrives: one that was used within the last minute, and any other one. */
const USED_GAP_MS = 50;
const IDLE_GAP_MS = 1000;
const USED_FOR_MS = 60_000;
/** Looking takes this share of the time at most: over a network each poll is several round trips. */
const SHARE_OF_TIME = 0.1;
const LONGEST_GAP_MS = 10_000;
/** An event about a request that a poll found so recently may come from this client taking it away, and proves nothing. */
const OWN_EVENT_MS = 60_000;

/**
 * How often a client looks for requests. Network file systems tell of nothing that other machines do, but of what this one
 * does: only an event of a request that no poll had found proves that events arrive. Then polls only make up for lost ones.
 */
export function createPollPace(pollMs: number, now: () => number = () => performance.now()) {
  const found = new Map<string, number>();
  const named = new Map<string, number>();
  let eventsArrive = false;
  let usedAt = Number.NEGATIVE_INFINITY;
  let tookMs = 0;

  return {
    /** An event named a request. */
    event(name: string): void {
      if (found.has(name)) return;
      eventsArrive = true;
      usedAt = now();
      named.set(name, usedAt);
    },
    /**
     * A poll found these requests, and took so long. True when no event had named one of them although events arrived before: the watch may
     * be deaf by now. Until an event proves otherwise, polls are as frequent as without any.
     */
    polled(names: readonly string[], ms: number): boolean {
      const at = now();
      tookMs = ms;
      if (names.length > 0) usedAt = at;
      const isDeaf = eventsArrive && names.some((name) => !named.has(name) && !found.has(name));
      if (isDeaf) eventsArrive = false;
      for (const name of names) found.set(name, at);
      for (const known of [found, named])
        for (const [name, since] of known) if (at - since > OWN_EVENT_MS) known.delete(name);
      return isDeaf;
    },
    get eventsArrive() {
      return eventsArrive;
    },
    /** How long until the next poll, in ms. */
    gapMs(): number {
      const wanted = now() - usedAt < USED_FOR_MS ? USED_GAP_MS : IDLE_GAP_MS;
      const gap = eventsArrive ? pollMs : Math.min(wanted, pollMs);
      return Math.max(gap, Math.min(tookMs / SHARE_OF_TIME, LONGEST_GAP_MS));
    },
  };
}
