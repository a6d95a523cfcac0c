import { describe, expect, test } from 'vitest';
import { leafNodesOf } from '../../../src/client/analyzer/leaf-nodes.ts';
import type { Data } from '../../../src/client/engine/data/data.ts';
import type { LeafClass, LeafDefinition } from '../../../src/client/leaves/leaf.ts';
import { createRegistry } from '../../../src/client/leaves/registry.ts';
import { sampleLeaves } from '../support/sample-leaves.ts';
import { analyzed, textOf } from './found.ts';
import * as helpers from './helpers.ts';
import { KEYS, listed, PREFIX, spentOf } from './helpers.ts';

const LOCAL = 'local';
const GET = 'get';
const CITY = 'city';

/** The keys of a leaf, one line each: direction, method, key, type; `?` where there may be more. */
function keysOf(leaf: LeafClass | LeafDefinition): string[] {
  const { keys, isIncomplete } = analyzed(leaf);
  const lines = keys.map(({ direction, accessMode, accessMethod, keyParts, valueType }) => {
    const union = accessMode === 'union' ? 'union ' : '';
    const key = keyParts.map((part) => textOf(part, '+')).join('|');
    return `${direction} ${union}${accessMethod} ${key}${valueType ? ` ${valueType}` : ''}`;
  });
  return [...lines, ...(isIncomplete ? ['?'] : [])];
}

describe('keys are found', () => {
  test('as every method reads and writes them, with the type it has', () => {
    class Leaf {
      async doNone(service: Data): Promise<void> {
        service.long('a');
        service.int('b', 1);
        service.double('c');
        service.string('d');
        service.boolean('e');
        service.list('f');
        service.map('g');
        service.get('h');
        service.raw('i');
        service.getDeep('j.k');
        service.deep.long('l.m');
        service.resolve('@n.o');
        service.put('p', 1);
        service.putDeep('q.r', 'x');
        service.deep.put('s.t', [1]);
        service?.get('u');
        service[GET]('v');
        await Promise.all([service.get('w')]);
      }
    }
    expect(keysOf(Leaf)).toEqual([
      ...['read get a Long', 'read get b Integer', 'read get c Double', 'read get d String', 'read get e Boolean'],
      ...['read get f List', 'read get g Map', 'read get h', 'read get i', 'read getDeep j.k', 'read getDeep l.m Long'],
      ...['read union get @n.o', 'write put p Double', 'write putDeep q.r String', 'write putDeep s.t List'],
      ...['read get u', 'read get v', 'read get w'],
    ]);
  });

  test('literal, composed, configured and derived', () => {
    class Leaf {
      key = 'k';
      _fixed = 'fixed';
      _prefix = 'vip.';
      keyOf(name: string): string {
        return this._prefix + name;
      }
      doNone(service: Data): void {
        service.get(this.key);
        service.get(this._fixed);
        service.get(`pre_${this.key}`);
        service.get(this.key + LOCAL);
        service.get(this.keyOf('level'));
        service.get([this.key, 'x'].join('.'));
        const which = service.string('which');
        if (which) service.get(which);
        const other = service.get(this.key);
        service.get(`${other}.x`);
        service.get(String(this.key).trim());
        service.get(Math.random().toString());
      }
    }
    expect(keysOf(Leaf)).toEqual([
      'read get {key}',
      'read get fixed',
      'read get pre_+{key}',
      'read get {key}+local',
      'read get vip.level',
      'read get {key}+.x',
      'read get which String',
      'read get <which>',
      `read get <$\{key}>+.x`,
      '?',
    ]);
  });

  test('by names and constants of other modules', () => {
    class Leaf {
      doNone(service: Data): void {
        service.get(LOCAL);
        service.get(KEYS.level);
        service.get(helpers.KEYS[CITY]);
        service.get(PREFIX.concat('x'));
        service.get(`${helpers.PREFIX}y`);
        for (const key of listed) service.get(key);
      }
    }
    expect(keysOf(Leaf)).toEqual([
      ...['read get local', 'read get level', 'read get city', 'read get user.x', 'read get user.y'],
      ...['read get first', 'read get second'],
    ]);
  });

  test('each once, with what is done to it', () => {
    class Leaf {
      doNone(service: Data): void {
        service.put('count', service.int('count', 0) + 1);
        service.get('count');
        service.getDeep('count');
        service.put('only written', 1);
        service.get('dotted.key');
        service.getDeep('dotted.key');
      }
    }
    expect(keysOf(Leaf)).toEqual([
      ...['read_write get count Integer', 'write put only written Double'],
      ...['read get dotted.key', 'read getDeep dotted.key'],
    ]);
  });
});

describe('the type of a value is told by its use', () => {
  test.each<[string, (service: Data) => unknown, string | undefined]>([
    ['compared to a number', (service) => Number(service.get('k')) + (service.get('k') === 3 ? 1 : 0), 'Double'],
    ['compared to a text', (service) => service.get('k') === 'x', 'String'],
    ['compared to a bigint', (service) => service.get('k') === 5n, 'Long'],
    ['with a default', (service) => service.get('k') ?? [], 'List'],
    ['that calls a method of texts', (service) => (service.raw('k') ?? '').toString(), 'String'],
    ['checked with typeof', (service) => typeof service.get('k') === 'number', 'Double'],
    ['checked to be a list', (service) => Array.isArray(service.get('k')), 'List'],
    ['made a bigint', (service) => BigInt(String(service.get('k'))), 'Long'],
    ['looked up in a list of texts', (service) => ['a', 'b'].includes(`${service.get('k')}`), undefined],
    ['handed to Math', (service) => Math.floor(Number(service.get('k'))), 'Double'],
    ['only tested', (service) => (service.get('k') ? 1 : 2), undefined],
  ])('%s', (_title, read, type) => {
    class Leaf {
      _read = read;
      doNone(service: Data): void {
        this._read(service);
      }
    }
    expect(keysOf(Leaf)).toEqual([`read get k${type ? ` ${type}` : ''}`]);
  });

  test('also of a variable, and against a configured field', () => {
    class Leaf {
      min = 0;
      names: string[] = [];
      doFlow(service: Data): boolean {
        const age = service.get('age');
        const vip = service.get('vip');
        if (vip === null) return false;
        const { level } = service.map('member') ?? {};
        return typeof age === 'number' && age >= this.min && vip === true && level !== undefined;
      }
    }
    expect(keysOf(Leaf)).toEqual(['read get age Double', 'read get vip Boolean', 'read get member Map']);
  });

  test('a leaf may declare it', () => {
    class Leaf {
      doNone(service: Data): void {
        service.getDeep('vip.level');
        service.get('other');
      }
    }
    expect(keysOf({ leaf: Leaf, keys: { 'vip.level': 'Integer' } })).toEqual([
      'read getDeep vip.level Integer',
      'read get other',
    ]);
  });
});

describe('code that leads nowhere', () => {
  test('ends: recursion, endless names, functions without code', () => {
    class Leaf {
      again(service: Data, depth: number): unknown {
        return depth > 0 ? this.again(service, depth - 1) : service.get('end');
      }
      doNone(service: Data): void {
        let key = 'k';
        key = `${key}x`;
        service.get(key);
        this.again(service, 3);
        console.log(service);
        spentOf.call(null, service);
      }
    }
    expect(keysOf(Leaf)).toEqual([
      ...['k', 'kx', 'kxx', 'kxxx', 'kxxxx'].map((key) => `read get ${key}`),
      ...['read get end', 'read get spent Double', '?'],
    ]);
  });

  test('is not run: neither getters nor methods of the leaf', () => {
    let ran = 0;
    class Leaf {
      get key(): string {
        ran++;
        return 'x';
      }
      compute(): string {
        ran++;
        return 'y';
      }
      doNone(service: Data): void {
        service.get(this.key);
        service.get(this.compute());
      }
    }
    expect(keysOf(Leaf)).toEqual(['read get x', 'read get y']);
    expect(ran).toBe(0);
  });
});

test('leaves are published in the members of a registration, an alias like a class', () => {
  const nodes = leafNodesOf(createRegistry(sampleLeaves), () => {});
  expect(nodes.find(({ clazz }) => clazz === 'com.sample.ScoreFlow')).toEqual({
    ...{ type: 5, clazz: 'com.sample.ScoreFlow', name: 'Score check', desc: '', order: 100 },
    iceFields: [
      { field: 'score', name: 'score', desc: '', type: 'double', value: 0 },
      { field: 'key', name: 'key', desc: '', type: 'string', value: 'score' },
      { field: 'memo', name: 'memo', desc: '', type: 'string', value: '' },
    ],
    hideFields: [],
    roamKeys: [
      {
        ...{ direction: 'read', accessMode: 'direct', accessMethod: 'getDeep', valueType: 'Double' },
        keyParts: [{ type: 'field', ref: 'key' }],
      },
    ],
  });
  expect(nodes.find(({ clazz }) => clazz === 'age_flow')?.roamKeys).toEqual(
    nodes.find(({ clazz }) => clazz === 'com.sample.AgeFlow')?.roamKeys,
  );
});
