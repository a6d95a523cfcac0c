import type { Data } from '../../../../src/client/engine/data/data.ts';
import { quick, type Style } from './style.ts';

const KEYS = { cost: 'order.cost', country: 'order.country', items: 'order.items', vip: 'user.vip' } as const;
const LIMITS: Readonly<Record<string, number>> = { gold: 100, silver: 50 };
const REQUIRED = ['uid', 'country', 'currency'] as const;
const RULES = [
  { key: 'age', passes: (value: unknown) => Number(value) >= 18 },
  { key: 'income', passes: (value: unknown) => Number(value) > 1000 },
];
const RATES = new Map([
  ['EUR', 'rates.eur'],
  ['USD', 'rates.usd'],
]);
const BLOCKED = new Set(['KP', 'IR']);
const readers: Record<string, (service: Data, key: string) => unknown> = {
  text: (service, key) => service.string(key),
  number: (service, key) => service.double(key),
};
const Tier = Object.freeze({ Gold: 'tier.gold', Silver: 'tier.silver' });
const numberOf = (value: unknown, fallback = 0): number => (typeof value === 'number' ? value : fallback);
const isBlank = (text: string | null | undefined): boolean => text == null || text.trim() === '';
const asList = (value: unknown): unknown[] => (Array.isArray(value) ? value : value == null ? [] : [value]);
const userKey = (name: string): string => `user.${name}`;
const pick = (service: Data, ...keys: string[]) => Object.fromEntries(keys.map((key) => [key, service.get(key)]));
const total = (service: Data): number => service.double('price', 0) * service.int('quantity', 1);
const discounted = (service: Data): number => total(service) * (1 - service.double('discount', 0));
const contextOf = (service: Data) => ({ service, uid: service.string('uid'), country: service.string('country') });
const requireAll = (service: Data, keys: readonly string[]): boolean => keys.every((key) => service.get(key) != null);
const firstOf = (service: Data, keys: readonly string[]): unknown => {
  for (const key of keys) {
    const value = service.get(key);
    if (value != null) return value;
  }
  return undefined;
};
function withRetry<T>(work: () => T, times = 2): T | undefined {
  for (let attempt = 0; attempt < times; attempt++) {
    try {
      return work();
    } catch (error) {
      console.debug(error);
    }
  }
  return undefined;
}
async function fetchRisk(uid: string): Promise<{ score: number }> {
  await Promise.resolve();
  return { score: uid.length };
}
let calls = 0;
const cache: Record<string, unknown> = {};
const cached = (key: string, make: () => unknown): unknown => {
  cache[key] ??= make();
  return cache[key];
};
const log = { debug: (...given: unknown[]) => console.debug(...given), prefix: 'rule' };
class Money {
  static of(service: Data, key: string): Money {
    return new Money(service.double(key, 0));
  }
  readonly cents: number;
  constructor(amount: number) {
    this.cents = Math.round(amount * 100);
  }
}
class Customer {
  readonly #service: Data;
  constructor(service: Data) {
    this.#service = service;
  }
  get isVip(): boolean {
    return this.#service.boolean('vip', false);
  }
}
abstract class Check {
  readonly scope: string = 'base';
  abstract keyOf(): string;
  protected read(service: Data): number {
    return service.double(`${this.prefix()}.${this.keyOf()}`, 0);
  }
  protected prefix(): string {
    return 'check';
  }
  doFlow(service: Data): boolean {
    return this.read(service) > 0;
  }
}

/** Leaves as the teams that write rules write them: helpers, constants, defaults, several keys at once. */
export const teamStyles: readonly Style[] = [
  quick('a sum over keys of a table', ['order.cost', 'order.country'], (s) => {
    const { cost, country } = KEYS;
    console.debug(s.double(cost, 0), s.string(country));
  }),
  quick('a guard that returns early', ['uid', 'country'], (s) => {
    const uid = s.string('uid');
    if (!uid) return;
    if (isBlank(s.string('country'))) return;
    console.debug(uid);
  }),
  quick('a helper that calls a helper', ['price', 'quantity', 'discount', 'net'], (s) => s.put('net', discounted(s))),
  quick('several keys picked at once', ['a', 'b'], (s) => console.debug(pick(s, 'a', 'b'))),
  quick('required keys', ['uid', 'country', 'currency'], (s) => console.debug(requireAll(s, REQUIRED))),
  quick('the first key that is there', ['mobile', 'phone'], (s) => console.debug(firstOf(s, ['mobile', 'phone']))),
  quick('rules in a table', ['age', 'income'], (s) =>
    console.debug(RULES.every(({ key, passes }) => passes(s.get(key)))),
  ),
  quick('a key by an enum', ['tier.gold', 'tier.silver'], (s) => console.debug(s.get(Tier.Gold) ?? s.get(Tier.Silver))),
  quick('every value of an enum', ['tier.gold', 'tier.silver'], (s) => {
    for (const key of Object.values(Tier)) s.get(key);
  }),
  quick('a map looked up by what is read', ['currency', 'rates.eur', 'rates.usd'], (s) => {
    const key = RATES.get(s.string('currency', 'EUR'));
    if (key) s.double(key);
  }),
  quick('a map looked up with a default', ['currency', 'rates.eur', 'rates.usd', 'rates.other'], (s) => {
    s.double(RATES.get(s.string('currency', '')) ?? 'rates.other');
  }),
  quick('a set that decides', ['country', 'blocked'], (s) => s.put('blocked', BLOCKED.has(s.string('country', '')))),
  quick('limits by level', ['level', 'amount'], (s) => {
    const limit = LIMITS[s.string('level', '')] ?? 0;
    console.debug(s.double('amount', 0) > limit);
  }),
  quick('a reader chosen by a name', ['a', 'b'], (s) => {
    readers.text?.(s, 'a');
    readers.number?.(s, 'b');
  }),
  quick('a reader chosen while it runs', ['kind', 'value'], (s) => {
    const read = readers[s.string('kind', 'text')];
    console.debug(read?.(s, 'value'));
  }),
  quick('a user key made by a helper', ['user.age', 'user.city'], (s) => {
    s.getDeep(userKey('age'));
    s.getDeep(userKey('city'));
  }),
  quick('a context that is handed on', ['uid', 'country', 'amount'], (s) => {
    const context = contextOf(s);
    const check = ({ service, uid, country }: ReturnType<typeof contextOf>) =>
      uid !== country && service.double('amount', 0) > 0;
    console.debug(check(context));
  }),
  quick('a context with more members', ['uid', 'country', 'late'], (s) => {
    const context = { ...contextOf(s), now: s.ts };
    console.debug(context.uid, context.service.get('late'));
  }),
  quick('a retry around a read', ['a'], (s) => console.debug(withRetry(() => s.get('a'), 3))),
  quick('a value that is cached', ['rate'], (s) => console.debug(cached('rate', () => s.double('rate')))),
  quick('a counter of the module', ['a'], (s) => {
    calls += 1;
    console.debug(calls, s.get('a'));
  }),
  quick('a log of what is read', ['a'], (s) => log.debug(log.prefix, s.get('a'))),
  quick('numbers with a fallback', ['cost', 'tax', 'sum'], (s) =>
    s.put('sum', numberOf(s.get('cost')) + numberOf(s.get('tax'), 1)),
  ),
  quick('items of a read list', ['items', 'count'], (s) => {
    const items = asList(s.get('items'));
    s.put('count', items.filter((item) => item != null).length);
  }),
  quick('a sum over a read list', ['items', 'total'], (s) => {
    let sum = 0;
    for (const item of s.list('items') ?? []) sum += Number(item);
    s.put('total', sum);
  }),
  quick('a reduce over a read list', ['prices', 'total'], (s) => {
    s.put(
      'total',
      s.list('prices', []).reduce<number>((sum, price) => sum + Number(price), 0),
    );
  }),
  quick('members of a read map', ['address'], (s) => {
    const { city = '', zip } = s.map('address') ?? {};
    console.debug(city, zip);
  }),
  quick('a key by position in a read list', ['names', '?'], (s) => {
    const [first] = s.list('names', []);
    s.get(String(first));
  }),
  quick('a key from a member that is read', ['config', '?'], (s) => {
    const { key } = s.map('config', {});
    s.get(String(key));
  }),
  quick('a template with two levels', ['limits.eu.high'], (s) => {
    const region = 'eu';
    const level = 'high';
    s.getDeep(`limits.${region}.${level}`);
  }),
  quick('a template with a choice', ['limits.eu', 'limits.us'], (s) => {
    const region = s.ts > 0 ? 'eu' : 'us';
    s.getDeep(`limits.${region}`);
  }),
  quick(
    'a template with a read value',
    ['region', 'limits.<region>'],
    (s) => void s.getDeep(`limits.${s.string('region')}`),
  ),
  quick('keys of months', ['m.1', 'm.2', 'm.3'], (s) => [1, 2, 3].forEach((month) => void s.get(`m.${month}`))),
  quick('a counting loop in a key', ['m.1', 'm.?', '?'], (s) => {
    for (let month = 1; month <= 3; month++) s.get(`m.${month}`);
  }),
  quick('a while loop over parents', ['node', '<node>', '?'], (s) => {
    let key: string | undefined = 'node';
    while (key) key = s.string(key);
  }),
  quick('a list that is built with conditions', ['base', 'extra'], (s) => {
    const keys = ['base', ...(s.ts > 0 ? ['extra'] : [])];
    for (const key of keys) s.get(key);
  }),
  quick('a list that is filtered of nothing', ['a', 'b'], (s) => {
    const keys = ['a', s.ts > 0 ? 'b' : undefined].filter((key) => key !== undefined);
    for (const key of keys) s.get(key);
  }),
  quick('a list with a boolean filter', ['a', 'b', '?'], (s) => {
    for (const key of ['a', s.ts > 0 && 'b'].filter(Boolean)) s.get(String(key));
  }),
  quick('an async lookup', ['uid', 'risk'], async (s) => {
    const { score } = await fetchRisk(s.string('uid', ''));
    s.put('risk', score);
  }),
  quick('two lookups side by side', ['uid', 'partner', 'sum'], async (s) => {
    const [mine, theirs] = await Promise.all([fetchRisk(s.string('uid', '')), fetchRisk(s.string('partner', ''))]);
    s.put('sum', mine.score + theirs.score);
  }),
  quick('a lookup with then and catch', ['uid', 'risk', 'failed'], (s) =>
    fetchRisk(s.string('uid', ''))
      .then(({ score }) => s.put('risk', score))
      .catch(() => s.put('failed', true)),
  ),
  quick('a lookup that is tried', ['uid', 'risk', 'failed'], async (s) => {
    try {
      s.put('risk', (await fetchRisk(s.string('uid', ''))).score);
    } catch (error) {
      s.put('failed', String(error));
    } finally {
      console.debug(s.ts);
    }
  }),
  quick('a key out of a lookup', ['uid', 'risk.?', '?'], async (s) => {
    const { score } = await fetchRisk(s.string('uid', ''));
    s.get(`risk.${score}`);
  }),
  quick('a reader with its key given at once', ['a', 'b'], (s) => {
    const reader =
      (key: string, fallback = 0) =>
      () =>
        s.double(key, fallback);
    const [one, two] = [reader('a'), reader('b', 1)];
    console.debug(one() + two());
  }),
  quick('a value object made by a static method', ['cost', 'cents'], (s) => {
    const { cents } = Money.of(s, 'cost');
    s.put('cents', cents);
  }),
  quick('a wrapper around the data', ['?'], (s) => console.debug(new Customer(s).isVip)),
  quick('writes of a table', ['out.a', 'out.b'], (s) => {
    for (const [key, value] of Object.entries({ a: 1, b: 2 })) s.putDeep(`out.${key}`, value);
  }),
  quick('a switch over a kind', ['kind', 'card', 'iban'], (s) => {
    switch (s.string('kind')) {
      case 'card':
        return void s.get('card');
      case 'bank':
        return void s.get('iban');
      default:
        return;
    }
  }),
  quick('a key made of a switch in a function', ['kind', 'card', 'iban', 'cash'], (s) => {
    const keyOf = (kind: string): string => {
      switch (kind) {
        case 'card':
          return 'card';
        case 'bank':
          return 'iban';
        default:
          return 'cash';
      }
    };
    s.get(keyOf(s.string('kind', '')));
  }),
  quick('a function declared below', ['a'], (s) => {
    return read({ key: 'a' });
    function read({ key }: { key: string }): void {
      s.get(key);
    }
  }),
  quick('data destructured with an alias', ['b.c', '?'], ({ deep: nested, ...others }) => {
    nested.get('b.c');
    void others;
  }),
  quick('a sorted list by what is read', ['w.x', 'w.y', 'x', 'y'], (s) => {
    const names = ['x', 'y'];
    const [best = ''] = names.toSorted((one, two) => s.double(`w.${one}`, 0) - s.double(`w.${two}`, 0));
    s.get(best);
  }),
  quick('keys in lower case', ['vip'], (s) => void s.get('VIP'.toLowerCase())),
  quick('a for in over a table of keys', ['cost', 'country', 'items', 'vip'], (s) => {
    for (const name in KEYS) s.get(name);
  }),
  {
    style: 'a configured key with a default',
    keys: ['{key}', 'fallback'],
    leaf: class {
      key = '';
      doFlow(service: Data): boolean {
        return service.double(this.key || 'fallback', 0) > 0;
      }
    },
  },
  {
    style: 'a configured prefix and a list of names',
    keys: ['{prefix}.a', '{prefix}.b'],
    leaf: class {
      prefix = 'p';
      readonly _names = ['a', 'b'];
      doNone(service: Data): void {
        for (const name of this._names) service.getDeep(`${this.prefix}.${name}`);
      }
    },
  },
  {
    style: 'a private getter over two fields',
    keys: ['{scope}.{name}'],
    leaf: class {
      scope = 's';
      name = 'n';
      private get path(): string {
        return [this.scope, this.name].join('.');
      }
      doNone(service: Data): void {
        service.getDeep(this.path);
      }
    },
  },
  {
    style: 'a check with an abstract key',
    keys: ['check.limit'],
    leaf: class extends Check {
      override keyOf(): string {
        return 'limit';
      }
    },
  },
  {
    style: 'a check with an overridden prefix',
    keys: ['?.own.limit', '?'],
    leaf: class extends Check {
      override keyOf(): string {
        return 'limit';
      }
      override prefix(): string {
        return `${super.prefix()}.own`;
      }
    },
  },
  {
    style: 'members that hand the data on',
    keys: ['amount', 'limit', 'over'],
    leaf: class {
      async doResult(service: Data): Promise<boolean> {
        const over = this.over(service);
        await this.save(service, { over });
        return over;
      }
      private over(service: Data): boolean {
        return service.double('amount', 0) > service.double('limit', Infinity);
      }
      private async save(service: Data, values: Record<string, unknown>): Promise<void> {
        for (const [key, value] of Object.entries(values)) service.put(key, value);
      }
    },
  },
  {
    style: 'an arrow in a field that reads a field',
    keys: ['{key}'],
    leaf: class {
      key = 'k';
      readonly _read = (service: Data): unknown => service.get(this.key);
      doNone(service: Data): void {
        this._read(service);
      }
    },
  },
  {
    style: 'a forEach over a map by its names',
    keys: ['EUR', 'USD'],
    leaf: class {
      doNone(service: Data): void {
        RATES.forEach((_key, currency) => void service.get(currency));
      }
    },
  },
  {
    style: 'a forEach over a set by its second value',
    keys: ['KP', 'IR'],
    leaf: class {
      doNone(service: Data): void {
        BLOCKED.forEach((_country, same) => void service.get(same));
      }
    },
  },
  {
    style: 'a configured object that is changed',
    keys: ['{config.key}', '?'],
    leaf: class {
      config = { key: 'a' };
      doNone(service: Data): void {
        this.config.key = 'b';
        service.get(this.config.key);
      }
    },
  },
  {
    style: 'an error handler that reads',
    keys: ['a', 'retries'],
    leaf: class {
      doFlow(service: Data): boolean {
        return service.boolean('a', false);
      }
      errorHandle(service: Data, _error: unknown): 'TRUE' | 'FALSE' {
        return service.int('retries', 0) > 0 ? 'TRUE' : 'FALSE';
      }
    },
  },
];
