import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { onlyComputes } from '../../../src/client/code/only-computes.ts';
import type { Data } from '../../../src/client/engine/data/data.ts';

import { functionOf, leavesFor } from '../../../src/client/leaves/leaves-for.ts';

const helper = (value: number) => value > 1;

class Leaf {
  min = 1;
  cities = ['Berlin'];
  table = { a: 1 };
  store = new Map([['a', 1]]);
  later = async () => true;
  get computed(): number {
    return this.min;
  }
  compares(service: Data): boolean {
    return service.double('cost', 0) >= this.min;
  }
  converts(service: Data): boolean {
    return Number(service.get('cost')) >= Math.max(this.min, 2);
  }
  writes(service: Data): boolean {
    service.put('coupon', { amount: this.min, cities: [...this.cities] });
    return true;
  }
  decides(service: Data): boolean {
    const city = service.deep.string('user.city') ?? '';
    if (city === '' || service.ts < 5) throw `no city at ${service.ts}`;
    let found = false;
    for (const each of this.cities) found = found || each.toLowerCase() === city.trim();
    return found && this.cities.some((each) => each.startsWith(city[0] ?? ''));
  }
  isAsync = async (service: Data) => service.boolean('a', false);
  async waits(service: Data): Promise<boolean> {
    return service.boolean('a', false);
  }
  callsHelper(service: Data): boolean {
    return helper(service.int('a', 0));
  }
  callsItself(service: Data): boolean {
    return this.compares(service);
  }
  keepsTimer(): boolean {
    setTimeout(() => {}, 1);
    return true;
  }
  startsLater(): boolean {
    void this.later();
    return true;
  }
  usesForeign(): boolean {
    return this.store.has('a');
  }
  usesGetter(): boolean {
    return this.computed > 1;
  }
  givesDataAway(service: Data): boolean {
    return [service].length > 0;
  }
  listens(service: Data): boolean {
    service.signal.addEventListener('abort', () => {});
    return true;
  }
  makesPromise(): boolean {
    void new Promise(() => {});
    return true;
  }
  passesAsync(service: Data): boolean {
    return (service.list('a') ?? []).map(async () => sleep(1)).length > 0;
  }
  shadows(service: Data): boolean {
    // biome-ignore lint/suspicious/noShadowRestrictedNames: that is what is looked for.
    const Number = (value: unknown) => helper(2) && value;
    return Number(service.get('a')) === 1;
  }
  readsConstructor(service: Data): boolean {
    return 'a'.constructor(service.get('a')) === 1;
  }
}

test.each(['compares', 'converts', 'writes', 'decides'] as const)('a method that only computes: %s', (name) => {
  const leaf = new Leaf();
  expect(onlyComputes(leaf, leaf[name])).toBe(true);
});

test.each([
  ...(['isAsync', 'waits', 'callsHelper', 'callsItself', 'keepsTimer', 'startsLater', 'usesForeign'] as const),
  ...([
    'usesGetter',
    'givesDataAway',
    'listens',
    'makesPromise',
    'passesAsync',
    'shadows',
    'readsConstructor',
  ] as const),
])('a method that may do more: %s', (name) => {
  const leaf = new Leaf();
  expect(onlyComputes(leaf, leaf[name])).toBe(false);
});

test('what a field holds decides, not what it held at first', () => {
  const leaf = new Leaf();
  expect(onlyComputes(leaf, leaf.compares)).toBe(true);
  Object.assign(leaf, { min: { valueOf: () => 1 } });
  expect(onlyComputes(leaf, leaf.compares)).toBe(false);
});

test('a leaf that is made of a function is looked at in that function', () => {
  const { flow } = leavesFor();
  const Plain = flow({ min: 1 }, (service, { min }) => service.int('a', 0) >= min);
  const Whole = flow({ min: 1 }, (service, fields) => service.int('a', 0) >= fields.min);
  const Helped = flow({ min: 1 }, (service, { min }) => helper(service.int('a', 0) - min));
  const found = [Plain, Whole, Helped].map((made) => {
    const leaf = new made();
    return onlyComputes(leaf, functionOf(leaf.doFlow));
  });
  expect(found).toEqual([true, true, false]);
});
