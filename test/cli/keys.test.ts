import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { stringify } from 'yaml';
import { runCliWith } from '../support/run-cli.ts';

const keys = (line: string[], environment = {}) => runCliWith({ environment }, 'keys', ...line);

it('makes a key for a program, whose entry the keys file takes, and lists the entries as JSON', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'keys-'));
  const made = await keys(['new', '--name', 'reports', '--may', 'read', '--apps', '9001', '--json']);
  const { key, entry } = JSON.parse(made.out);
  expect(key).toMatch(/^[\w-]{43}$/);
  const file = join(folder, 'keys.yaml');
  await writeFile(file, stringify({ keys: [entry] }));
  const { code, out } = await keys(['check', file, '--json']);
  expect(code).toBe(0);
  expect(JSON.parse(out)).toEqual({ keys: [{ name: 'reports', may: ['read'], apps: [9001], expires: null }] });
  expect((await keys(['check', file], { RULE_SERVER_KEY: key })).out).toContain('is the key of reports');
});
