const LEAST_MS = 250;
const EACH_MS = 2;

/** How long jobs stay away that are put back: the longer the more there are, so that putting them back never fills a core. */
export function createBackoff() {
  let second = 0;
  let count = 0;
  return function awayMs(): number {
    const now = Math.floor(Date.now() / 1000);
    count = now === second ? count + 1 : 1;
    second = now;
    return Math.max(LEAST_MS, count * EACH_MS);
  };
}
