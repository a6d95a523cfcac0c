/** The separator that comes most often in the header, outside quotes. */
export function delimiterOf(text: string): string {
  const counts = new Map([',', ';', '\t'].map((each) => [each, 0]));
  let quoted = false;
  for (const char of text) {
    if (char === '\n' && !quoted) break;
    if (char === '"') quoted = !quoted;
    const count = counts.get(char);
    if (count !== undefined && !quoted) counts.set(char, count + 1);
  }
  return [...counts].reduce((best, each) => (each[1] > best[1] ? each : best))[0];
}
