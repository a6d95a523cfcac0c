import type { Data } from '../../../../src/client/engine/data/data.ts';
import { quick, type Style } from './style.ts';

const same = (service: Data) => service;
const later = async (service: Data) => service;
const load = async () => 1;
const readCost = (service: Data) => service.get('cost');
/** Calls work until it succeeds. */
async function retry<T>(work: () => T | Promise<T>): Promise<T> {
  for (let tries = 0; tries < 2; tries++) {
    try {
      return await work();
    } catch {}
  }
  return work();
}
/** Keeps what it is given, and calls it some other time. */
const queue: (() => unknown)[] = [];
const elsewhere: { read?: (key: string) => unknown } = {};
const enqueue = (work: () => unknown) => {
  queue.push(work);
  return Promise.resolve().then(() => queue.pop()?.());
};

/** Ways of the data through promises, and through functions that are bound with what they are given. */
export const journeyStyles: readonly Style[] = [
  quick(
    'the data returned to a then',
    ['a'],
    (s) =>
      void load()
        .then(() => s)
        .then((d) => d.get('a')),
  ),
  quick('an async function that returns the data', ['a'], (s) => void later(s).then((d) => d.get('a'))),
  quick('an async function that is awaited', ['a'], async (s) => void (await later(s)).get('a')),
  quick('the data through a retry', ['a'], (s) => void retry(() => s).then((d) => d.get('a'))),
  quick(
    'the data returned by a catch',
    ['a'],
    (s) =>
      void Promise.reject(new Error('no'))
        .catch(() => s)
        .then((d) => d.get('a')),
  ),
  quick(
    'the data past a finally',
    ['a'],
    (s) =>
      void Promise.resolve(s)
        .finally(() => 1)
        .then((d) => d.get('a')),
  ),
  quick('the data in a list of promises', ['a'], (s) => void Promise.all([s, load()]).then(([d]) => d.get('a'))),
  quick('the data out of a race', ['?'], (s) => void Promise.race([later(s)]).then((d) => d.get('a'))),
  quick('the data to a function of the module', ['cost'], (s) => void Promise.resolve(s).then(readCost)),
  quick('the data in a list to a function of the module', ['cost'], (s) => void [s].map(readCost)),
  quick('the data out of a list that is mapped', ['a'], (s) => void [s].map(same)[0]?.get('a')),
  quick(
    'the data given back by a function that is kept',
    ['a', '?'],
    (s) => void enqueue(() => s).then((d) => (d instanceof Object && 'get' in d ? (d as Data).get('a') : 0)),
  ),
  quick(
    'the data out of a timer that is a promise',
    ['?'],
    (s) => void new Promise<Data>((resolve) => setTimeout(() => resolve(s), 0)).then((d) => d.get('a')),
  ),
  quick('a reader bound with its key', ['?'], (s) => void s.get.bind(s, 'a')()),
  quick('a reader bound with its key and a name', ['?'], (s) => {
    const read = s.get.bind(s, 'a');
    read();
  }),
  quick('a writer bound with its key', ['?'], (s) => {
    const write = s.put.bind(s, 'a');
    write(1);
  }),
  quick('bound readers in a list', ['?'], (s) => void [s.get.bind(s, 'a')].map((read) => read())),
  quick('a bound reader to a list', ['a', 'b'], (s) => void ['a', 'b'].map(s.get.bind(s))),
  quick('the data assigned on the way into a call', ['?'], (s) => {
    let kept: Data | undefined;
    // biome-ignore lint/suspicious/noAssignInExpressions: as minifiers write it.
    Reflect.apply(same, undefined, [(kept = s)]).get('a');
    void kept;
  }),
  quick('the data reduced', ['?'], (s) => void [1].reduce((d) => d, s).get('a')),
  quick('the data returned by a generator', ['?'], (s) => {
    function* give() {
      yield 1;
      return s;
    }
    const steps = give();
    steps.next();
    const { value } = steps.next();
    if (typeof value === 'object') value.get('a');
  }),
  quick('a reader that is kept elsewhere after it was used', ['a', 'b', '?'], (s) => {
    const read = (key: string) => s.get(key);
    read('a');
    elsewhere.read = read;
    elsewhere.read('b');
  }),
  quick(
    'the data to a then of two functions',
    ['a', 'b'],
    (s) =>
      void (s.ts > 0 ? Promise.resolve(s) : Promise.reject(new Error('no'))).then(
        (d) => d.get('a'),
        () => s.get('b'),
      ),
  ),
  quick('the data out of a generator', ['?'], (s) => {
    function* give() {
      yield s;
    }
    for (const d of give()) d.get('a');
  }),
  quick('the data swapped', ['a'], (s) => {
    let [one, other]: [unknown, unknown] = [1, s];
    [one, other] = [other, one];
    if (one instanceof Object && 'get' in one) (one as Data).get('a');
  }),
];
