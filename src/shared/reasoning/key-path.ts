/** Where a key stands: the dots of a nested one lead into objects. */
export function pathOfKey(key: string, nested: boolean): string[] {
  return nested ? key.split('.') : [key];
}

/** The same for each way to write where a key stands. */
export const placeOf = ({ key, nested }: { key: string; nested: boolean }): string =>
  JSON.stringify(pathOfKey(key, nested));
