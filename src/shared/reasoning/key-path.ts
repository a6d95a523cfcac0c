/** Where a key stands: the dots of a nested one lead into objects. */
export function pathOfKey(key: string, nested: boolean): string[] {
  return nested ? key.split('.') : [key];
}
