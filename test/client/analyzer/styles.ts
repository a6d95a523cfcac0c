import type { Data } from '../../../src/client/engine/data.ts';
import type { LeafClass, LeafDefinition } from '../../../src/client/leaves/leaf.ts';

/** A way to write a leaf, and the keys it reads or writes. `?`: keys that the code alone does not tell. */
export type Style = { style: string; leaf: LeafClass | LeafDefinition; keys: readonly string[] };

const NAMES = ['a', 'b'];
const TABLE = { a: 'x', b: 'y' };
const SECOND = 'b';
const SET = new Set(['a', 'b']);
const read = (service: Data, key: string) => service.get(key);
const named = Object.assign((service: Data) => service.get('named'), {});
class Wrapper {
  readonly service: Data;
  constructor(service: Data) {
    this.service = service;
  }
  get(key: string) {
    return this.service.get(key);
  }
}
/** What compilers make of a decorated method. */
function logged<A extends unknown[], R>(method: (...given: A) => R) {
  return function (this: unknown, ...given: A): R {
    return method.apply(this, given);
  };
}

/** A leaf of one method, for styles that need no more. */
const none = (doNone: (service: Data) => void): LeafClass =>
  class {
    doNone = doNone;
  };

const quick = (style: string, keys: readonly string[], doNone: (service: Data) => void): Style => ({
  ...{ style, keys },
  leaf: none(doNone),
});

export const styles: readonly Style[] = [
  quick('a literal key', ['a'], (s) => void s.get('a')),
  quick('a typed reader', ['a'], (s) => void s.long('a')),
  quick('a template', ['a.b'], (s) => void s.get(`a.${'b'}`)),
  quick('concatenation', ['ab'], (s) => void s.get('a'.concat('b'))),
  quick('join', ['a.b'], (s) => void s.getDeep(NAMES.join('.'))),
  quick('a table', ['x'], (s) => void s.get(TABLE.a)),
  quick('a computed member', ['y'], (s) => void s.get(TABLE[SECOND])),
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
  quick('a bound reader', ['a'], (s) => {
    const get = s.get.bind(s);
    get('a');
  }),
  quick('a bound helper', ['a'], (s) => {
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
  quick('recursion with other keys', ['k', 'kx', '?'], (s) => {
    const again = (key: string): unknown => s.get(key) ?? again(`${key}x`);
    again('k');
  }),
  quick('a wrapper class', ['?'], (s) => void new Wrapper(s).get('a')),
  quick('the data kept in an object of the module', ['?'], (s) => void Object.assign(TABLE, { s })),
  quick('the data in a promise', ['?'], (s) => void Promise.resolve(s).then((same) => same.get('a'))),
  quick('the data in a map', ['?'], (s) => void new Map([['s', s]]).get('s')?.get('a')),
  quick('a method looked up by a name from outside', ['?'], (s) => {
    const method = s.ts > 0 ? 'get' : 'raw';
    const way: unknown = Reflect.get(s, method);
    void way;
  }),
  quick('a key made up', ['?'], (s) => void s.get(String(s.ts))),
  quick('a key from another key', ['a', '<a>'], (s) => void s.get(s.string('a', ''))),
  quick('console.log is no reader', ['a'], (s) => console.debug(s, s.get('a'))),
  quick('a timer', ['a'], (s) => void setTimeout(() => s.get('a'))),
  quick('Promise.all', ['a', 'b'], (s) => void Promise.all(NAMES.map(async (name) => s.get(name)))),
  {
    style: 'a decorated method',
    keys: ['a'],
    leaf: class {
      doNone = logged((service: Data) => void service.get('a'));
    },
  },
  {
    style: 'errorHandle',
    keys: ['a', 'reason'],
    leaf: class {
      doFlow(service: Data): boolean {
        return service.get('a') === 1;
      }
      errorHandle(service: Data): 'TRUE' | 'FALSE' {
        return service.get('reason') === 'x' ? 'TRUE' : 'FALSE';
      }
    },
  },
  {
    style: 'a getter',
    keys: ['p.{name}'],
    leaf: class {
      name = 'n';
      get #unused() {
        return 1;
      }
      get key(): string {
        return `p.${this.name}`;
      }
      doNone(service: Data): void {
        void this.#unused;
        service.get(this.key);
      }
    },
  },
  {
    style: 'a configured object',
    keys: ['{config.key}'],
    leaf: class {
      config = { key: 'a' };
      doNone(service: Data): void {
        service.get(this.config.key);
      }
    },
  },
  {
    style: 'a configured list',
    keys: ['?'],
    leaf: class {
      keys = ['a', 'b'];
      doNone(service: Data): void {
        for (const key of this.keys) service.get(key);
      }
    },
  },
  {
    style: 'a private method with a default parameter',
    keys: ['a'],
    leaf: class {
      #read(service: Data, key = 'never'): unknown {
        return service.get(key);
      }
      doNone(service: Data): void {
        this.#read(service, 'a');
      }
    },
  },
  {
    style: 'a field that is an arrow function',
    keys: ['{key}'],
    leaf: class {
      key = 'a';
      doNone = (service: Data): void => void service.get(this.key);
    },
  },
  {
    style: 'the data kept in the leaf',
    keys: ['?'],
    leaf: class {
      _kept: Data | undefined;
      doNone(service: Data): void {
        this._kept = service;
        this.later();
      }
      later(): void {
        this._kept?.get('a');
      }
    },
  },
  {
    style: 'a method bound in the constructor',
    keys: ['?'],
    leaf: class {
      doNone: (service: Data) => void;
      constructor() {
        this.doNone = this.#run.bind(this);
      }
      #run(service: Data): void {
        service.get('a');
      }
    },
  },
  {
    style: 'declared keys win',
    keys: ['uid'],
    leaf: {
      leaf: class {
        doNone(service: Data): void {
          void new Wrapper(service).get('uid');
        }
      },
      reads: { uid: 'integer' },
    },
  },
];
