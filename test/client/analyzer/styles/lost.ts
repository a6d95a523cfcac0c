import { AsyncLocalStorage } from 'node:async_hooks';
import type { Data } from '../../../../src/client/engine/data/data.ts';
import { quick, type Style } from './style.ts';

const NAMES = ['a', 'b'];
const TABLE: Record<string, unknown> = {};
const storage = new AsyncLocalStorage<Data>();
const outside = ((service: Data, key: string) => service.get(key)).bind(null);
const tag = (_texts: TemplateStringsArray, service: Data) => service.get('a');
let current: Data | undefined;
const readCurrent = () => current?.get('a');
const Checks = Object.assign(() => null, { apply: (service: Data) => service.get('a') });
class Checking {
  catch(service: Data): unknown {
    return service.get('b');
  }
}
class CatchingLeaf extends Checking {
  doNone(service: Data): void {
    this.catch(service);
  }
}
class Wrapper {
  readonly service: Data;
  constructor(service: Data) {
    this.service = service;
  }
  get(key: string) {
    return this.service.get(key);
  }
}

/** Ways on which the data goes out of sight. */
export const lostStyles: readonly Style[] = [
  quick('a wrapper class', ['?'], (s) => void new Wrapper(s).get('a')),
  quick('the data kept in an object of the module', ['?'], (s) => void Object.assign(TABLE, { s })),
  quick('the data in a promise', ['a'], (s) => void Promise.resolve(s).then((same) => same.get('a'))),
  quick('the data in a map', ['?'], (s) => void new Map([['s', s]]).get('s')?.get('a')),
  quick('a method looked up by a name from outside', ['?'], (s) => {
    const method = s.ts > 0 ? 'get' : 'raw';
    const way: unknown = Reflect.get(s, method);
    void way;
  }),
  quick('a key made up', ['?'], (s) => void s.get(String(s.ts))),
  quick('the data kept in a name of the module', ['?'], (s) => {
    current = s;
    readCurrent();
  }),
  quick('the data in a proxy', ['?'], (s) => void new Proxy(s, {}).get('a')),
  quick('the data found in a list', ['a'], (s) => {
    const all = [s];
    all.find(() => true)?.get('a');
  }),
  quick('the data in a tag', ['?'], (s) => void tag`${s}a`),
  quick('the data through a store', ['?'], (s) => void storage.run(s, () => storage.getStore()?.get('a'))),
  quick('the data given to what nobody can read', ['?'], (s) => void outside(s, 'a')),
  quick('a reader given away', ['a', 'b'], (s) => void NAMES.map(s.get, s)),
  quick('a reader in an object', ['?'], (s) => {
    const readers = [s.get.bind(s)];
    for (const get of readers) Reflect.apply(get, undefined, ['a']);
  }),
  quick('the data as what a function is bound to', ['?'], (s) => {
    function read(this: Data) {
      return this.get('a');
    }
    read.bind(s)();
  }),
  quick('the data in the parameters a function is bound to', ['?'], (s) => {
    const given: [Data?] = [];
    given.push(s);
    const read = (from?: Data) => from?.get('a');
    read.bind(null, ...given)();
  }),
  quick('the data past a handler that is left out', ['a'], (s) =>
    Promise.resolve(s)
      .then(undefined, console.debug)
      .then((same) => same?.get('a')),
  ),
  quick('the data given to what may be a promise', ['?'], (s) => void new Checking().catch(s)),
  quick('the data given to a member called apply', ['a'], (s) => void Checks.apply(s)),
  { style: 'the data given to a method called catch', keys: ['b'], leaf: CatchingLeaf },
  quick('the data as a default', ['a'], (s) => {
    const of = (key: string, from = s) => from.get(key);
    of('a');
  }),
];
