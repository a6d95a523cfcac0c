import { copyFile, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { NestFactory } from '@nestjs/core';
import { build } from 'esbuild';
import fc from 'fast-check';
import { Engine, type RuleProperties } from 'json-rules-engine';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { unless } from '../../src/shared/runtime/errno.ts';
import { buildClient } from '../client/support/build-client.ts';
import { inRepository } from '../client/support/own-package.ts';
import { run } from '../sdks/run.ts';
import { createRuleFiles } from '../support/rule-files.ts';

const root = join(import.meta.dirname, '../..');
// Below this folder: the packages that a recipe names are found in its node_modules.
const folder = join(import.meta.dirname, 'dist');
let files: Awaited<ReturnType<typeof createRuleFiles>>;

beforeAll(async () => {
  const text = await readFile(join(root, 'docs/use/recipes.md'), 'utf8');
  await mkdir(folder, { recursive: true });
  const own = join(import.meta.dirname, 'node_modules/rule-server');
  await mkdir(own, { recursive: true });
  await copyFile(join(root, 'package.json'), join(own, 'package.json'));
  await symlink(join(root, 'dist'), join(own, 'dist')).catch(unless('EEXIST'));
  const example = await readFile(join(root, 'examples/json-rules-engine.ts'), 'utf8');
  const programs = new Map([['json-rules-engine', example]]);
  for (const [, name = '', code = ''] of text.matchAll(/```ts\n\/\/ ([\w-]+)\.ts\n(.*?)```/gs))
    programs.set(name, code);
  for (const [name, code] of programs) await writeFile(join(folder, `${name}.ts`), inRepository(code));
  await build({
    ...{ entryPoints: [...programs.keys()].map((name) => join(folder, `${name}.ts`)), outdir: folder, bundle: true },
    ...{ platform: 'node', format: 'esm', target: 'es2022', outExtension: { '.js': '.mjs' } },
    alias: { 'rule-server/client': join(root, 'src/client/client.ts') },
    external: ['fastify', '@nestjs/*', 'reflect-metadata', 'acorn', 'chokidar'],
    tsconfigRaw: { compilerOptions: { experimentalDecorators: true } },
    // The thread of the client is a file beside it.
    define: { 'import.meta.url': JSON.stringify(pathToFileURL(join(root, 'src/client/heart.ts')).href) },
  });
  files = await createRuleFiles();
  const nodes = [
    { id: 1, type: 1, sonIds: '2,3' },
    { id: 2, type: 5, confName: 'shop.SpentAtLeast', confField: '{"min":50}' },
    { id: 3, type: 6, confName: 'shop.GiveCoupon', confField: '{"amount":20}' },
  ];
  for (const node of nodes) await files.write(JSON.stringify({ status: 1, ...node }), 1, 'confs', `${node.id}.json`);
  await files.write('{"id":1,"confId":1,"status":1}', 1, 'bases', '1.json');
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await files.remove();
});

const load = (name: string) => import(pathToFileURL(join(folder, `${name}.mjs`)).href);

test('each compiles, strictly', async () => {
  const names = ['fastify', 'nest', 'json-rules-engine', 'ifs'].map((name) => join(folder, `${name}.ts`));
  await buildClient();
  const options = [
    '--noEmit',
    '--strict',
    '--module',
    'nodenext',
    '--target',
    'es2022',
    '--types',
    'node',
    '--skipLibCheck',
  ];
  await run(join(root, 'node_modules/.bin/tsc'), [...options, '--experimentalDecorators', '--ignoreConfig', ...names], {
    ...{ cwd: root, timeoutMs: 60_000 },
  });
});

test('Fastify: a request runs the rule with what was injected, and the client leaves with the server', async () => {
  const { createServer } = await load('fastify');
  const given: unknown[] = [];
  const coupons = { give: async (uid: number, amount: number) => given.push([uid, amount]) > 0 };
  const server = await createServer(files.sharedDir, coupons);
  const order = (payload: object) => server.inject({ method: 'POST', url: '/orders', payload });
  expect((await order({ uid: 7, cost: 60 })).json()).toEqual({ outcome: 'TRUE', coupon: 20 });
  expect((await order({ uid: 7, cost: 40 })).json()).toEqual({ outcome: 'FALSE', coupon: null });
  expect((await order({ uid: 7, cost: 'much' })).statusCode).toBe(500);
  expect(given).toEqual([[7, 20]]);
  expect(JSON.parse(await readFile(files.pathOf('clients', 1, '_latest.json'), 'utf8')).leafNodes).toMatchObject([
    { clazz: 'shop.SpentAtLeast', roamKeys: [{ keyParts: [{ value: 'cost' }] }] },
    { clazz: 'shop.GiveCoupon' },
  ]);
  await server.close();
});

test('NestJS: the leaves get what is injected, and the client leaves with the application', async () => {
  process.env.SHARED_DIR = files.sharedDir;
  const { OrdersModule, OrderService, CouponService } = await load('nest');
  const app = await NestFactory.createApplicationContext(OrdersModule, { logger: false });
  expect(await app.get(OrderService).place({ uid: 7, cost: 60 })).toBe(20);
  expect(await app.get(OrderService).place({ uid: 8, cost: 1 })).toBeNull();
  expect(app.get(CouponService).given).toEqual([7]);
  await app.close();
  Reflect.deleteProperty(process.env, 'SHARED_DIR');
});

describe('json-rules-engine', () => {
  const facts = fc.record({
    cost: fc.integer({ min: 0, max: 3 }),
    city: fc.constantFrom('Rome', 'Oslo'),
    tags: fc.subarray(['a', 'b', 'c']),
    vip: fc.record({ level: fc.integer({ min: 0, max: 3 }) }),
  });
  const numeric = fc.constantFrom(
    'lessThan',
    'lessThanInclusive',
    'greaterThan',
    'greaterThanInclusive',
    'equal',
    'notEqual',
  );
  const level = fc.integer({ min: 0, max: 3 });
  const comparison = fc.oneof(
    fc.record({ fact: fc.constant('cost'), operator: numeric, value: level }),
    fc.record({ fact: fc.constant('vip'), path: fc.constant('$.level'), operator: numeric, value: level }),
    fc.record({
      fact: fc.constant('city'),
      operator: fc.constantFrom('in', 'notIn'),
      value: fc.subarray(['Rome', 'Oslo']),
    }),
    fc.record({
      ...{ fact: fc.constant('tags'), operator: fc.constantFrom('contains', 'doesNotContain') },
      value: fc.constantFrom('a', 'b', 'c'),
    }),
  );
  const { group } = fc.letrec((tie) => ({
    group: fc.oneof(
      { maxDepth: 3 },
      fc.record({ all: fc.array(tie('any one'), { maxLength: 3 }) }),
      fc.record({ any: fc.array(tie('any one'), { maxLength: 3 }) }),
      fc.record({ not: tie('any one') }),
    ),
    'any one': fc.oneof({ maxDepth: 3 }, comparison, tie('group')),
  }));
  const event = fc.record({ type: fc.constantFrom('coupon', 'points'), params: fc.record({ amount: level }) });
  const rules = fc.array(fc.record({ conditions: group, event, priority: fc.integer({ min: 1, max: 3 }) }), {
    maxLength: 3,
  });

  /** Copies: the engine makes its own of the conditions. */
  const parsed = (given: unknown): RuleProperties[] => JSON.parse(JSON.stringify(given));

  test('the same facts through both come to the same events', async () => {
    const recipe = await load('json-rules-engine');
    const fired: number[] = [];
    await fc.assert(
      fc.asyncProperty(rules, facts, async (given, data) => {
        const engine = new Engine(parsed(given));
        const { events } = await engine.run(data);
        const ours: unknown[] = await recipe.run(given, data);
        const sorted = (list: readonly unknown[]) => list.map((each) => JSON.stringify(each)).sort();
        expect(sorted(ours)).toEqual(sorted(events));
        fired.push(events.length);
      }),
      { numRuns: 300 },
    );
    expect(fired.filter((count) => count > 0).length).toBeGreaterThan(30);
  });

  const FACTS = { cost: '120', age: 20, city: 'Rome', list: [1, 2], nested: { 'a.b': 1, level: 2 }, tags: ['a'] };
  const one = (condition: object) => [{ conditions: { all: [condition] }, event: { type: 'fires' } }];

  test.each([
    { fact: 'cost', operator: 'greaterThan', value: 100 },
    { fact: 'cost', operator: 'lessThan', value: '20' },
    { fact: 'age', operator: 'lessThanInclusive', value: '20' },
    { fact: 'city', operator: 'greaterThan', value: 1 },
    { fact: 'city', operator: 'in', value: 'Rome and Oslo' },
    { fact: 'nested', path: '$.level', operator: 'equal', value: 2 },
    { fact: 'list', operator: 'equal', value: [1, 2] },
    { fact: 'tags', operator: 'contains', value: 'a' },
    { fact: 'age', operator: 'equal', value: '20' },
  ])('%j comes to what it came to there', async (condition) => {
    const { events } = await new Engine(parsed(one(condition))).run(FACTS);
    const ours: unknown[] = await (await load('json-rules-engine')).run(one(condition), FACTS);
    expect(ours).toHaveLength(events.length);
  });

  test.each([
    ['a condition by name', { condition: 'expensive' }],
    ['a value that is a fact', { fact: 'age', operator: 'equal', value: { fact: 'cost' } }],
    [
      'a value that is a fact with a path',
      { fact: 'age', operator: 'equal', value: { fact: 'nested', path: '$.level' } },
    ],
    ['an object as a value', { fact: 'nested', operator: 'equal', value: { level: 2 } }],
    ['an entry of a list', { fact: 'list', path: '$[0]', operator: 'equal', value: 1 }],
    ['all entries', { fact: 'list', path: '$[*]', operator: 'contains', value: 1 }],
    ['a quoted name', { fact: 'nested', path: "$['level']", operator: 'equal', value: 2 }],
    ['a quoted dot', { fact: 'nested', path: "$['a.b']", operator: 'equal', value: 1 }],
    ['a search at any depth', { fact: 'nested', path: '$..level', operator: 'contains', value: 2 }],
    ['an operator of their own', { fact: 'city', operator: 'startsWith', value: 'R' }],
    ['an operator with a decorator', { fact: 'list', operator: 'everyFact:greaterThan', value: 0 }],
    ['parameters of a fact', { fact: 'age', params: { of: 'ada' }, operator: 'equal', value: 20 }],
    ['a fact with a dot in its name', { fact: 'nested.level', operator: 'equal', value: 2 }],
  ])('%s is refused, and named', async (_what, condition) => {
    const { convert } = await load('json-rules-engine');
    expect(() => convert(one(condition))).toThrow(/is not taken over: \{/);
    expect(() => convert(one({ not: { any: [condition] } }))).toThrow(JSON.stringify(condition));
  });
});

test('hand-written ifs: the rule gives every order the discount that they gave', async () => {
  const { discountBefore, discountAfter } = await load('ifs');
  const seen = new Set<number>();
  for (const member of [true, false])
    for (const country of ['NO', 'IT'])
      for (const cost of [0, 49.99, 50, 99, 100, 1000]) {
        const order = { member, country, cost };
        expect(await discountAfter(order)).toBe(discountBefore(order));
        seen.add(discountBefore(order));
      }
  expect(seen).toEqual(new Set([0, 10, 15]));
});
