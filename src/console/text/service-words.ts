import type { Occurrence } from '../../shared/reasoning/tree.ts';
import type { ExecutionRecord, Warning } from '../api/executions.ts';
import type { TextKey } from './en.ts';
import type { Say } from './use-text.tsx';

/** The faults that the readers of JSON and CSV find, by the key of the same sentence in the dictionaries; `a` and `b` are what it found. */
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
  [/^must be a number as JSON writes it, found (?<a>.*)$/s, 'csv.bad.number'],
  [/^must be a whole number, found (?<a>.*)$/s, 'csv.bad.integer'],
  [/^must be a whole number with all its digits, found (?<a>.*): a spreadsheet .*$/s, 'csv.bad.cut'],
  [/^must be true or false, found (?<a>.*)$/s, 'csv.bad.boolean'],
  [/^must have one cell for each of the (?<a>\d+) columns, found (?<b>\d+).*$/s, 'csv.bad.cells'],
  [/^the number (?<a>.*) must go on with a digit, found (?<b>.*)$/s, 'json.bad.number'],
];

/** The fault of a JSON text or a cell, in the reader's language. */
export function jsonWords(message: string, say: Say): string {
  for (const [pattern, key] of sentences) {
    const found = pattern.exec(message);
    if (found) return say(key, { a: '', b: '', ...found.groups });
  }
  return message;
}

type About = { record: ExecutionRecord; occurrences: readonly Occurrence[] };

/** A warning in the reader's language; one that this page does not know keeps the service's own sentence. */
export function warningWords({ code, message, nodeId }: Warning, { record, occurrences }: About, say: Say): string {
  const { ruleId, address } = record;
  const app = String(record.app); // an id is no number to group
  const node = nodeId ?? '';
  switch (code) {
    case 'unknown-rule':
      return say('warning.unknown-rule', { app, rule: ruleId ?? '' });
    case 'unknown-node':
      if (ruleId === null) return say('warning.unknown-node', { app, node });
      return say('warning.unknown-node.rule', { node, rule: ruleId });
    case 'missing-node':
      return say('warning.missing-node', { node });
    case 'missing-leaf-class': {
      const name = occurrences.find((place) => place.node.id === nodeId)?.node.className;
      return name ? say('warning.missing-leaf-class', { name, node }) : message;
    }
    case 'precision': {
      const [number] = /\d{16,}/.exec(message) ?? [];
      return number ? say('warning.precision', { client: address ?? '', number }) : message;
    }
    case 'no-reason':
      return say('warning.no-reason', { client: address ?? '' });
    case 'not-checked':
      return say('warning.not-checked');
    default:
      return message;
  }
}

/** How the service says that a run was not as expected, by the key of the same words in the dictionaries. */
export const differenceKeys: ReadonlyMap<string, TextKey> = new Map([
  ['differs', 'difference.differs'],
  ['is missing', 'difference.missing'],
  ['was not expected', 'difference.unexpected'],
  ['must not be there', 'difference.there'],
  ['differs by more than is allowed', 'difference.far'],
  ['is not a number', 'difference.noNumber'],
  ['took longer', 'difference.longer'],
  ['cannot be told', 'difference.unknown'],
  ['changed', 'difference.changed'],
  ['does not contain the expected text', 'difference.otherError'],
  ['did not come: the rule ran without one', 'difference.noError'],
]);

/** How what came differs from what was expected; words that this page does not know stay as they are. */
export function differenceWords(message: string, say: Say): string {
  const key = differenceKeys.get(message);
  return key === undefined ? message : say(key);
}
