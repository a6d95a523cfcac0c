/** The value of a JSON text of our own making, or undefined when it is not JSON. Rounds numbers: not for anybody's data. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
