/** Chance that comes out the same for the same seed. */
export type Dice = {
  /** At least 0, less than 1. */
  fraction(): number;
  /** A whole number from `from` to `to`, both included. */
  whole(from: number, to: number): number;
  /** A number between both, small ones as often as large ones in the sense of their digits. */
  spread(from: number, to: number): number;
  chance(probability: number): boolean;
  pick<T>(all: readonly [T, ...T[]]): T;
  pickAny<T>(all: readonly T[]): T | undefined;
};

/** mulberry32. */
export function createDice(seed: number): Dice {
  let state = (seed ^ 0x9e3779b9) >>> 0;
  const fraction = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  const whole = (from: number, to: number) => from + Math.floor(fraction() * (to - from + 1));
  return {
    fraction,
    whole,
    spread: (from, to) => Math.round(Math.exp(Math.log(from) + fraction() * (Math.log(to) - Math.log(from)))),
    chance: (probability) => fraction() < probability,
    pick: (all) => all[whole(0, all.length - 1)] ?? all[0],
    pickAny: (all) => all[whole(0, all.length - 1)],
  };
}
