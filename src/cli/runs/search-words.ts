import type { Command } from 'commander';

/** The words of a search for executions, as GET executions has them, each with its option. */
const words = {
  app: ['--app <id>', 'only of this app'],
  ruleId: ['--rule-id <id>', 'only of this rule'],
  where: [
    '--where <condition>',
    "by the input, such as 'uid=42' (also the text) or 'cost>=100'; several must all hold",
  ],
  text: ['--text <words>', 'each word stands in the input, the id, the client, the key, the code or the error'],
  outcome: ['--outcome <outcome>', 'TRUE, FALSE, NONE or no-result'],
  state: ['--state <state>', 'succeeded, failed, timed-out, cancelled, rejected, queued, dispatched or picked-up'],
  code: ['--code <code>', 'ended without an answer for this reason'],
  address: ['--address <address>', 'only of the client at this address'],
  lane: ['--lane <lane>', 'only of clients in this lane'],
  by: ['--by <name>', 'only what this key or person asked for'],
  comparisonId: ['--comparison-id <id>', 'only of this comparison'],
  pinned: ['--pinned', 'only those that somebody pinned'],
} as const;
type Word = keyof typeof words;
export type SearchWords = {
  [Name in Word]?: Name extends 'where' ? string[] : Name extends 'pinned' ? boolean : string;
};

const names = Object.keys(words).filter((name): name is Word => name in words);
const collect = (value: string, all: string[] = []) => [...all, value];

/** Gives a command the options of a search. */
export function addSearchWords(command: Command): Command {
  for (const name of names) {
    const [flags, text] = words[name];
    if (name === 'where') command.option(flags, text, collect);
    else command.option(flags, text);
  }
  return command;
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

/** The query of GET executions for these words. */
export function queryOf(given: SearchWords): URLSearchParams {
  const query = new URLSearchParams();
  for (const name of names) for (const value of [given[name] ?? []].flat()) query.append(name, String(value));
  return query;
}

/** Whether runs are searched for, and not only listed by app and rule. */
export const isSearch = (given: SearchWords) =>
  names.some((name) => name !== 'app' && name !== 'ruleId' && given[name]);
