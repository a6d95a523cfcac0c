import { describe, expect, test } from 'vitest';
import { Data } from '../../../src/client/engine/data/data.ts';
import { createStore } from '../../../src/client/engine/data/keys.ts';
import { stringifyExact } from '../../../src/shared/contract/json/raw-number.ts';
import { objectOf } from '../../../src/shared/rules/members.ts';

function dataOf(text: string) {
  const root = objectOf(text);
  const abort = new AbortController();
  const service = new Data({ store: createStore(root), ts: 5, signal: () => abort.signal }, null);
  return { service, text: () => stringifyExact(root) };
}

describe('numbers', () => {
  const numbers =
    '{"small":1,"big":9007199254740993,"huge":123456789012345678901234567890,"cents":0.10,"one":1.0,"exp":1e21,"over":1e400,"zero":-0}';

  test('come to leaf code as the number they are, bigint beyond 2^53', () => {
    const { service } = dataOf(numbers);
    expect(service.keys().map((key) => service.get(key))).toEqual([
      1,
      9007199254740993n,
      123456789012345678901234567890n,
      0.1,
      1,
      1e21,
      Number.POSITIVE_INFINITY,
      -0,
    ]);
  });

  test('keep their spelling when nobody writes them', () => {
    const { service, text } = dataOf(numbers);
    service.put('more', true);
    expect(text()).toBe(`${numbers.slice(0, -1)},"more":true}`);
  });

  test('keep their spelling in a list or an object that is put elsewhere', () => {
    const { service, text } = dataOf('{"a":{"price":0.10,"items":[1.0,{"n":1e400}]}}');
    const a = service.map('a');
    service.put('b', a);
    service.put('c', { items: a?.items, price: 0.1 });
    expect(text()).toBe(
      '{"a":{"price":0.10,"items":[1.0,{"n":1e400}]},"b":{"price":0.10,"items":[1.0,{"n":1e400}]},"c":{"items":[1.0,{"n":1e400}],"price":0.1}}',
    );
  });

  test('that leaf code changed are written as it has them', () => {
    const { service, text } = dataOf('{"a":{"price":0.10,"n":1.0}}');
    const a = service.map('a');
    if (a) a.price = 0.2;
    service.put('a', a);
    expect(text()).toBe('{"a":{"price":0.2,"n":1.0}}');
  });

  test('are copied to the letter with raw', () => {
    const { service, text } = dataOf('{"a":0.12345678901234567890}');
    service.put('b', service.raw('a'));
    expect(text()).toBe('{"a":0.12345678901234567890,"b":0.12345678901234567890}');
  });

  test('of leaf code are written as JSON has them', () => {
    const { service, text } = dataOf('{}');
    service.put('a', [1, 1.5, -0, 1e21, 12n, 9007199254740993n]);
    expect(text()).toBe('{"a":[1,1.5,-0,1e+21,12,9007199254740993]}');
  });
});

describe('typed readers', () => {
  const { service } = dataOf(
    '{"uid":9007199254740993,"five":5.0,"half":0.5,"name":"x","yes":false,"list":[1],"map":{"a":1},"none":null}',
  );

  test('give each type as it is', () => {
    expect(service.long('uid')).toBe(9007199254740993n);
    expect(service.long('five')).toBe(5n);
    expect(service.int('five')).toBe(5);
    expect(service.double('half')).toBe(0.5);
    expect(service.string('name')).toBe('x');
    expect(service.boolean('yes')).toBe(false);
    expect(service.list('list')).toEqual([1]);
    expect(service.map('map')).toEqual({ a: 1 });
  });

  test('give undefined or the fallback for what is absent or null', () => {
    for (const key of ['missing', 'none']) {
      expect(service.long(key)).toBeUndefined();
      expect(service.long(key, 7n)).toBe(7n);
      expect(service.int(key, 7)).toBe(7);
      expect(service.double(key, 7.5)).toBe(7.5);
      expect(service.string(key, 'y')).toBe('y');
      expect(service.boolean(key, true)).toBe(true);
      expect(service.list(key, [])).toEqual([]);
      expect(service.map(key, {})).toEqual({});
    }
  });

  test('throw for another type and name the key', () => {
    expect(() => service.long('name')).toThrow('"name" holds a string where an integer is wanted');
    expect(() => service.long('half')).toThrow('"half" holds a number where an integer is wanted');
    expect(() => service.int('uid')).toThrow('"uid" holds an integer beyond 2^53: read it as a long');
    expect(() => service.double('yes')).toThrow('"yes" holds a boolean where a number is wanted');
    expect(() => service.string('uid')).toThrow('"uid" holds a number where a string is wanted');
    expect(() => service.boolean('map')).toThrow('"map" holds an object where true or false is wanted');
    expect(() => service.list('map')).toThrow('"map" holds an object where a list is wanted');
    expect(() => service.map('list')).toThrow('"list" holds a list where an object is wanted');
  });
});

describe('dotted keys', () => {
  test('are followed by the deep methods only', () => {
    const { service } = dataOf('{"vip":{"level":2},"vip.level":5,"items":[{"n":1},{"n":2}]}');
    expect(service.get('vip.level')).toBe(5);
    expect(service.getDeep('vip.level')).toBe(2);
    expect(service.deep.long('items.1.n')).toBe(2n);
    expect(service.getDeep('items.7.n')).toBeUndefined();
    expect(service.getDeep('items.-1.n')).toBeUndefined();
    expect(service.getDeep('vip.level.deeper')).toBeUndefined();
  });

  test('make the objects on their way and reach into lists', () => {
    const { service, text } = dataOf('{"items":[{"n":1}],"flag":true}');
    service.putDeep('a.b.c', 1);
    service.putDeep('items.0.n', 2);
    service.putDeep('flag.x', 3);
    service.putDeep('top', 4);
    service.putDeep('items.3.n', 1);
    expect(text()).toBe('{"items":[{"n":2}],"flag":true,"a":{"b":{"c":1}},"top":4}');
  });

  test('never reach what objects inherit', () => {
    const { service, text } = dataOf('{"__proto__":{"a":1}}');
    expect(service.getDeep('__proto__.a')).toBe(1);
    expect(service.get('constructor')).toBeUndefined();
    service.putDeep('__proto__.polluted', true);
    service.putDeep('x.__proto__.polluted', true);
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
    expect(text()).toBe('{"__proto__":{"a":1,"polluted":true},"x":{"__proto__":{"polluted":true}}}');
  });
});

describe('put', () => {
  test('keeps a copy: what leaf code does to it later does not count', () => {
    const { service, text } = dataOf('{}');
    const list = [1];
    service.put('list', list);
    list.push(2);
    service.list('list')?.push(3);
    expect(text()).toBe('{"list":[1]}');
  });

  test('of undefined removes the key', () => {
    const { service, text } = dataOf('{"a":1,"b":{"c":1,"d":2}}');
    service.put('a', undefined);
    service.putDeep('b.c', undefined);
    expect(text()).toBe('{"b":{"d":2}}');
  });

  test('takes what JSON.stringify would take', () => {
    const { service, text } = dataOf('{}');
    class Money {
      amount = 5;
    }
    service.put('a', { date: new Date(0), gone: undefined, money: new Money(), holes: [undefined] });
    expect(text()).toBe('{"a":{"date":"1970-01-01T00:00:00.000Z","money":{"amount":5},"holes":[null]}}');
  });

  const circle: Record<string, unknown> = {};
  circle.circle = circle;
  test.each([
    ['NaN', Number.NaN, 'JSON cannot hold NaN (x)'],
    ['Infinity', { a: [Number.POSITIVE_INFINITY] }, 'JSON cannot hold Infinity (x.a[0])'],
    ['a function', { a: () => 1 }, 'JSON cannot hold a function (x.a)'],
    ['a symbol', Symbol('s'), 'JSON cannot hold a symbol (x)'],
    ['a Map', new Map(), 'JSON cannot hold a Map (x)'],
    ['a promise', Promise.resolve(1), 'JSON cannot hold a Promise (is an await missing?) (x)'],
    ['a circle', circle, 'JSON cannot hold more than 198 levels, or a circle,'],
  ])('refuses %s and says where it stands', (_title, value, message) => {
    const { service, text } = dataOf('{"x":1}');
    expect(() => service.put('x', value)).toThrow(message);
    expect(text()).toBe('{"x":1}');
  });
});

test('resolve follows @ from key to key and takes anything else as it is', () => {
  const { service } = dataOf('{"a":"@b.c","b":{"c":7},"loop":"@loop"}');
  expect([service.resolve('@b.c'), service.resolve('@a'), service.resolve('text'), service.resolve(3)]).toEqual([
    7,
    7,
    'text',
    3,
  ]);
  expect(() => service.resolve('@loop')).toThrow('"@loop" leads from key to key without an end');
});
