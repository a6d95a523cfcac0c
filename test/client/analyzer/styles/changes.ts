import type { Data } from '../../../../src/client/engine/data/data.ts';
import { quick, type Style } from './style.ts';

const KEYS = ['a', 'b', 'c'];
const UNSORTED = ['c', 'a', 'b'];
const TWICE = ['a', 'b', 'a'];
const TABLE: Record<string, string> = { a: 'x', b: 'y' };
const listed = ['r1'];
const register = (name: string) => listed.push(name);
const rename = (table: { key: string }) => {
  table.key = 'renamed';
};
const keyOfStatus = (status: number): string | undefined => {
  if (status > 0) return 'active';
  return undefined;
};
function keyOfSign(value: number): string | undefined {
  switch (value) {
    case 1:
      return 'positive';
  }
  return;
}

/** Lists, tables and names that change before their value is used, and values that may not be there. */
export const changeStyles: readonly Style[] = [
  quick('a fallback of a list', ['level', 'a', 'b', 'c', 'none'], (s) => void s.get(KEYS[s.int('level', 0)] ?? 'none')),
  quick('a fallback of a table', ['kind', 'x', 'y', 'none'], (s) => void s.get(TABLE[s.string('kind', '')] ?? 'none')),
  quick('a function that may return nothing', ['active', 'none'], (s) => void s.get(keyOfStatus(s.ts) ?? 'none')),
  quick('a switch that may return nothing', ['positive', 'none'], (s) => void s.get(keyOfSign(s.ts) ?? 'none')),
  quick('a name that may have no value', ['a', 'none'], (s) => {
    let key: string | undefined;
    if (s.ts > 5) key = 'a';
    s.get(key ?? 'none');
  }),
  quick('the first of a sorted list', ['a'], (s) => void s.get(String(UNSORTED.toSorted()[0]))),
  quick('a list that is turned where it stands', ['a', 'b', 'c'], (s) => {
    const names = ['a', 'b', 'c'];
    names.reverse();
    for (const name of names) s.get(name);
  }),
  quick(
    'parts that depend on a condition',
    ['user.new', 'user.old'],
    (s) => void s.get(['user', s.ts > 5 ? 'new' : 'old'].join('.')),
  ),
  quick('parts that are turned', ['?'], (s) => {
    const parts = ['id', 'user'];
    parts.reverse();
    s.get(parts.join('.'));
  }),
  quick('a set without twins', ['a.b'], (s) => void s.get([...new Set(TWICE)].join('.'))),
  quick('a list by another name', ['a', 'b'], (s) => {
    const names = ['a'];
    const same = names;
    same.push('b');
    for (const name of names) s.get(name);
  }),
  quick('a list in an object that grows', ['a', 'b'], (s) => {
    const state = { keys: ['a'] };
    state.keys.push('b');
    for (const key of state.keys) s.get(key);
  }),
  quick('a table that a function changes', ['a', 'renamed'], (s) => {
    const table = { key: 'a' };
    s.get(table.key);
    rename(table);
    s.get(table.key);
  }),
  quick('a list of the module that a function adds to', ['r1', 'r2', '?'], (s) => {
    register('r2');
    for (const name of listed) s.get(name);
  }),
  quick('a number in another notation', ['ff'], (s) => void s.get((255).toString(16))),
  quick('the data nested in objects', ['a'], (s) => {
    const context = { inner: { s } };
    const { inner } = { ...context };
    inner.s.get('a');
  }),
  {
    style: 'a list of the leaf that grows',
    keys: ['a', 'b'],
    leaf: class {
      _keys = ['a'];
      doNone(service: Data): void {
        this._keys.push('b');
        for (const key of this._keys) service.get(key);
      }
    },
  },
  {
    style: 'a private list that grows',
    keys: ['?'],
    leaf: class {
      readonly #keys = ['a'];
      doNone(service: Data): void {
        this.#keys.push('b');
        for (const key of this.#keys) service.get(key);
      }
    },
  },
];
