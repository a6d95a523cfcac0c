/** Whether a number is taken for milliseconds. A smaller one is a year, a day as spreadsheets count them, or written like 20260315. */
export const isInMilliseconds = (time: bigint | string): boolean => /^[1-9]\d{10,18}$/.test(String(time));

/**
 * The time of a run as a document of cases takes it, as JSON text: a short number would be no time there, so it is written as ISO 8601.
 * A time that no calendar has stays a number, which the document refuses by name.
 */
export function timeOfCase(ts: bigint | number | string): string {
  const date = new Date(Number(ts));
  return isInMilliseconds(String(ts)) || Number.isNaN(date.getTime()) ? String(ts) : JSON.stringify(date.toISOString());
}
