import { EventEmitter } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { Data } from '../../../../src/client/engine/data/data.ts';
import { quick, type Style } from './style.ts';

const FIELDS = { name: 'user.name', age: 'user.age' } as const;
const [FIRST, ...OTHERS] = ['one', 'two', 'three'];
const BY_KIND = new Map([['vip', 'level']]);
const FROZEN = Object.freeze({ city: 'city', inner: Object.freeze({ zip: 'zip' }) });
const Names = { cost: 'cost', tax: 'tax' } as const;
const SECOND = 'k';
const AGE = 'age';
let mode = 'fast';
export const setMode = (next: string): void => {
  mode = next;
};
const settings = { key: 'early' };
export const configure = (key: string): void => {
  settings.key = key;
};
// biome-ignore lint/complexity/noStaticOnlyClass: this is the way of writing under test
class Parent {
  static readonly key: string = 'parent';
}
class Child extends Parent {
  static override get key() {
    return 'child';
  }
}
const registered: string[] = ['seed'];
export function register(name: string): void {
  registered.push(name);
}
const readAll = (service: Data, ...names: string[]) => names.map((name) => service.get(name));
const readWith =
  <T>(map: (value: unknown) => T) =>
  (service: Data, key: string): T =>
    map(service.get(key));
const withDefaults = (service: Data, { key = 'fallback', prefix = '' }: { key?: string; prefix?: string } = {}) =>
  service.get(prefix + key);
const partial =
  <A extends unknown[], R>(work: (...given: A) => R, ...given: A) =>
  () =>
    work(...given);
const compose =
  (...steps: ((value: unknown) => unknown)[]) =>
  (value: unknown) =>
    steps.reduce((sum, step) => step(sum), value);
const memo = new WeakMap<object, unknown>();
async function loadAll(service: Data, names: readonly string[]) {
  const all: unknown[] = [];
  for (const name of names) all.push(await service.get(name));
  return all;
}
class Reader {
  static of(service: Data) {
    return new Reader(service);
  }
  readonly #service: Data;
  constructor(service: Data) {
    this.#service = service;
  }
  read(key: string) {
    return this.#service.get(key);
  }
}
const reader = {
  keys: ['r1', 'r2'],
  run(service: Data) {
    return this.keys.map((key) => service.get(key));
  },
};
let shared: Data | undefined;

/** Ways to write a leaf that came later than the others: a hundred of one line or a few. */
export const modernStyles: readonly Style[] = [
  quick('an awaited key', ['a'], async (s) => void s.get(await Promise.resolve('a'))),
  quick('awaited in turn', ['a', 'b'], async (s) => {
    await s.get('a');
    await Promise.resolve();
    s.get('b');
  }),
  quick('an async helper with a loop', ['a', 'b'], async (s) => void (await loadAll(s, ['a', 'b']))),
  quick('Promise.all of two', ['a', 'b'], async (s) => void (await Promise.all([s.get('a'), s.get('b')]))),
  quick('a destructured Promise.all', ['a', 'x'], async (s) => {
    const [key] = await Promise.all(['x', s.get('a')] as const);
    s.get(key);
  }),
  quick('allSettled', ['a'], async (s) => void (await Promise.allSettled([Promise.resolve().then(() => s.get('a'))]))),
  quick('a chain of thens', ['b'], (s) => void Promise.resolve('b').then((key) => s.get(key))),
  quick(
    'then after then',
    ['a.x'],
    (s) =>
      void Promise.resolve('a')
        .then((key) => `${key}.x`)
        .then((key) => s.get(key)),
  ),
  quick('catch', ['a'], (s) => void Promise.reject(new Error('no')).catch(() => s.get('a'))),
  quick('finally', ['a'], (s) => void Promise.resolve().finally(() => void s.get('a'))),
  quick('queueMicrotask', ['a'], (s) => queueMicrotask(() => void s.get('a'))),
  quick('a pause of Node', ['a', 'b'], async (s) => {
    s.get('a');
    await pause(1);
    s.get('b');
  }),
  {
    style: 'a leaf that is an emitter',
    keys: ['a'],
    leaf: class extends EventEmitter {
      doNone(service: Data): void {
        this.emit('read', service.get('a'));
      }
    },
  },
  quick('setImmediate', ['a'], (s) => void setImmediate(() => s.get('a'))),
  quick(
    'an async arrow in a map',
    ['a', 'b'],
    async (s) => void (await Promise.all(['a', 'b'].map(async (key) => s.get(key)))),
  ),
  quick('an async generator', ['?'], async (s) => {
    async function* names() {
      yield 'a';
      yield 'b';
    }
    for await (const name of names()) s.get(name);
  }),
  quick('a variable that a timer reads late', ['a', 'b'], (s) => {
    let key = 'a';
    setTimeout(() => s.get(key));
    key = 'b';
  }),
  quick('a variable that changes while it waits', ['a', 'b'], async (s) => {
    let key = 'a';
    const work = async () => {
      await Promise.resolve();
      s.get(key);
    };
    const pending = work();
    key = 'b';
    await pending;
  }),
  quick('nested destructuring', ['x'], (s) => {
    const {
      a: {
        b: [key],
      },
    } = { a: { b: ['x'] } };
    s.get(key);
  }),
  quick('destructuring with a default', ['d'], (s) => {
    const { key = 'd' }: { key?: string } = {};
    s.get(key);
  }),
  quick('destructuring with another name', ['user.name'], (s) => {
    const { name: key } = FIELDS;
    s.get(key);
  }),
  quick('a computed name in a pattern', ['user.age'], (s) => {
    const { [AGE]: key } = FIELDS;
    s.get(key);
  }),
  quick('a list in a pattern with holes', ['two'], (s) => {
    const [, key = ''] = ['one', 'two'];
    s.get(key);
  }),
  quick('the rest of a list', ['two', 'three'], (s) => OTHERS.forEach((key) => void s.get(key))),
  quick('the first of a list of the module', ['one'], (s) => void s.get(FIRST ?? '')),
  quick('a destructured parameter of a helper', ['p.k'], (s) => void withDefaults(s, { prefix: 'p.', key: 'k' })),
  quick('a default of a helper', ['fallback'], (s) => void withDefaults(s)),
  quick('swapped names', ['a', 'b'], (s) => {
    let [one, two] = ['a', 'b'];
    [one, two] = [two, one];
    s.get(one);
    s.get(two);
  }),
  quick('methods taken out of the data', ['a', 'b'], (s) => {
    const { get, long: number } = s;
    get.call(s, 'a');
    number.call(s, 'b', 0n);
  }),
  quick('an alias of an alias', ['a'], (s) => {
    const one = s;
    const two = one;
    const { deep } = two;
    deep.get('a');
  }),
  quick('an alias that is assigned', ['a'], (s) => {
    let same: Data | undefined;
    if (s.ts > 0) same = s;
    same?.get('a');
  }),
  quick('an alias in a condition', ['a'], (s) => {
    const either = s.ts > 0 ? s : s;
    either.get('a');
  }),
  quick('an alias in a table', ['a'], (s) => {
    const context = { data: s, other: 1 };
    context.data.get('a');
  }),
  quick('an alias added to a table', ['a'], (s) => {
    const context: { data?: Data } = {};
    context.data = s;
    context.data.get('a');
  }),
  quick('an alias under a computed name', ['a'], (s) => {
    const name = 'data';
    const context = { [name]: s };
    context[name]?.get('a');
  }),
  quick('an alias in a spread object', ['a'], (s) => {
    const context = { ...{ data: s } };
    context.data.get('a');
  }),
  quick('an alias in a list that is pushed', ['a'], (s) => {
    const all: Data[] = [];
    all.push(s);
    for (const each of all) each.get('a');
  }),
  quick('optional chains', ['a'], (s) => void s?.deep?.get?.('a')),
  quick('an optional alias', ['a'], (s) => {
    const maybe: Data | null = s.ts > 0 ? s : null;
    maybe?.get('a');
  }),
  quick('an optional key', ['user.name'], (s) => void s.get(FIELDS?.name)),
  quick('nullish keys', ['x'], (s) => void s.get(BY_KIND.get('none') ?? 'x')),
  quick('a key assigned if there is none', ['z'], (s) => {
    let key = s.ts > 0 ? undefined : 'z';
    key ??= 'z';
    s.get(key);
  }),
  quick('logical assignment of a text', ['z'], (s) => {
    let key = '';
    key ||= 'z';
    s.get(key);
  }),
  quick('spread arguments', ['a'], (s) => void s.get(...(['a'] as const))),
  quick('a helper with rest parameters', ['a', 'b'], (s) => void readAll(s, 'a', 'b')),
  quick('a helper with a spread list', ['two', 'three'], (s) => void readAll(s, ...OTHERS)),
  quick('a spread of two lists', ['a', 'two', 'three'], (s) => [...['a'], ...OTHERS].forEach((key) => void s.get(key))),
  quick('a spread of a set', ['a', 'b'], (s) => [...new Set(['a', 'b'])].forEach((key) => void s.get(key))),
  quick('a spread of map keys', ['vip'], (s) => [...BY_KIND.keys()].forEach((key) => void s.get(key))),
  quick('spread entries of a map', ['vip', 'level'], (s) =>
    [...BY_KIND].forEach(([one, two]) => void (s.get(one) ?? s.get(two))),
  ),
  quick('a closure over the data', ['a'], (s) => {
    const read = () => s.get('a');
    read();
  }),
  quick('a closure over a key', ['a', 'b'], (s) => {
    const reads = ['a', 'b'].map((key) => () => s.get(key));
    for (const read of reads) read();
  }),
  quick('a closure in a closure', ['a.b'], (s) => {
    const outer = (one: string) => (two: string) => s.get(`${one}.${two}`);
    outer('a')('b');
  }),
  quick('a closure that is kept in a map', ['a'], (s) => {
    const table = new Map([['read', () => s.get('a')]]);
    table.get('read')?.();
  }),
  quick('a counter in a closure', ['k'], (s) => {
    const next = (() => {
      let count = 0;
      return () => ++count;
    })();
    if (next() > 0) s.get('k');
  }),
  quick('a memo', ['a'], (s) => {
    const known = new Map<string, unknown>();
    const read = (key: string) => known.get(key) ?? known.set(key, s.get(key)).get(key);
    read('a');
  }),
  quick('partial application', ['a'], (s) => {
    partial(s.get.bind(s), 'a')();
  }),
  quick('a helper that maps', ['a'], (s) => void readWith(Number)(s, 'a')),
  quick('composition', ['?'], (s) => void compose((value) => (value as Data).get('a'), Number)(s)),
  quick('a function stored in an object and called by name', ['a'], (s) => {
    const table: Record<string, (key: string) => unknown> = { get: (key) => s.get(key) };
    table.get?.('a');
  }),
  quick('an object with a method and this', ['r1', 'r2'], (s) => void reader.run(s)),
  quick('an object with a getter that reads', ['a'], (s) => {
    const lazy = {
      get value() {
        return s.get('a');
      },
    };
    void lazy.value;
  }),
  quick('an object with a setter', ['?'], (s) => {
    const sink = {
      set value(key: string) {
        s.get(key);
      },
    };
    sink.value = 'a';
  }),
  quick('toString of an object', ['a', 't'], (s) => {
    const text = { toString: () => String(s.get('a')) };
    s.put('t', `${text}`);
  }),
  quick('an iterator of an object', ['a', '?'], (s) => {
    const all = {
      *[Symbol.iterator]() {
        yield s.get('a');
      },
    };
    void [...all];
  }),
  quick('valueOf of an object', ['a', 't'], (s) => {
    const value = { valueOf: () => s.double('a', 0) };
    s.put('t', +value + 1);
  }),
  quick('toJSON of an object', ['a'], (s) => void JSON.stringify({ toJSON: () => s.get('a') })),
  quick('a thenable', ['a'], async (s) => {
    // biome-ignore lint/suspicious/noThenProperty: this is the way of writing under test
    await { then: (resolve: (value: unknown) => void) => resolve(s.get('a')) };
  }),
  quick('a local class', ['a', '?'], (s) => {
    class Local {
      readonly key: string;
      constructor(key: string) {
        this.key = key;
      }
      read() {
        return s.get('a');
      }
    }
    new Local('a').read();
  }),
  quick('a local class that is given the data', ['?'], (s) => {
    class Local {
      data: Data;
      constructor(data: Data) {
        this.data = data;
      }
    }
    new Local(s).data.get('a');
  }),
  quick('a wrapper with a private field', ['?'], (s) => void new Reader(s).read('a')),
  quick('a wrapper made by a static method', ['?'], (s) => void Reader.of(s).read('a')),
  quick('a class with a static block', ['a', '?'], (s) => {
    // biome-ignore lint/complexity/noStaticOnlyClass: this is the way of writing under test
    class Local {
      static value: unknown;
      static {
        Local.value = s.get('a');
      }
    }
    void Local;
  }),
  quick('computed keys', ['x'], (s) => void s.get({ [SECOND]: 'x' }.k ?? '')),
  quick('a computed key of a constant', ['user.age'], (s) => {
    const which = 'age';
    s.get(FIELDS[which]);
  }),
  quick('a computed key of a template', ['user.name'], (s) => {
    const table: Record<string, string> = FIELDS;
    s.get(table[`na${'me'}`] ?? '');
  }),
  quick('a nested constant', ['zip'], (s) => void s.get(FROZEN.inner.zip)),
  quick('an enum', ['cost', 'tax'], (s) => void (s.get(Names.cost) ?? s.get(Names.tax))),
  quick('the values of an enum', ['cost', 'tax'], (s) => Object.values(Names).forEach((key) => void s.get(key))),
  quick('a name of the module that a function assigns', ['fast', '?'], (s) => void s.get(mode)),
  quick('a member of the module that a function assigns', ['early', '?'], (s) => void s.get(settings.key)),
  quick('a static getter over a static member', ['?'], (s) => void s.get(Child.key)),
  // biome-ignore lint/security/noGlobalEval: this is the way of writing under test
  quick('code in a text', ['?'], (s) => void [s.ts, eval("s.get('a')")]),
  quick('an object with a prototype', ['?'], (s) => {
    const own = { __proto__: { key: 'a' } } as { key?: string };
    s.get(String(own.key));
  }),
  quick('a list of the module that another function fills', ['seed', '?'], (s) =>
    registered.forEach((key) => void s.get(key)),
  ),
  quick('the data in a weak map', ['?'], (s) => void (memo.set(s, s).get(s) as Data).get('a')),
  quick('the data in a name of the module', ['?'], (s) => {
    shared = s;
    shared.get('a');
  }),
  quick('the data in an array buffer of arguments', ['a'], (s) => {
    const run = (...given: unknown[]) => (given[0] as Data).get('a');
    run(s);
  }),
  quick('Reflect.get', ['?'], (s) => void (Reflect.get(s, 'get') as Data['get']).call(s, 'a')),
  quick('the prototype of the data', ['?'], (s) => void (Object.getPrototypeOf(s) as Data).get.call(s, 'a')),
  quick('structured into an entry list', ['?'], (s) => {
    const { data } = Object.fromEntries([['data', s]]) as { data: Data };
    data.get('a');
  }),
  quick('a labelled loop', ['a', 'b'], (s) => {
    outer: for (const one of ['a', 'b']) {
      for (const two of [1, 2]) {
        if (two === 2) continue outer;
        s.get(one);
      }
    }
  }),
  quick('a loop that breaks before it assigns', ['a', 'b'], (s) => {
    let key = 'a';
    for (;;) {
      if (s.ts > 0) break;
      key = 'b';
    }
    s.get(key);
  }),
  quick('try with a return', ['a', 'b'], (s) => {
    const of = () => {
      try {
        return 'a';
      } finally {
        s.get('b');
      }
    };
    s.get(of());
  }),
  quick('a key out of a switch', ['a', 'b', 'c'], (s) => {
    let key = 'a';
    switch (s.ts) {
      case 1:
        key = 'b';
        break;
      default:
        key = 'c';
    }
    s.get(key);
  }),
  quick('a number as a key', ['?'], (s) => void s.get(String(3 + 4))),
  quick('a text cut and joined', ['user_name'], (s) => void s.get('user-name'.split('-').join('_'))),
  quick('a sorted copy', ['a', 'b'], (s) =>
    ['b', 'a'].toSorted((one, two) => one.localeCompare(two)).forEach((key) => void s.get(key)),
  ),
  quick('a sort that reads', ['a', 'b', 'w.a', 'w.b'], (s) => {
    const names = ['a', 'b'];
    names.sort((one, two) => s.double(`w.${one}`, 0) - s.double(`w.${two}`, 0));
    for (const name of names) s.get(name);
  }),
  quick('a filter that reads', ['a', 'b'], (s) => void ['a', 'b'].filter((key) => s.boolean(key, false))),
  quick('every that reads', ['a', 'b'], (s) => void ['a', 'b'].every((key) => s.boolean(key, false))),
  quick('a reduce that reads into an object', ['a', 'b'], (s) => {
    void ['a', 'b'].reduce<Record<string, unknown>>((sum, key) => Object.assign(sum, { [key]: s.get(key) }), {});
  }),
  quick('a value put under a read key', ['k', '<k>'], (s) => s.put(s.string('k', 'x'), 1)),
  {
    style: 'a private method with a private key',
    keys: ['?'],
    leaf: class {
      readonly #prefix = 'vip.';
      #of(name: string) {
        return `${this.#prefix}${name}`;
      }
      async doNone(service: Data): Promise<void> {
        await service.get(this.#of('level'));
      }
    },
  },
  {
    style: 'a private getter',
    keys: ['?'],
    leaf: class {
      get #key() {
        return 'a';
      }
      doNone(service: Data): void {
        service.get(this.#key);
      }
    },
  },
  {
    style: 'a static private member',
    keys: ['?'],
    leaf: class Own {
      static readonly #key: string = 'a';
      doNone(service: Data): void {
        service.get(Own.#key);
      }
    },
  },
  {
    style: 'a member that another method assigns',
    keys: ['a', '?'],
    leaf: class {
      _key = 'a';
      use(key: string): void {
        this._key = key;
      }
      doNone(service: Data): void {
        service.get(this._key);
      }
    },
  },
  {
    style: 'a fallback of a member that may be empty',
    keys: ['a', 'b'],
    leaf: class {
      on = false;
      _key = '';
      afterPropertiesSet(): void {
        if (this.on) this._key = 'a';
      }
      doNone(service: Data): void {
        service.get(this._key || 'b');
      }
    },
  },
  {
    style: 'an accessor that reads',
    keys: ['a', '?'],
    leaf: class {
      _data: Data | undefined;
      get value() {
        return this._data?.get('a');
      }
      doNone(service: Data): void {
        this._data = service;
        void this.value;
      }
    },
  },
];
