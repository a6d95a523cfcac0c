/** So many are kept of one case. */
export const MAX_DIFFERENCES = 20;
const LONGEST_VALUE = 300;

/** A value's text, short enough for a report. */
export function shortened(text: string): string {
  if (text.length <= LONGEST_VALUE) return text;
  const cut = text.slice(0, LONGEST_VALUE - 1);
  return `${cut.isWellFormed() ? cut : cut.slice(0, -1)}…`;
}
