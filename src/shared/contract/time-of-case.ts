/** Whether a number is taken for milliseconds. A smaller one is a year, a day as spreadsheets count them, or written like 20260315. */
export const isInMilliseconds = (time: bigint | string): boolean => /^[1-9]\d{10,18}$/.test(String(time));

/** The time of a run as a document of cases takes it, as JSON text: a short number would be no time there, so it is written as ISO 8601. */
export const timeOfCase = (ts: bigint | number | string): string =>
  isInMilliseconds(String(ts)) ? String(ts) : JSON.stringify(new Date(Number(ts)).toISOString());
