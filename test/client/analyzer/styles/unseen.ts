import type { Data } from '../../../../src/client/engine/data/data.ts';
import { quick, type Style } from './style.ts';

type Read = (service: Data) => unknown;

const LATER: { read?: Read } = {};
const LISTED = Object.assign(['a'], { first: 'b', read: (service: Data) => service.get('c') });
const HIDDEN = Symbol('hidden');
const BY_SYMBOL: Record<string | symbol, string> = { shown: 'a', [HIDDEN]: 'b' };
const INHERITED: Record<string, string> = Object.assign(Object.create({ above: 'b' }), { own: 'a' });
const NUMBERED = new Map([
  [1, 'a'],
  [Number.NaN, 'b'],
]);
const answering = new Proxy<Record<string, string>>({}, { get: () => 'b' });
const reading = new Proxy<Record<string, Read>>({}, { get: () => (service: Data) => service.get('a') });
class Holder {
  static readonly first = 'a';
  key = 'a';
  set kept(key: string) {
    this.key = key;
  }
}
class Changing {
  key = 'a';
  #change() {
    this.key = 'b';
  }
  change() {
    this.#change();
  }
}
class Turning extends Array<string> {}
const holders = [new Holder(), new Holder()] as const;
const changing = new Changing();
const turning = Turning.from(['a', 'b']);

/** Members that other code makes, changes or hides. */
export const unseenStyles: readonly Style[] = [
  quick('a method that may be put there later', ['?'], (s) => void LATER.read?.(s)),
  quick('a method of a list', ['?'], (s) => void LISTED.read(s)),
  quick('a member of a list', ['z', '?'], (s) => void s.get(LISTED.first ?? 'z')),
  quick('a method that is given to a list', ['?'], (s) => {
    const list: string[] & { read?: Read } = [];
    list.read = (service) => service.get('a');
    list.read(s);
  }),
  quick('a member under a symbol', ['?'], (s) => void s.get(BY_SYMBOL[HIDDEN] ?? '')),
  quick('names that an object inherits', ['?'], (s) => {
    for (const name in INHERITED) s.get(name);
  }),
  quick('names of a class', ['?'], (s) => {
    for (const name of Object.keys(Holder)) s.get(name);
  }),
  quick('a map by what is no number', ['a', 'b'], (s) => {
    s.get(NUMBERED.get(1) ?? '');
    s.get(NUMBERED.get(Number.NaN) ?? '');
  }),
  quick('a key of a proxy', ['z', '?'], (s) => void s.get(answering.any ?? 'z')),
  quick('a method of a proxy', ['?'], (s) => void reading.any?.(s)),
  quick('a setter of a helper', ['a', '?'], (s) => {
    holders[0].kept = 'b';
    s.get(holders[0].key);
  }),
  quick('a setter of a helper by Object.assign', ['a', '?'], (s) => {
    Object.assign(holders[1], { kept: 'b' });
    s.get(holders[1].key);
  }),
  quick('a private method of a helper that changes a member', ['a', '?'], (s) => {
    changing.change();
    s.get(changing.key);
  }),
  quick('a list of a class of its own that is turned', ['a', '?'], (s) => {
    turning.reverse();
    s.get(turning[0] ?? '');
  }),
  {
    style: 'a configured number in another notation',
    keys: ['?'],
    leaf: class {
      number = 255;
      doNone(service: Data): void {
        service.get(this.number.toString(16));
      }
    },
  },
];
