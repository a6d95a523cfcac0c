import type { Template } from '../../../shared/reasoning/words/format.ts';

/** JSON on the screen, and what is wrong with a text that is none. */
export const jsonWords = {
  'json.bad.early': 'it ends too early',
  'json.bad.twice': 'the key {a} stands twice',
  'json.bad.after': 'unexpected {a} after the end of the JSON value',
  'json.bad.unexpected': 'unexpected {a}',
  'json.bad.deep': 'nested deeper than {a} levels',
  'json.bad.key': 'expected a key in double quotes, found {a}',
  'json.bad.expected': 'expected {a}, found {b}',
  'json.bad.control': 'a control character in a string must be escaped',
  'json.bad.escape': '{a} is not an escape JSON knows',
  'json.bad.hexadecimal': '\\u must be followed by four hexadecimal digits',
  'json.bad.value': '{a} is not a JSON value',
  'json.bad.number': 'the number {a} must go on with a digit, found {b}',
  'json.copy': 'Copy',
  'json.copied': 'Copied',
  'json.download': 'Save as a file',
  'json.lines': { one: '{n} line', other: '{n} lines' },
  'json.fold': 'Fold',
  'json.unfold': 'Unfold',
  'json.items': { one: '{n} item', other: '{n} items' },
  'json.keys': { one: '{n} key', other: '{n} keys' },
} as const satisfies Record<string, Template>;
