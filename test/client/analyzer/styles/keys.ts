import type { Data } from '../../../../src/client/engine/data/data.ts';
import { quick, type Style } from './style.ts';

const NAMES = ['a', 'b'];
const TABLE = { a: 'x', b: 'y' };
const SECOND = 'b';
const GET = 'get';

/** Ways to name a key, and to hold the data. */
export const keyStyles: readonly Style[] = [
  quick('a literal key', ['a'], (s) => void s.get('a')),
  quick('a typed reader', ['a'], (s) => void s.long('a')),
  quick('a template', ['a.b'], (s) => void s.get(`a.${'b'}`)),
  quick('concatenation', ['ab'], (s) => void s.get('a'.concat('b'))),
  quick('join', ['a.b'], (s) => void s.getDeep(NAMES.join('.'))),
  quick('a table', ['x'], (s) => void s.get(TABLE.a)),
  quick('a computed member', ['y'], (s) => void s.get(TABLE[SECOND])),
  quick('the data in an object', ['a'], (s) => {
    const run = ({ data }: { data: Data }) => data.get('a');
    run({ data: s });
  }),
  quick('the data in a list', ['a'], (s) => {
    const run = ([data]: [Data]) => data.get('a');
    run([s]);
  }),
  quick('optional calls', ['a'], (s) => void s?.get?.('a')),
  quick('a conditional key', ['a', 'b'], (s) => void s.get(s.ts > 0 ? 'a' : 'b')),
  quick('a key from another key', ['a', '<a>'], (s) => void s.get(s.string('a', ''))),
  quick('console.log is no reader', ['a'], (s) => console.debug(s, s.get('a'))),
  quick('a dotted key', ['a.b', 'c.d'], (s) => s.putDeep('c.d', s.deep.long('a.b'))),
  quick('deep in a name of its own', ['a.b'], (s) => {
    const { deep } = s;
    deep.get('a.b');
  }),
  quick('a reader by its name', ['a'], (s) => void s[GET]('a')),
  quick('a reader taken out', ['a'], (s) => {
    const { get } = s;
    get.call(s, 'a');
  }),
  quick('a value put unchanged', ['a', 'b'], (s) => s.put('b', s.raw('a'))),
  quick('a number in a key', ['k1', '2'], (s) => void (s.get(`k${1}`) ?? s.get(String(2)))),
  quick('a key in capitals', ['a', 'B'], (s) => void (s.get('A'.toLowerCase()) ?? s.get('b'.toUpperCase()))),
  quick('a key with a part replaced', ['a.b'], (s) => void s.get('a-b'.replace('-', '.'))),
  quick('a key cut out', ['ab'], (s) => void s.get('abc'.slice(0, 2))),
  quick('a text split', ['a', 'b'], (s) => {
    for (const name of 'a,b'.split(',')) s.get(name);
  }),
  quick('a key that grows', ['a', '?'], (s) => {
    let key = 'a';
    key += 'b';
    s.get(key);
  }),
  quick('a key assigned later', ['a', 'b'], (s) => {
    let key: string;
    if (s.ts > 0) key = 'a';
    else key = 'b';
    s.get(key);
  }),
  quick('a key assigned anew', ['b', 'never'], (s) => {
    let key = 'never';
    console.debug(key);
    key = 'b';
    s.get(key);
  }),
  quick('a key assigned in a function', ['a', '?'], (s) => {
    let key = 'a';
    const choose = (other: string) => {
      key = other;
    };
    choose(String(s.ts));
    s.get(key);
  }),
  quick('one name in two blocks', ['a'], (s) => {
    {
      const key = 'a';
      s.get(key);
    }
    {
      const key = 'never';
      console.debug(key);
    }
  }),
  quick('a name in an inner function', ['a'], (s) => {
    const key = 'a';
    const print = (key: string) => console.debug(key);
    print('never');
    s.get(key);
  }),
  quick('another thing by the name of the data', ['a'], (s) => {
    const wanted = [new Map([['never', 1]])].map((s) => s.get('never'));
    console.debug(wanted, s.get('a'));
  }),
  quick('a caught error by the name of the data', ['a'], (s) => {
    try {
      s.get('a');
    } catch (s) {
      console.debug(s);
    }
  }),
  quick('get of something else', [], () => void new Map([['never', 1]]).get('never')),
  quick('an alias of the data', ['a'], (s) => {
    const same = s;
    same.get('a');
  }),
  quick('the data in a variable of two', ['a'], (s) => {
    const either = s.ts > 0 ? s : null;
    either?.get('a');
  }),
  quick('switch', ['a', 'b', 'c'], (s) => {
    switch (s.get('a')) {
      case 1:
        s.get('b');
        break;
      default:
        s.get('c');
    }
  }),
  quick('try and finally', ['a', 'b', 'c'], (s) => {
    try {
      s.get('a');
    } catch {
      s.get('b');
    } finally {
      s.get('c');
    }
  }),
  quick('do and while', ['a', 'b'], (s) => {
    do s.get('a');
    while (s.boolean('b', false));
  }),
  quick('one or the other', ['a', 'b'], (s) => void (s.get('a') ?? s.get('b'))),
  quick('a member of what is read', ['a'], (s) => void s.map('a', {}).never),
  quick('a method of what is read', ['a'], (s) => void s.list('a', []).includes('never')),
  quick('@ keys', ['@a'], (s) => void s.resolve('@a')),
  quick('arguments', ['a'], function (this: unknown) {
    // biome-ignore lint/complexity/noArguments: it is what older code does.
    const [given]: IArguments = arguments;
    given.get('a');
  }),
  quick('the names there are', ['?'], (s) => {
    for (const name of s.keys()) s.get(name);
  }),
];
