import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { digestOf } from '../../src/shared/runtime/access/caller.ts';
import { httpCall } from '../support/http-call.ts';
import { startService } from '../support/start-service.ts';

const REFUSED = 300;
const LONG = 'p'.repeat(15_000);

it.each([
  ['without a key', 401, {}],
  ['of a key without the right', 403, { authorization: 'Bearer the-key-of-nobody-here' }],
])('many refusals %s share lines, none of which is long, and each is counted once', async (_what, status, headers) => {
  const directory = await mkdtemp(join(tmpdir(), 'rule-server-refusals-'));
  const auditLog = join(directory, 'audit.jsonl');
  const sha256 = digestOf('the-key-of-nobody-here').toString('hex');
  const keysFile = join(directory, 'keys.yaml');
  await writeFile(keysFile, JSON.stringify({ keys: [{ name: 'nobody', sha256, may: [] }] }));
  await using service = await startService({ settings: { AUDIT_LOG: auditLog, API_KEYS_FILE: keysFile } });
  const path = `/rule-server/mock/executions/${LONG}`;
  const all = Array.from({ length: REFUSED }, () => httpCall(`${service.url}${path}`, { headers }));
  expect(new Set((await Promise.all(all)).map((answer) => answer.status))).toEqual(new Set([status]));

  const inLog = () => service.log.filter((line) => line.status === status || typeof line.refused === 'number');
  await expect.poll(() => counted(inLog().map(({ refused }) => refused)), { timeout: 60_000 }).toBe(REFUSED);
  expect(inLog().length).toBeLessThan(REFUSED);
  for (const line of inLog()) expect(JSON.stringify(line).length).toBeLessThan(1500);

  const lines = (await readFile(auditLog, 'utf8')).trim().split('\n');
  for (const line of lines) expect(line.length).toBeLessThan(1500);
  expect(counted(lines.map((line) => JSON.parse(line)).map(({ calls }) => calls))).toBe(REFUSED);
});

/** How many requests some lines stand for. */
const counted = (numbers: unknown[]) => numbers.reduce((sum: number, n) => sum + (typeof n === 'number' ? n : 1), 0);
