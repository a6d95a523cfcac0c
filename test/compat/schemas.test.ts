import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import { build } from 'esbuild';
import * as v from 'valibot';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createRuleClient, type Data, leavesFor } from '../../src/client/client.ts';
import { createClientFiles } from '../client/support/client-files.ts';

let files: Awaited<ReturnType<typeof createClientFiles>>;
beforeEach(async () => {
  files = await createClientFiles();
});
afterEach(() => files.close());

const valibot = toStandardJsonSchema(
  v.object({
    cost: v.number(),
    level: v.nullable(v.pipe(v.number(), v.integer(), v.maxValue(9))),
    city: v.picklist(['Rome', 'Oslo']),
    vip: v.optional(v.object({ since: v.pipe(v.number(), v.integer()) })),
    tags: v.array(v.string()),
  }),
);
const arktype = type({ cost: 'number', city: "'Rome'|'Oslo'", 'vip?': { since: 'number.integer' }, tags: 'string[]' });
/** Valibot alone writes no JSON Schema. */
const plain = v.object({ cost: v.number() });
const common = { cost: 'Double', city: 'String', 'vip.since': 'Long', tags: 'List' };

class ReadsAll {
  doFlow(service: Data): boolean {
    const [cost, level, city, tags] = ['cost', 'level', 'city', 'tags'].map((key) => service.get(key));
    return [cost, level, city, tags, service.getDeep('vip.since')].length > 0;
  }
}
class OutOfSight {
  doFlow(service: Data): boolean {
    return new Map([['data', service]]).get('data')?.get('cost') === 1;
  }
}

type Options = Parameters<typeof createRuleClient>[0];

async function leafPublishedBy(Leaf: Options['leaves'][string], schema: Options['schema']) {
  const client = await files.start({ leaves: { Leaf }, ...(schema && { schema }) });
  return JSON.parse(await readFile(files.pathOf('clients', 7, `m_${client.address}.json`), 'utf8')).leafNodes[0];
}
async function keysPublishedBy(leaf: Options['leaves'][string], schema: Options['schema']) {
  const keys: { keyParts: { value?: string; type: string }[]; valueType?: string }[] = (
    await leafPublishedBy(leaf, schema)
  ).roamKeys;
  return Object.fromEntries(keys.map(({ keyParts: [part], valueType }) => [part?.value ?? part?.type, valueType]));
}

test('a schema of each library gives the data of runs its type', () => {
  const options = { app: 7, sharedDir: '', leaves: {} };
  const clients = () => [
    createRuleClient({ ...options, schema: plain }).then((client) => client.run({ data: { cost: 1 } })),
    createRuleClient({ ...options, schema: arktype }).then((client) =>
      client.run({ data: { cost: 1, city: 'Rome', tags: [] } }),
    ),
    // @ts-expect-error: a text is no cost
    createRuleClient({ ...options, schema: plain }).then((client) => client.run({ data: { cost: '1' } })),
  ];
  expect(clients).toBeTypeOf('function');
});

test('a schema of each library tells the types of the keys that leaves read', async () => {
  expect(await keysPublishedBy(ReadsAll, valibot)).toMatchObject({ ...common, level: 'Integer' });
  expect(await keysPublishedBy(ReadsAll, arktype)).toMatchObject(common);
  expect(await keysPublishedBy(ReadsAll, plain)).toMatchObject({ cost: undefined });
  expect(await keysPublishedBy(OutOfSight, arktype)).toEqual(common);
});

const source = `
import { leavesFor } from './leaves/leaves-for.ts';
export const Leaf = leavesFor().flow({ min: 1, key: 'tags' }, (service, { min, key }) =>
  service.get('cost') >= min && service.list(key) !== undefined);
`;

test('the keys of leaves made of functions are found, also after a bundler has made the code small', async () => {
  const outfile = files.pathOf('bundle.mjs');
  const stdin = { contents: source, loader: 'ts' as const, resolveDir: join(import.meta.dirname, '../../src/client') };
  await build({ stdin, outfile, bundle: true, minify: true, platform: 'node', format: 'esm', target: 'es2024' });
  const bundled = await import(pathToFileURL(outfile).href);
  const leaf = leavesFor(arktype).flow({ min: 1, key: 'tags' }, (service, { min, key }) => {
    return (service.get('cost') ?? 0) >= min && service.list(key) !== undefined;
  });
  for (const Leaf of [leaf, bundled.Leaf])
    expect((await leafPublishedBy(Leaf, arktype)).roamKeys).toMatchObject([
      { keyParts: [{ value: 'cost' }], valueType: 'Double' },
      { keyParts: [{ type: 'field', ref: 'key' }] },
    ]);
});
