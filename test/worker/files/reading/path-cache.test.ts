import { rm, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createPathCache } from '../../../../src/worker/files/reading/path-cache.ts';
import { createRuleFiles } from '../../../support/rule-files.ts';

let files: Awaited<ReturnType<typeof createRuleFiles>>;
let loads: string[] = [];
let clock = 0;

beforeEach(async () => {
  files = await createRuleFiles();
  loads = [];
  clock = 0;
});
afterEach(() => files.remove());

const createCache = (maxBytes = 1_000_000) =>
  createPathCache({
    load: async (path, { size }) => {
      loads.push(path);
      return { kind: 'found', value: size };
    },
    maxBytes,
    now: () => clock,
  });

test('a file is not trusted until it was read again two seconds after it was first seen', async () => {
  const cache = createCache();
  const path = files.pathOf('one');
  await writeFile(path, '1');
  for (const at of [0, 500, 1999, 2000, 2001, 100_000]) {
    clock = at;
    await cache.read(path);
  }
  expect(loads).toHaveLength(4);
});

test('a change starts the two seconds again', async () => {
  const cache = createCache();
  const path = files.pathOf('one');
  await writeFile(path, '1');
  await cache.read(path);
  clock = 5000;
  await cache.read(path);
  await writeFile(path, '22');
  expect(await cache.read(path)).toEqual({ kind: 'found', value: 2 });
  clock = 6000;
  await cache.read(path);
  expect(loads).toHaveLength(4);
});

test('a file that is gone is absent, and remembered by nobody', async () => {
  const cache = createCache();
  const path = files.pathOf('one');
  await writeFile(path, '1');
  await cache.read(path);
  await rm(path);
  expect(await cache.read(path)).toEqual({ kind: 'absent' });
});

test('the least recently used files are forgotten when the cache is full', async () => {
  const cache = createCache(2 * 600);
  const [a, b, c] = [files.pathOf('a'), files.pathOf('b'), files.pathOf('c')];
  for (const path of [a, b, c]) await writeFile(path, 'x'.repeat(80));
  const readAll = async (...paths: string[]) => {
    for (const path of paths) await cache.read(path);
  };
  await readAll(a, b);
  clock = 3000;
  await readAll(a, b, a, b, a, c);
  loads = [];
  await readAll(a, b);
  expect(loads).toEqual([b]);
});
