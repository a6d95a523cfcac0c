import type { Command } from 'commander';

/** The words of a search for executions, as GET executions has them. */
export type SearchWords = {
  app?: string;
  ruleId?: string;
  where?: string[];
  text?: string;
  outcome?: string;
  state?: string;
  code?: string;
  address?: string;
  lane?: string;
  by?: string;
  comparisonId?: string;
  pinned?: boolean;
};

const collect = (value: string, all: string[] = []) => [...all, value];

/** Gives a command the options of a search. */
export function addSearchWords(command: Command): Command {
  return command
    .option('--app <id>', 'only of this app')
    .option('--rule-id <id>', 'only of this rule')
    .option(
      '--where <condition>',
      "by the input, such as 'uid=42' (also the text) or 'cost>=100'; several must all hold",
      collect,
    )
    .option('--text <words>', 'each word stands in the input, the id, the client, the key, the code or the error')
    .option('--outcome <outcome>', 'TRUE, FALSE, NONE or no-result')
    .option('--state <state>', 'succeeded, failed, timed-out, cancelled, rejected, queued, dispatched or picked-up')
    .option('--code <code>', 'ended without an answer for this reason')
    .option('--address <address>', 'only of the client at this address')
    .option('--lane <lane>', 'only of clients in this lane')
    .option('--by <name>', 'only what this key or person asked for')
    .option('--comparison-id <id>', 'only of this comparison')
    .option('--pinned', 'only those that somebody pinned');
}

export const FROM =
  'begun at this time or later: epoch ms, an ISO 8601 time with an offset, a day (UTC), or -24h, -30m, -7d before now';

/** Gives a command the options by which recorded executions of a rule are chosen: a time and how many. */
export const addRecorded = (command: Command): Command =>
  command
    .option('--from <time>', FROM)
    .option('--to <time>', 'begun before this time')
    .option('--limit <n>', 'how many at most, the newest first', '500');

/** The same with the options of a search. */
export const addRecordedSearch = (command: Command): Command => addSearchWords(addRecorded(command));

const UNITS = new Map([
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
]);

/** A time as the API takes it: `-24h` is that long before `now`. */
export function timeOf(text: string, now: number): string {
  const [, count, unit = ''] = /^-(\d{1,6})([mhd])$/.exec(text) ?? [];
  return count === undefined ? text : String(now - Number(count) * (UNITS.get(unit) ?? 0));
}

const WORDS = [
  'app',
  'ruleId',
  'where',
  'text',
  'outcome',
  'state',
  'code',
  'address',
  'lane',
  'by',
  'comparisonId',
  'pinned',
] as const;

/** The query of GET executions for these words. */
export function queryOf(words: SearchWords): URLSearchParams {
  const query = new URLSearchParams();
  for (const word of WORDS) for (const value of [words[word] ?? []].flat()) query.append(word, String(value));
  return query;
}

/** Whether runs are searched for, and not only listed by app and rule. */
export const isSearch = (words: SearchWords) =>
  WORDS.some((word) => word !== 'app' && word !== 'ruleId' && words[word]);
