import { readMoment } from '../../../shared/contract/moment.ts';

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

export function wordsOf(text: string): string[] {
  return [...text.matchAll(WORD)].map(([, word = '']) => plain(word));
}

/** `uid = 42` and `uid==42` as `uid=42`. */
const plain = (word: string) =>
  word.replace(SPACED, (_, path: string, operator: string) => `${path}${operator === '==' ? '=' : operator}`);

/** A condition on the input, such as `uid=42`; also written as `uid:42` or `"uid":42`. Null for any other word. */
export function onInput(word: string): string | null {
  if (ON_INPUT.test(word)) return word;
  if (ON_RECORD.test(word)) return null;
  const [, path, value] = MEMBER.exec(word) ?? [];
  return path === undefined || value === undefined || /^\d+$/.test(path) ? null : `${path}=${value}`;
}

/** A condition on the record, such as `by:ann`, under the name that the service has for it. A time without an offset is one of `zone`. */
export function onRecord(word: string, zone: string): { name: string; value: string } | null {
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
