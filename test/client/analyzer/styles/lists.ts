import { quick, type Style } from './style.ts';

const NAMES = ['a', 'b'];
const MANY = Array.from({ length: 40 }, (_, index) => `k${index}`);
const TABLE = { a: 'x', b: 'y' };
const SET = new Set(['a', 'b']);
const MAP = new Map([
  ['one', 'x'],
  ['two', 'y'],
]);
const RECORDS = [{ key: 'x' }, { key: 'y' }];

/** Keys that stand in lists, sets, maps and tables. */
export const listStyles: readonly Style[] = [
  quick('for of a constant list', ['a', 'b'], (s) => {
    for (const name of NAMES) s.get(name);
  }),
  quick('for of a set', ['a', 'b'], (s) => {
    for (const name of SET) s.get(name);
  }),
  quick('forEach', ['a', 'b'], (s) => NAMES.forEach((name) => void s.get(name))),
  quick('map of a literal list', ['c', 'd'], (s) => void ['c', 'd'].map((name) => s.get(name))),
  quick('reduce', ['a', 'b'], (s) => void NAMES.reduce((sum, name) => sum + s.double(name, 0), 0)),
  quick('reduceRight', ['a', 'b'], (s) => void NAMES.reduceRight((sum, name) => sum + s.double(name, 0), 0)),
  quick('some and filter', ['a', 'b'], (s) => void NAMES.filter((name) => name !== '').some((name) => s.get(name))),
  quick('Object.keys', ['a', 'b'], (s) => Object.keys(TABLE).forEach((name) => void s.get(name))),
  quick('Object.values', ['x', 'y'], (s) => {
    for (const key of Object.values(TABLE)) s.get(key);
  }),
  quick('Object.values of a literal', ['x', 'z'], (s) => {
    for (const key of Object.values({ one: 'x', two: 'z' })) s.get(key);
  }),
  quick('Object.entries', ['a', 'x', 'b', 'y'], (s) => {
    for (const [name, key] of Object.entries(TABLE)) s.put(name, s.get(key));
  }),
  quick('for in', ['a', 'b'], (s) => {
    for (const name in TABLE) s.get(name);
  }),
  quick('flat', ['a', 'b'], (s) => {
    for (const name of [['a'], ['b']].flat()) s.get(name);
  }),
  quick('a spread list', ['a', 'b', 'c'], (s) => {
    for (const name of [...NAMES, 'c']) s.get(name);
  }),
  quick('push', ['a', 'b'], (s) => {
    const names: string[] = [];
    names.push('a');
    names.push('b');
    for (const name of names) s.get(name);
  }),
  quick('Promise.all', ['a', 'b'], (s) => void Promise.all(NAMES.map(async (name) => s.get(name)))),
  quick('an index that counts', ['a', 'b'], (s) => {
    for (let index = 0; index < NAMES.length; index++) s.get(NAMES[index] ?? 'a');
  }),
  quick('an entry by its place', ['a', 'b'], (s) => void (s.get(NAMES[0] ?? 'a') ?? s.get(NAMES.at(-1) ?? 'b'))),
  quick('a list taken apart', ['a', 'b'], (s) => {
    const [first = 'a', ...others] = NAMES;
    for (const name of [first, ...others]) s.get(name);
  }),
  quick('forEach with its index', ['a.0', 'b.1'], (s) =>
    NAMES.forEach((name, index) => void s.get(`${name}.${index}`)),
  ),
  quick('entries of a list', ['?'], (s) => {
    for (const [, name] of NAMES.entries()) s.get(name);
  }),
  quick('Array.from with a function', ['?'], (s) => void Array.from(NAMES, (name) => s.get(name))),
  quick('Object.fromEntries', ['a', 'b'], (s) => void Object.fromEntries(NAMES.map((name) => [name, s.get(name)]))),
  quick('names made of a list', ['p.a', 'p.b'], (s) => {
    for (const name of NAMES.map((each) => `p.${each}`)) s.get(name);
  }),
  quick('flatMap', ['a', 'b', 'ax', 'bx'], (s) => {
    for (const name of NAMES.flatMap((each) => [each, `${each}x`])) s.get(name);
  }),
  quick('concat', ['a', 'b', 'c'], (s) => {
    for (const name of NAMES.concat('c')) s.get(name);
  }),
  quick('sorted and sliced', ['a', 'b'], (s) => {
    for (const name of NAMES.toSorted().slice(0, 2)) s.get(name);
  }),
  quick('find', ['a', 'b'], (s) => void s.get(NAMES.find((name) => name > 'a') ?? 'a')),
  quick('a map of the module', ['x'], (s) => void s.get(MAP.get('one') ?? 'x')),
  quick('a loop over a map', ['one', 'x', 'two', 'y'], (s) => {
    for (const [name, key] of MAP) s.put(name, s.get(key));
  }),
  quick('values of a map', ['x', 'y'], (s) => {
    for (const key of MAP.values()) s.get(key);
  }),
  quick('keys of a map', ['one', 'two'], (s) => {
    for (const key of MAP.keys()) s.get(key);
  }),
  quick('forEach of a map', ['x', 'one', 'y', 'two'], (s) => MAP.forEach((key, name) => void s.put(name, s.get(key)))),
  quick('a table by a key from outside', ['kind', 'x', 'y'], (s) => {
    const byKind: Record<string, string> = TABLE;
    s.get(byKind[s.string('kind', '')] ?? 'x');
  }),
  quick('a list of objects', ['x', 'y'], (s) => {
    for (const { key } of RECORDS) s.get(key);
  }),
  quick('map of a list of objects', ['x', 'y'], (s) => void RECORDS.map(({ key }) => s.get(key))),
  quick('a list by index, twice deep', ['a', 'b', 'c'], (s) => {
    for (const inner of [NAMES, ['c']]) for (const name of inner) s.get(name);
  }),
  quick('many names', MANY, (s) => MANY.forEach((name) => void s.get(name))),
  quick('push in a function', ['c', 'a', 'b'], (s) => {
    const names = ['c'];
    NAMES.forEach((name) => void names.push(name));
    for (const name of names) s.get(name);
  }),
  quick('a list changed by index', ['a'], (s) => {
    const names: string[] = [];
    names[0] = 'a';
    for (const name of names) s.get(name);
  }),
  quick('a table that is changed', ['a', 'b'], (s) => {
    const table = { key: 'a' };
    table.key = 'b';
    s.get(table.key);
  }),
  quick('a table assigned to', ['a', 'b'], (s) => {
    const table = { key: 'a' };
    Object.assign(table, { key: 'b' });
    s.get(table.key);
  }),
  quick('splice', ['a', '?'], (s) => {
    const names = ['a'];
    names.splice(0, 1, 'b');
    for (const name of names) s.get(name);
  }),
  quick('Promise.allSettled', ['a', 'b'], (s) => void Promise.allSettled(NAMES.map(async (name) => s.get(name)))),
  quick('for await', ['a', 'b'], (s) => {
    const run = async () => {
      for await (const name of NAMES) s.get(name);
    };
    void run();
  }),
];
