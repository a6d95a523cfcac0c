import type { Data } from '../../../../src/client/engine/data/data.ts';
import { quick, type Style } from './style.ts';

const TABLE = { a: 'x', b: 'y' };
const read = (service: Data, key: string) => service.get(key);
const named = Object.assign((service: Data) => service.get('named'), {});
const same = (service: Data) => service;
const curried = (service: Data) => (key: string) => service.get(key);
const inTurn =
  (...steps: ((service: Data) => unknown)[]) =>
  (service: Data) =>
    steps.map((step) => step(service));
const pipeline = inTurn(
  (service) => service.get('a'),
  (service) => service.get('b'),
);
const withKey = (work: (key: string) => unknown) => work('a');
const twice = (work: () => unknown) => [work(), work()];
const WAYS: Record<string, (service: Data) => unknown> = {
  one: (service) => service.get('a'),
  two: (service) => service.get('b'),
};
const helper = {
  prefix: 'p.',
  read(service: Data, key: string) {
    return service.get(this.prefix + key);
  },
};
const kept: unknown[] = [];
/** What esbuild and tsx put around functions. */
const defineName = Object.defineProperty;
const withName = <T extends object>(target: T, value: string): T =>
  defineName(target, 'name', { value, configurable: true });

/** Ways that the data takes through functions. */
export const functionStyles: readonly Style[] = [
  quick('a bound reader', ['a'], (s) => {
    const get = s.get.bind(s);
    get('a');
  }),
  quick('a bound helper', ['?'], (s) => {
    const readIt = read.bind(null, s);
    readIt('a');
  }),
  quick('call', ['a'], (s) => void read.call(null, s, 'a')),
  quick('apply', ['a'], (s) => void read.apply(null, [s, 'a'])),
  quick('a helper with spread arguments', ['a'], (s) => {
    const given: [Data, string] = [s, 'a'];
    read(...given);
  }),
  quick('rest parameters', ['a', 'b'], (s) => {
    const all = (...names: string[]) => names.map((name) => s.get(name));
    all('a', 'b');
  }),
  quick('a function with members', ['named'], (s) => void named(s)),
  quick('a helper in an object', ['a'], (s) => {
    const { run } = { run: (given: Data) => given.get('a') };
    run(s);
  }),
  quick('a default parameter that is given', ['a'], (s) => {
    const of = (key = 'never') => s.get(key);
    of('a');
  }),
  quick('a default parameter that is not', ['a'], (s) => {
    const of = (key = 'a') => s.get(key);
    of();
  }),
  quick('recursion with the same key', ['a'], (s) => {
    const again = (times: number): unknown => (times > 0 ? again(times - 1) : s.get('a'));
    again(3);
  }),
  quick('recursion with other keys', ['k', 'kx', 'kxx', 'kxxx', '?'], (s) => {
    const again = (key: string): unknown => s.get(key) ?? again(`${key}x`);
    again('k');
  }),
  quick('a timer', ['a'], (s) => void setTimeout(() => s.get('a'))),
  quick('a reader by apply', ['a'], (s) => void s.get.apply(s, ['a'])),
  quick('a function called where it stands', ['a'], (s) => void (() => s.get('a'))()),
  quick('an async function called where it stands', ['a', 'b'], (s) => {
    void (async () => {
      await s.get('a');
      s.get('b');
    })();
  }),
  quick('a function that returns a function', ['a'], (s) => {
    const reader = (key: string) => () => s.get(key);
    reader('a')();
  }),
  quick('one argument at a time', ['a'], (s) => void curried(s)('a')),
  quick('a step of a pipeline', ['a', 'b'], (s) => void pipeline(s)),
  quick('a function given a key', ['a'], (s) => void withKey((key) => s.get(key))),
  quick('a function given to a helper', ['a'], (s) => void twice(() => s.get('a'))),
  quick('then', ['a'], (s) => void Promise.resolve().then(() => s.get('a'))),
  quick('a new promise', ['a'], (s) => void new Promise((resolve) => resolve(s.get('a')))),
  quick('a generator of names', ['?'], (s) => {
    function* names() {
      yield 'a';
      yield* ['b'];
    }
    for (const name of names()) s.get(name);
  }),
  quick('a generator that reads', ['a', '?'], (s) => {
    function* values() {
      yield s.get('a');
    }
    void [...values()];
  }),
  quick('a table of functions', ['kind', 'a', 'b'], (s) => {
    const ways: Record<string, () => unknown> = { one: () => s.get('a'), two: () => s.get('b') };
    ways[s.string('kind', '')]?.();
  }),
  quick('a table of functions of the module', ['kind', 'a', 'b'], (s) => void WAYS[s.string('kind', '')]?.(s)),
  quick('a method that uses its object', ['a'], (s) => {
    const reader = {
      key: 'a',
      read(given: Data) {
        return given.get(this.key);
      },
    };
    reader.read(s);
  }),
  quick('a getter of an object', ['?'], (s) => {
    const names = {
      get key() {
        return 'a';
      },
    };
    s.get(names.key);
  }),
  quick('an object spread', ['x', 'z', 'y'], (s) => {
    const table = { ...TABLE, b: 'z' };
    void (s.get(table.a) ?? s.get(table.b));
  }),
  quick('the rest of an object', ['x', 'y'], (s) => {
    const { a: _a, ...others } = TABLE;
    for (const key of Object.values(others)) s.get(key);
  }),
  quick('a helper of the module that is an object', ['p.a'], (s) => void helper.read(s, 'a')),
  quick('a function nobody calls', [], (s) => {
    const never = () => console.debug(s.ts);
    void never;
  }),
  quick('a function that is kept for later', ['a'], (s) => {
    const later = () => s.get('a');
    kept.push({ later });
  }),
  quick('a function in an object given away', ['a'], (s) => void kept.push({ later: () => s.get('a') })),
  quick('a class that uses the data', ['a', '?'], (s) => {
    class Local {
      read() {
        return s.get('a');
      }
    }
    new Local().read();
  }),
  quick('a default of a destructured parameter', ['a'], (s) => {
    const of = ({ key = 'a' }: { key?: string } = {}) => s.get(key);
    of();
  }),
  quick('a name that a compiler gives a function', ['a'], (s) => {
    const of = withName((key: string) => s.get(key), 'of');
    of('a');
  }),
  quick('Reflect.apply', ['?'], (s) => void Reflect.apply(s.get, s, ['a'])),
  quick('a function that gives back the data', ['a'], (s) => void same(s).get('a')),
  quick('mutual recursion', ['a'], (s) => {
    const even = (times: number): unknown => (times === 0 ? s.get('a') : odd(times - 1));
    const odd = (times: number): unknown => (times === 0 ? undefined : even(times - 1));
    even(2);
  }),
];
