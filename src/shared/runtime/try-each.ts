/** Does something with each of them, one after the other. A failure with one is reported and does not stop the others. */
export async function tryEach<T>(
  items: Iterable<T>,
  task: (item: T) => Promise<unknown>,
  onError: (error: unknown) => void,
): Promise<void> {
  for (const item of items) {
    try {
      await task(item);
    } catch (error) {
      onError(error);
    }
  }
}
