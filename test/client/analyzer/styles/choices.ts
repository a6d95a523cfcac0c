import type { Data } from '../../../../src/client/engine/data/data.ts';
import { quick, type Style } from './style.ts';

const KEYS = ['a', 'b', 'c'];
const FIELDS = [
  { key: 'a', on: true },
  { key: 'b', on: false },
];
/** A minifier would work out a flag that it sees the value of. */
const FLAGS = Object.freeze({ on: false });
const DEFINED = { key: 'before' };
const EMPTY: string[] = [];
class KeysWithDefault extends Map<string, string> {
  override get(name: string): string {
    return super.get(name) ?? 'other';
  }
}
const NAMED = new KeysWithDefault([['a', 'key of a']]);
const TABLE: Readonly<Record<string, { on: boolean }>> = { a: { on: true }, b: { on: false } };

/** Choices out of lists and tables that are settled before the leaf runs, and names that mean two things in turn. */
export const choiceStyles: readonly Style[] = [
  quick('the last of a list by its length', ['c', 'a', 'b'], (s) => void s.get(KEYS[KEYS.length - 1] ?? '')),
  quick('the last of a list', ['c'], (s) => void s.get(KEYS.at(-1) ?? '')),
  quick('a slice', ['a'], (s) => void KEYS.slice(0, 1).map((key) => s.get(key))),
  quick('a slice from the end', ['b', 'c'], (s) => void KEYS.slice(-2).map((key) => s.get(key))),
  quick('the middle of a list', ['b'], (s) => KEYS.slice(1, -1).map((key) => s.get(key))),
  quick('the first of the turned list', ['c'], (s) => void s.get(KEYS.toReversed()[0] ?? '')),
  quick('all but one', ['a', 'c'], (s) => void KEYS.filter((key) => key !== 'b').map((key) => s.get(key))),
  quick('those that are on', ['a'], (s) => void FIELDS.filter(({ on }) => on).map(({ key }) => s.get(key))),
  quick('those that are off', ['b'], (s) => FIELDS.filter((field) => !field.on).map((field) => s.get(field.key))),
  quick('entries of a table that are on', ['a', 'b'], (s) =>
    Object.entries(TABLE)
      .filter(([, { on }]) => on)
      .map(([key]) => s.get(key)),
  ),
  quick('a name for two things in turn', ['yes', 'no'], (s) => {
    let source: { get(key: string): unknown } = new Map<string, unknown>();
    source.get('no');
    source = s;
    source.get('yes');
  }),
  quick('a text that is no reference', [], (s) => void s.resolve('gold')),
  quick('a text that is the value', ['gold'], (s) => void s.get(String(s.resolve('gold')))),
  quick(
    'those that another list has',
    ['a'],
    (s) => void KEYS.filter((key) => ['a', 'z'].includes(key)).map((key) => s.get(key)),
  ),
  quick('those that a set does not have', ['b', 'c', 'a'], (s) => {
    const without = new Set(['a']);
    void KEYS.filter((key) => !without.has(key)).map((key) => s.get(key));
  }),
  quick(
    'those that begin with a text',
    ['b'],
    (s) => void KEYS.filter((key) => key.startsWith('b')).map((key) => s.get(key)),
  ),
  quick(
    'those at the first places',
    ['a', 'b', 'c'],
    (s) => void KEYS.filter((_, at) => at < 2).map((key) => s.get(key)),
  ),
  quick('the one that is found', ['b', 'none'], (s) => void s.get(KEYS.find((key) => key === 'b') ?? 'none')),
  quick(
    'the last one that is found',
    ['b', 'a', 'none'],
    (s) => void s.get(KEYS.findLast((key) => key !== 'c') ?? 'none'),
  ),
  quick('a place that is looked up', ['b'], (s) => void s.get(KEYS[KEYS.indexOf('b')] ?? 'none')),
  quick(
    'a place that is computed',
    ['b', 'a', 'c', 'none'],
    (s) => void s.get(KEYS[Math.min(1, KEYS.length)] ?? 'none'),
  ),
  quick('the beginning of two lists', ['z', 'a'], (s) => void ['z', ...KEYS].slice(0, 2).map((key) => s.get(key))),
  quick(
    'the beginning of two lists that are joined',
    ['a', 'z', 'b', 'c'],
    (s) =>
      void ['z']
        .concat(KEYS)
        .slice(0, 2)
        .map((key) => s.get(key)),
  ),
  quick('the last of a list that is turned', ['c', 'a', 'b'], (s) => void s.get(String([...KEYS].reverse()[0]))),
  quick('flags that are off for now', ['a', 'b', 'c'], (s) => {
    void (FLAGS.on && s.get('a'));
    void (EMPTY.length && s.get('b'));
    void (!FLAGS.on || s.get('c'));
  }),
  quick('a list that is reduced but for its first', ['a', 'b'], (s) => {
    void ['a', 'b'].reduce<unknown>((_, key, at, all) => at && all && s.get(key), null);
  }),
  quick('a map with a default of its own', ['other', '?'], (s) => void s.get(NAMED.get('b'))),
  quick('a constant that is defined anew', ['before', '?'], (s) => {
    Object.defineProperty(DEFINED, 'key', { value: 'after', configurable: true });
    s.get(DEFINED.key);
  }),
  {
    style: 'private members that the constructor sets',
    keys: ['c', '?'],
    leaf: class {
      #key = 'a';
      #isOn = false;
      constructor() {
        this.#begin('b');
      }
      #begin(key: string) {
        this.#key = key;
        this.#isOn = true;
      }
      doNone(service: Data): void {
        service.get(this.#key);
        void (this.#isOn && service.get('c'));
      }
    },
  },
  quick('a table that loses a member', ['a', 'b'], (s) => {
    const table: Record<string, number> = { a: 1, b: 2 };
    delete table.b;
    for (const key of Object.keys(table)) s.get(key);
  }),
];
