import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const read = (path: string) => readFileSync(join(import.meta.dirname, '../..', path), 'utf8');

it('doctor asks for the version of Redis that the README asks for', () => {
  const wanted = /a Redis of version (\d[\d.]*) or newer/.exec(read('docs/run/redis.md'))?.[1];
  const asked = /Use Redis (\d[\d.]*) or newer/.exec(read('src/cli/doctor/redis-checks.ts'))?.[1];
  expect(asked).toBe(wanted);
  expect(wanted).toBeDefined();
});
