import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Registration } from '../../../src/worker/rules/leaves/leaf-metadata.ts';
import { parseLeafNodes } from '../../../src/worker/rules/leaves/leaf-nodes.ts';
import { readSchema } from '../../../src/worker/rules/leaves/schema.ts';
import { createRules } from '../../../src/worker/rules/rules.ts';
import { readerOf, registrationOf } from '../../support/registrations.ts';
import { createRuleFiles } from '../../support/rule-files.ts';

let files: Awaited<ReturnType<typeof createRuleFiles>>;
let registrations: Registration[] = [];

beforeEach(async () => {
  files = await createRuleFiles();
  registrations = [];
});
afterEach(() => files.remove());

type Query = { ruleId?: bigint; confId?: bigint; lane?: string; address?: string; app?: number };

async function schemaOf({ app = 7, ruleId, confId, lane, address }: Query) {
  const query = { app, ruleId: ruleId ?? null, confId: confId ?? null, lane: lane ?? null, address: address ?? null };
  const rules = createRules({ sharedDir: files.sharedDir });
  return readSchema(query, { rules, metadataFor: async (of) => (of === app ? registrations : []) });
}

async function fieldsOf(query: Query) {
  const schema = await schemaOf(query);
  if (schema.kind !== 'schema') throw new Error(schema.kind);
  return schema.fields.map(({ key, valueType, nodeId, nodeName }) => `${key} ${valueType} ${nodeId} ${nodeName}`);
}

const keysOf = async (query: Query) => (await fieldsOf(query)).map((field) => field.split(' ')[0]);

describe('what the published clients read in the captured app', () => {
  beforeEach(() => files.useFixture());

  const before = ['score Object 11 score gate', 'age Object 14 age', 'vip.level Object 15 vip', 'uid Object 17 uid?'];
  const probe = 'pre_score Object 18 probe';
  const issue = 'count Object 13 issue';
  test.each([
    ['java', [...before, probe, 'which Object 18 probe', issue, `\${which} Object 23 derived`]],
    [
      'python',
      [
        ...before,
        'score.suffix Object 18 probe',
        probe,
        issue,
        'which Object 23 derived',
        `\${which} Object 23 derived`,
      ],
    ],
    ['go', [...before, probe, issue, 'which Object 23 derived']],
  ] as const)('%s: every key of rule 1 once, in tree order, at the node that reads it first', async (sdk, expected) => {
    registrations = [await registrationOf(sdk)];
    expect(await fieldsOf({ ruleId: 1n })).toEqual(expected);
  });

  test('a node alone is read like a rule, and inside a rule only its sub-tree counts', async () => {
    registrations = [await registrationOf('python')];
    expect(await keysOf({ confId: 12n })).toEqual(['age', 'vip.level']);
    expect(await keysOf({ ruleId: 1n, confId: 21n })).toEqual(['which', `\${which}`, 'vip.level']);
    expect(await keysOf({ ruleId: 1n, confId: 13n })).toEqual(['uid', 'score.suffix', 'pre_score', 'count']);
  });

  test('a field left at the default of the code stands as its name', async () => {
    registrations = [await registrationOf('go')];
    expect((await fieldsOf({ ruleId: 16n })).slice(0, 4)).toEqual([
      `pre_\${KeyName} Object 79 cfg-missing`,
      `\${KeyName} Object 80 plain field missing`,
      '9007199254740993 Object 81 num field',
      'pre_score Object 18 probe',
    ]);
  });

  test('an alias has no metadata, so it reads nothing that is known', async () => {
    registrations = [await registrationOf('java')];
    expect(await schemaOf({ ruleId: 10n })).toEqual({ kind: 'schema', fields: [], fallback: false });
  });

  test('a cycle ends the walk instead of the service', async () => {
    registrations = [await registrationOf('java')];
    expect(await keysOf({ ruleId: 14n })).toEqual(['score']);
  });

  test('a rule without a root has no fields', async () => {
    registrations = [await registrationOf('java')];
    expect(await fieldsOf({ ruleId: 13n })).toEqual([]);
  });

  test('without any metadata there are no fields', async () => {
    expect(await schemaOf({ ruleId: 1n })).toEqual({ kind: 'schema', fields: [], fallback: false });
  });
});

test('nodes of a class whose client says that it may read more keys are named', async () => {
  await files.rule(1, '"confId":1');
  await files.node(1, '"type":1,"sonIds":"2,3"');
  await files.node(2, '"type":5,"confName":"com.sample.AgeFlow"');
  await files.node(3, '"type":5,"confName":"com.sample.OpenFlow"');
  const open = { type: 5, clazz: 'com.sample.OpenFlow', roamKeys: [], incomplete: true };
  const { leafNodes, ...reader } = readerOf('age');
  registrations = [{ ...reader, leafNodes: [...leafNodes, ...parseLeafNodes([open])] }];
  expect(await schemaOf({ ruleId: 1n })).toMatchObject({ fields: [{ key: 'age' }], incomplete: [3n] });
  expect(await schemaOf({ confId: 2n })).not.toHaveProperty('incomplete');
});

describe('whose metadata answers', () => {
  const ask = async (query: Omit<Query, 'ruleId'> = {}) => {
    const schema = await schemaOf({ ruleId: 1n, ...query });
    return schema.kind === 'schema' ? [schema.fields[0]?.key, schema.fallback] : schema.kind;
  };

  beforeEach(async () => {
    await files.rule(1, '"confId":1');
    await files.node(1, '"type":5,"confName":"com.sample.AgeFlow"');
    registrations = [
      readerOf('dead', { online: false, lastHeartbeat: 9000 }),
      readerOf('deader', { online: false, lastHeartbeat: 10 }),
      readerOf('lane-dead', { online: false, lane: 'off', lastHeartbeat: 5 }),
      readerOf('lane', { lane: 'beta' }),
      readerOf('lane-old', { lane: 'beta', lastHeartbeat: 500 }),
      readerOf('trunk'),
      readerOf('trunk-old', { lastHeartbeat: 500 }),
    ];
  });

  test('the wanted address when it is online', async () => {
    expect(await ask({ address: 'lane-old' })).toEqual(['lane-old', false]);
    expect(await ask({ address: 'trunk-old', lane: 'beta' })).toEqual(['trunk-old', false]);
  });

  test('the wanted lane when it is online', async () => {
    expect(await ask({ lane: 'beta' })).toEqual(['lane', false]);
  });

  test('the newest of the trunk when nobody is wanted', async () => {
    expect(await ask()).toEqual(['trunk', false]);
  });

  test('the wanted lane, as a fallback, when the wanted address is offline', async () => {
    expect(await ask({ address: 'dead', lane: 'beta' })).toEqual(['lane', true]);
  });

  test('the trunk, as a fallback, when the wanted client is offline or was never there', async () => {
    expect(await ask({ address: 'dead' })).toEqual(['trunk', true]);
    expect(await ask({ address: 'never' })).toEqual(['trunk', true]);
    expect(await ask({ lane: 'off' })).toEqual(['trunk', true]);
    expect(await ask({ lane: 'never' })).toEqual(['trunk', true]);
  });

  test('any online client when the trunk is empty', async () => {
    registrations = registrations.filter(({ lane, online }) => lane !== null || !online);
    expect(await ask()).toEqual(['lane', false]);
    expect(await ask({ address: 'dead' })).toEqual(['lane', true]);
  });

  test('the last known registration when nobody is online, the wanted one first, then the trunk', async () => {
    registrations.push(readerOf('lane-newest', { lane: 'next', lastHeartbeat: 99_000 }));
    registrations = registrations.map((registration) => ({ ...registration, online: false }));
    expect(await ask()).toEqual(['dead', false]);
    expect(await ask({ address: 'deader' })).toEqual(['deader', false]);
    expect(await ask({ lane: 'off' })).toEqual(['lane-dead', false]);
    expect(await ask({ address: 'never' })).toEqual(['dead', true]);
  });

  test('an address is the same client in the form of its file name', async () => {
    registrations.push(readerOf('fe80::1/7'));
    expect(await ask({ address: 'fe80__1_7' })).toEqual(['fe80::1/7', false]);
  });

  test('a class that the wanted client does not know is looked up further on, which is no fallback', async () => {
    registrations.push(readerOf('empty', { leafNodes: [] }));
    expect(await ask({ address: 'empty' })).toEqual(['trunk', false]);
  });

  test('of equals, one that names keys comes before one whose language hides them', async () => {
    registrations.push(
      readerOf('silent', {
        lastHeartbeat: 2000,
        leafNodes: parseLeafNodes([{ type: 5, clazz: 'com.sample.AgeFlow' }]),
      }),
    );
    expect(await ask()).toEqual(['trunk', false]);
    expect(await ask({ address: 'silent' })).toEqual([undefined, false]);
  });

  test('a class registered as another kind of leaf is not the same leaf', async () => {
    await files.node(1, '"type":6,"confName":"com.sample.AgeFlow"');
    expect(await ask()).toEqual([undefined, false]);
  });
});

test('a node shared by many is visited once, its forward condition before it', async () => {
  registrations = [readerOf('age'), readerOf('other')];
  await files.rule(1, '"confId":1');
  await files.node(1, '"type":1,"sonIds":"3,2,3"');
  await files.node(2, '"type":5,"confName":"com.sample.AgeFlow","forwardId":4');
  await files.node(3, '"type":1,"sonIds":"2,404"');
  await files.node(4, '"type":5,"confName":"com.sample.AgeFlow","name":"first"');
  expect(await fieldsOf({ ruleId: 1n })).toEqual(['age Object 4 first']);
});

test('a key has every node that reads it, each with its own settings', async () => {
  registrations = [readerOf('age')];
  await files.rule(1, '"confId":1');
  await files.node(1, '"type":1,"sonIds":"2,3,2"');
  for (const id of [2, 3]) await files.node(id, `"type":5,"confName":"com.sample.AgeFlow","name":"n${id}"`);
  const schema = await schemaOf({ ruleId: 1n });
  expect(schema).toMatchObject({
    fields: [{ key: 'age', nodeId: 2n, nodes: [2n, 3n].map((nodeId) => ({ nodeId, settings: [], comparison: null })) }],
  });
});

test('sixty levels that each use the next one twice are walked at once', async () => {
  registrations = [readerOf('age')];
  await files.rule(1, '"confId":1');
  for (let id = 1; id < 60; id++) await files.node(id, `"type":1,"sonIds":"${id + 1},${id + 1}"`);
  await files.node(60, '"type":5,"confName":"com.sample.AgeFlow"');
  expect(await fieldsOf({ ruleId: 1n })).toEqual(['age Object 60 AgeFlow']);
});

test('a chain of three thousand nodes is walked to its end', async () => {
  registrations = [readerOf('age')];
  await files.rule(1, '"confId":1');
  for (let id = 1; id < 3000; id++) await files.node(id, `"type":1,"sonIds":"${id + 1}"`);
  await files.node(3000, '"type":5,"confName":"com.sample.AgeFlow"');
  expect(await keysOf({ ruleId: 1n })).toEqual(['age']);
});

test.each([
  ['numbers', '"type":5,"status":1,"inverse":true,"errorState":2'],
  ['texts', '"type":" 5 ","status":"1","inverse":"True","errorState":"2","timeType":"","start":"null"'],
  ['a fraction and a number for a flag', '"type":5.0,"status":1,"inverse":1,"errorState":2.9'],
])('a node counts whose members are written as %s, as in a client', async (_, members) => {
  registrations = [readerOf('age')];
  await files.write('{"id":"1","status":"1","confId":"1"}', 7, 'bases', '1.json');
  await files.write(`{"id":1,${members},"confName":"com.sample.AgeFlow"}`, 7, 'confs', '1.json');
  expect(await fieldsOf({ ruleId: 1n })).toEqual(['age Object 1 AgeFlow']);
});
