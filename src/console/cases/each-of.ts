const AT_ONCE = 5;

/** Does something for each, a few at once, and gives the results in their order. */
export async function eachOf<T, Result>(all: readonly T[], act: (one: T) => Promise<Result>): Promise<Result[]> {
  const results = new Array<Result>(all.length);
  let next = 0;
  const work = async () => {
    for (let at = next++; at < all.length; at = next++) {
      const one = all[at];
      if (one !== undefined) results[at] = await act(one);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return results;
}
