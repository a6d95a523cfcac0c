import { readMoment, startOfDay } from '../../../shared/contract/moment.ts';
import type { RunSearch } from '../../api/executions.ts';

export const outcomeFilters = ['any', 'TRUE', 'FALSE', 'NONE', 'no-result', 'failures'] as const;
export const timeFilters = ['any', 'hour', 'today', 'yesterday', 'pinned'] as const;

/** Which runs to show. `failures`: those that failed, grouped. `text`: conditions such as `uid=42` or `by:ann`, and words of the input, the client, the rule's number or the id. */
export type HistoryFilter = {
  text: string;
  outcome: (typeof outcomeFilters)[number];
  time: (typeof timeFilters)[number];
  /** The runs of every rule of the app. */
  everyRule: boolean;
};
export const noFilter: HistoryFilter = { text: '', outcome: 'any', time: 'any', everyRule: false };

/** A filter as the address has it; null when it lets everything through. */
export function printFilter({ text, outcome, time, everyRule }: HistoryFilter): string | null {
  const rules = everyRule ? 'all' : 'any';
  const given = Object.entries({ text: printable(text), outcome, time, rules }).filter(
    ([, value]) => value !== '' && value !== 'any',
  );
  return given.length === 0 ? null : new URLSearchParams(given).toString();
}

/** A complete condition stays one: the space after the last one says so. */
function printable(text: string): string {
  const { conditions, draft } = splitSearch(`${text.trim()} `);
  return printSearch({ conditions, draft: draft.trim() });
}

export function readFilter(text: string | null): HistoryFilter {
  const given = new URLSearchParams(text ?? '');
  const outcome = outcomeFilters.find((name) => name === given.get('outcome')) ?? 'any';
  const time = timeFilters.find((name) => name === given.get('time')) ?? 'any';
  const filter = { text: given.get('text') ?? '', outcome, time, everyRule: given.get('rules') === 'all' };
  return printFilter(filter) === null ? noFilter : filter;
}

/** The search of a filter; null when it lets everything through. `now`: epoch ms; days and times of day are those of `zone`. */
export function searchOf({ text, outcome, time }: HistoryFilter, now: number, zone: string): RunSearch | null {
  const words = wordsOf(text);
  const conditions = words.flatMap((word) => onRecord(word, zone) ?? []);
  const [from, to] = spanOf(time, now, zone);
  if (words.length === 0 && outcome === 'any' && time === 'any') return null;
  return {
    text: words.filter((word) => onInput(word) === null && onRecord(word, zone) === null).join(' '),
    where: words.flatMap((word) => onInput(word) ?? []),
    outcome: outcome === 'any' || outcome === 'failures' ? null : outcome,
    from: from === null ? null : String(from),
    to: to === null ? null : String(to),
    ...Object.fromEntries(conditions.map(({ name, value }) => [name, value])),
    pinned: time === 'pinned' ? 'true' : null,
  };
}

/** The hour begins with a full minute: what is asked for does not change all the time. */
function spanOf(time: HistoryFilter['time'], now: number, zone: string): [number | null, number | null] {
  const today = startOfDay(now, zone);
  switch (time) {
    case 'any':
    case 'pinned':
      return [null, null];
    case 'hour':
      return [Math.floor(now / 60_000) * 60_000 - 3_600_000, null];
    case 'today':
      return [today, null];
    case 'yesterday':
      return [startOfDay(today - 1, zone), today];
  }
}

/** Words apart at spaces; a text in quotes is one word, also while its end is not typed yet. So is `uid = 42`. */
const WORD =
  /((?:[^\s=<>!":]+(?:\s+(?:[=!]=|[<>]=|[=<>])\s*|(?:[=!]=|[<>]=|[=<>])\s+)(?=[^\s=<>!:])(?![^\s"]+[=<>:]))?(?:[^\s"]|"(?:[^"\\]|\\.)*"?)+)(\s*)/g;
const SPACED = /^([^\s=<>!":]+)\s*([=!]=|[<>]=|[=<>])\s*(?=\S)/;
const ON_INPUT = /^[^\s=<>!":]+(?:=|!=|>=|<=|>|<).+$/s;
/** As JSON has it, and as many write it: `"uid":42`, `uid:42`. */
const MEMBER = /^"?([^\s=<>!":]+)"?:([^\s:"]+|".*")$/s;
const ON_RECORD = /^(by|address|lane|code|state|comparison|from|to):(.+)$/s;

/** The content of a search field: conditions that are complete, and the text being typed. */
type SearchParts = { conditions: readonly string[]; draft: string };

function wordsOf(text: string): string[] {
  return [...text.matchAll(WORD)].map(([, word = '']) => plain(word));
}

/** `uid = 42` and `uid==42` as `uid=42`. */
const plain = (word: string) =>
  word.replace(SPACED, (_, path: string, operator: string) => `${path}${operator === '==' ? '=' : operator}`);

/** A condition on the input, such as `uid=42`; also written as `uid:42` or `"uid":42`. Null for any other word. */
function onInput(word: string): string | null {
  if (ON_INPUT.test(word)) return word;
  if (ON_RECORD.test(word)) return null;
  const [, path, value] = MEMBER.exec(word) ?? [];
  return path === undefined || value === undefined || /^\d+$/.test(path) ? null : `${path}=${value}`;
}

/** A condition on the record, such as `by:ann`, under the name that the service has for it. A time without an offset is one of `zone`. */
function onRecord(word: string, zone: string): { name: string; value: string } | null {
  const [, name, value = ''] = ON_RECORD.exec(word) ?? [];
  if (name === undefined) return null;
  const bare = value.replace(/^"(.*)"$/s, '$1');
  if (name === 'comparison') return { name: 'comparisonId', value: bare };
  if (name !== 'from' && name !== 'to') return { name, value: bare };
  const at = readMoment(bare, zone);
  return at.kind === 'moment' ? { name, value: at.ms } : null;
}

/** Takes the conditions that are complete out of a text: a space follows them. */
export function splitSearch(text: string): SearchParts {
  const conditions: string[] = [];
  const draft = text.replace(WORD, (whole, word: string, space: string) => {
    const condition = plain(word);
    if (space === '' || (onInput(condition) === null && onRecord(condition, 'UTC') === null)) return whole;
    conditions.push(condition);
    return '';
  });
  return { conditions, draft };
}

/** The same as one text, as `splitSearch` reads it. */
export function printSearch({ conditions, draft }: SearchParts): string {
  return [...conditions.map((condition) => `${condition} `), draft].join('');
}
