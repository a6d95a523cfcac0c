import type { TextKey } from './en.ts';
import type { Say } from './use-text.tsx';

/** The JSON reader's faults, by the key of the same sentence in the dictionaries; `a` and `b` are what it found. */
const sentences: readonly [RegExp, TextKey][] = [
  [/^it ends too early$/, 'json.bad.early'],
  [/^the key (?<a>.*) stands twice$/s, 'json.bad.twice'],
  [/^unexpected (?<a>.*) after the end of the JSON value$/s, 'json.bad.after'],
  [/^unexpected (?<a>.*)$/s, 'json.bad.unexpected'],
  [/^nested deeper than (?<a>\d+) levels$/, 'json.bad.deep'],
  [/^expected a key in double quotes, found (?<a>.*)$/s, 'json.bad.key'],
  [/^expected (?<a>.*), found (?<b>.*)$/s, 'json.bad.expected'],
  [/^a control character in a string must be escaped$/, 'json.bad.control'],
  [/^(?<a>.*) is not an escape JSON knows$/s, 'json.bad.escape'],
  [/^\\u must be followed by four hexadecimal digits$/, 'json.bad.hexadecimal'],
  [/^(?<a>.*) is not a JSON value$/s, 'json.bad.value'],
  [/^the number (?<a>.*) must go on with a digit, found (?<b>.*)$/s, 'json.bad.number'],
];

/** The fault of a JSON text, in the reader's language. */
export function jsonWords(message: string, say: Say): string {
  for (const [pattern, key] of sentences) {
    const found = pattern.exec(message);
    if (found) return say(key, { a: '', b: '', ...found.groups });
  }
  return message;
}
