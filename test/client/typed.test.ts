import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import {
  createRuleClient,
  type Data,
  describeLeaf,
  leavesFor,
  loadRules,
  type RuleClient,
  testRule,
  type Value,
} from '../../src/client/client.ts';
import { createClientFiles } from './support/client-files.ts';

let files: Awaited<ReturnType<typeof createClientFiles>>;
beforeEach(async () => {
  files = await createClientFiles();
});
afterEach(() => files.close());

// An interface, not an alias: it has no index signature, which is what would keep it from being taken for any data.
interface Shop {
  uid: number | bigint;
  cost: number;
  vip?: { level: number };
  coupon?: { amount: number };
}

const { flow, result, none } = leavesFor<Shop>();
const leaves = {
  SpentAtLeast: flow({ min: 100 }, (service, { min }) => (service.get('cost') ?? 0) >= min),
  GiveCoupon: result({ amount: 10, kinds: ['paper'] }, async (service, { amount, kinds }) => {
    service.put('coupon', { amount: amount + kinds.length });
    return true;
  }),
  LookUp: none({ key: 'cost' }, (service, { key }) => service.put(`seen.${key}`, service.get(key) ?? null)),
};
const objects = {
  rules: [{ id: 1, confId: 1 }],
  nodes: [
    { id: 1, type: 1, sonIds: '2,3,4' },
    { id: 2, type: 5, confName: 'SpentAtLeast', confField: { min: 50 } },
    { id: 3, type: 6, confName: 'GiveCoupon', confField: { amount: 20 } },
    { id: 4, type: 7, confName: 'LookUp' },
  ],
};

describe('leaves made of functions', () => {
  test('run with the fields that a rule configures, each instance with defaults of its own', async () => {
    const rules = await loadRules<Shop>(objects, { leaves });
    const { data, outcome, error } = await rules.run({ ruleId: 1, data: { uid: 7, cost: 60 } });
    expect({ data, outcome, error }).toEqual({
      ...{ outcome: 'TRUE', error: undefined },
      data: { uid: 7, cost: 60, coupon: { amount: 21 }, 'seen.cost': 60 },
    });
    const [one, other] = [new leaves.GiveCoupon(), new leaves.GiveCoupon()];
    one.kinds.push('gold');
    expect(other.kinds).toEqual(['paper']);
  });

  test('know the types of the data and of their fields', () => {
    flow({ min: 1, name: '' }, (service, fields) => {
      expectTypeOf(service).toEqualTypeOf<Data<Shop>>();
      expectTypeOf(fields).toEqualTypeOf<Readonly<{ min: number; name: string }>>();
      expectTypeOf(service.get('vip')).toEqualTypeOf<{ level: number } | undefined>();
      expectTypeOf(service.get(fields.name)).toEqualTypeOf<Value | undefined>();
      // @ts-expect-error: the data has no such key
      service.get('cots');
      // @ts-expect-error: nor has it here
      service.double('cots', 0);
      // @ts-expect-error: the data holds a number there
      service.put('cost', 'much');
      return service.double('cost', 0) > service.int(fields.name, 0);
    });
    // @ts-expect-error: a condition says true or false
    flow({}, () => 'yes');
    // Without a type nothing is known, and nothing refused.
    leavesFor().flow({}, (service) => service.get('anything') === 1);
  });

  test('a field that is described and not there does not compile', () => {
    const infer = () =>
      createRuleClient({
        ...{ app: 7, sharedDir: '' },
        // @ts-expect-error: the field is called min
        leaves: { SpentAtLeast: { leaf: leaves.SpentAtLeast, fields: { mim: {} } } },
      });
    expect(infer).toBeTypeOf('function');
  });

  test('nor does it where the type of the data is written out', async () => {
    const options = { app: 7, sharedDir: '' };
    const unchecked = () =>
      createRuleClient<Shop>({
        ...options,
        // @ts-expect-error: nobody would compare the fields with the class; describeLeaf does
        leaves: { SpentAtLeast: { leaf: leaves.SpentAtLeast, fields: { min: {} } } },
      });
    // @ts-expect-error: the field is called min
    const misspelt = () => describeLeaf({ leaf: leaves.SpentAtLeast, fields: { mim: {} } });
    expect([unchecked, misspelt]).toEqual([expect.any(Function), expect.any(Function)]);
    await expect(loadRules<Shop>(objects, { leaves: { ...leaves, SpentAtLeast: misspelt() } })).rejects.toThrow(
      'SpentAtLeast has no field mim to describe; did you mean min?',
    );
  });

  test('is described with describeLeaf, which keeps the types of the data and all that is said of the leaf', async () => {
    class Typed {
      min = 100;
      doFlow(service: Data<Shop>): boolean {
        return (service.get('cost') ?? 0) >= this.min;
      }
    }
    const SpentAtLeast = describeLeaf({ leaf: Typed, name: 'Spent', fields: { min: { name: 'Amount' } } });
    const client = await createRuleClient<Shop>({
      ...{ app: 7, sharedDir: files.sharedDir, onProblems: () => {} },
      leaves: { ...leaves, SpentAtLeast },
    });
    const { leafNodes } = JSON.parse(
      await readFile(join(files.sharedDir, 'clients/7', `m_${client.address}.json`), 'utf8'),
    );
    await client.close();
    expect(JSON.stringify(leafNodes)).toContain('"Amount"');
    // @ts-expect-error: a leaf of another app's data
    await loadRules<{ name: string }>(objects, { leaves: { SpentAtLeast } });
  });
});

describe('runs of described data', () => {
  test('take it and give it', async () => {
    class Typed {
      doFlow(service: Data<Shop>): boolean {
        return service.get('cost') === 60;
      }
    }
    const rules = await loadRules<Shop>(objects, { leaves: { ...leaves, Typed } });
    const { data } = await rules.run({ ruleId: 1, data: { uid: 7, cost: 60 } });
    expectTypeOf(data.coupon?.amount).toEqualTypeOf<number | undefined>();
    expectTypeOf(data.cost).toEqualTypeOf<number>();
    expect(data['seen.cost']).toBe(60);
    // @ts-expect-error: a text is no cost
    expect((await rules.run({ ruleId: 1, data: { uid: 7, cost: 'much' } })).success).toBe(true);
    class Other {
      doFlow(service: Data<{ name: string }>): boolean {
        return service.get('name') === '';
      }
    }
    // @ts-expect-error: a leaf of another app's data
    await loadRules<Shop>(objects, { leaves: { Other } });
    expectTypeOf<RuleClient<Shop>['run']>().parameter(0).toHaveProperty('data').toEqualTypeOf<Shop | undefined>();
  });

  test('take and give anything where nothing is known', async () => {
    const rules = await loadRules(objects, { leaves: leavesFor().flow({}, () => true) && {} });
    const { data } = await rules.run({ ruleId: 1, data: { any: 1 } });
    expectTypeOf(data).toEqualTypeOf<{ [key: string]: Value }>();
  });

  test('a test of a rule and its mocks know it too', async () => {
    const mocks = { GiveCoupon: (service: Data<Shop>) => service.get('cost') === 60 };
    const run = { ruleId: 1, data: { uid: 7, cost: 60 } };
    const tested = await testRule<Shop>(objects, { leaves, ...run, mocks });
    expectTypeOf(tested.data.uid).toEqualTypeOf<number | bigint>();
    expect(tested.outcome).toBe('TRUE');
  });
});

const zod = z.object({
  ...{ uid: z.bigint(), cost: z.number(), level: z.int32().nullable(), city: z.enum(['Rome', 'Oslo']) },
  ...{
    vip: z.object({ since: z.int() }).optional(),
    tags: z.array(z.string()),
    either: z.union([z.string(), z.int()]),
  },
});
/** A schema of a library that cannot write it as JSON Schema. */
const { jsonSchema: _, ...standard } = z.object({ cost: z.number() })['~standard'];
const plain = { '~standard': standard };

class ReadsAll {
  doFlow(service: Data): boolean {
    const [cost, level, city, tags] = ['cost', 'level', 'city', 'tags'].map((key) => service.get(key));
    return (
      [service.get('uid'), cost, level, city, tags, service.get('either'), service.getDeep('vip.since')].length > 0
    );
  }
}
class OutOfSight {
  doFlow(service: Data): boolean {
    return new Map([['data', service]]).get('data')?.get('cost') === 1;
  }
}

async function publishedBy(schema: Parameters<typeof createRuleClient>[0]['schema'], leaf = ReadsAll) {
  const client = await files.start({ leaves: { Leaf: leaf }, ...(schema && { schema }) });
  const text = await readFile(files.pathOf('clients', 7, `m_${client.address}.json`), 'utf8');
  const keys: { keyParts: { value?: string; type: string }[]; valueType?: string }[] =
    JSON.parse(text).leafNodes[0].roamKeys;
  return Object.fromEntries(keys.map(({ keyParts: [part], valueType }) => [part?.value ?? part?.type, valueType]));
}

describe('a schema of the data', () => {
  test('infers the data of runs, of each library', () => {
    const common = { app: 7, sharedDir: '', leaves: {} };
    const clients = () => [
      createRuleClient({ ...common, schema: zod }).then((client) => client.run({ data: { ...given, cost: 1 } })),
      createRuleClient({ ...common, schema: plain }).then((client) => client.run({ data: { cost: 1 } })),
      // @ts-expect-error: a text is no cost
      createRuleClient({ ...common, schema: plain }).then((client) => client.run({ data: { cost: '1' } })),
    ];
    const given = { ...{ uid: 1n, level: null, city: 'Rome', tags: [], either: '' } } satisfies Partial<
      z.input<typeof zod>
    >;
    expect(clients).toBeTypeOf('function');
    leavesFor(zod).flow({}, (service) => {
      expectTypeOf(service.get('city')).toEqualTypeOf<'Rome' | 'Oslo' | undefined>();
      return true;
    });
  });

  test('tells the form the types of the keys that leaves read, and leaves what it cannot say to the code', async () => {
    const common = { cost: 'Double', city: 'String', 'vip.since': 'Long', tags: 'List' };
    expect(await publishedBy(zod)).toEqual({ ...common, level: 'Integer', uid: undefined, either: undefined });
    expect(await publishedBy(plain)).toMatchObject({ cost: undefined });
  });

  test('tells the keys themselves where the code does not', async () => {
    expect(await publishedBy(undefined, OutOfSight)).toEqual({ roamDerived: undefined });
    const types = { cost: 'Double', city: 'String', 'vip.since': 'Long', tags: 'List', level: 'Integer' };
    expect(await publishedBy(zod, OutOfSight)).toEqual({ ...types, uid: undefined, either: undefined });
  });

  test('gives way to what a leaf declares', async () => {
    const definition = { leaf: OutOfSight, reads: { cost: 'integer' } } as const;
    const client = await files.start({ leaves: { Leaf: definition }, schema: zod });
    const text = await readFile(files.pathOf('clients', 7, `m_${client.address}.json`), 'utf8');
    expect(JSON.parse(text).leafNodes[0].roamKeys).toMatchObject([
      { keyParts: [{ value: 'cost' }], valueType: 'Integer' },
    ]);
  });

  test('finds the keys of leaves made of functions', async () => {
    const { flow } = leavesFor(zod);
    const leaf = flow({ min: 1, key: 'tags' }, (service, { min, key }) => {
      return (service.get('cost') ?? 0) >= min && service.list(key) !== undefined;
    });
    const client = await files.start({ leaves: { Leaf: leaf }, schema: zod });
    const text = await readFile(files.pathOf('clients', 7, `m_${client.address}.json`), 'utf8');
    expect(JSON.parse(text).leafNodes[0]).toMatchObject({
      iceFields: [
        { field: 'min', value: 1 },
        { field: 'key', value: 'tags' },
      ],
      roamKeys: [{ keyParts: [{ value: 'cost' }], valueType: 'Double' }, { keyParts: [{ type: 'field', ref: 'key' }] }],
    });
  });

  test('must be one', async () => {
    const options = { app: 7, sharedDir: files.sharedDir, leaves: {}, schema: {} };
    // @ts-expect-error: an object without the members of Standard Schema
    await expect(createRuleClient(options)).rejects.toThrow('schema must be a Standard Schema');
  });
});
