import { z } from 'zod';

/** One way in which a run was not as expected. `expected` and `actual` are JSON text, shortened; null where there is nothing. */
export const differenceSchema = z.object({
  path: z.string(),
  expected: z.string().nullable(),
  actual: z.string().nullable(),
  message: z.string(),
});
export type Difference = z.infer<typeof differenceSchema>;

/** So many are kept of one case. */
export const MAX_DIFFERENCES = 20;
const LONGEST_VALUE = 300;

/** A value's text, short enough for a report. */
export function shortened(text: string): string {
  if (text.length <= LONGEST_VALUE) return text;
  const cut = text.slice(0, LONGEST_VALUE - 1);
  return `${cut.isWellFormed() ? cut : cut.slice(0, -1)}…`;
}
