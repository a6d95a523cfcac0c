import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, inject, it } from 'vitest';
import { echoes } from '../support/echoes.ts';
import { startRedis } from '../support/redis.ts';
import { claimRedisDatabase } from '../support/redis-database.ts';
import { createResponder } from '../support/responder.ts';
import { startProcesses } from '../support/start-processes.ts';

const choice = inject('redis');
const hasStrace = await promisify(execFile)('strace', ['-V']).then(
  () => true,
  () => false,
);

describe.skipIf(choice.kind === 'unavailable' || !hasStrace).concurrent('a worker (needs strace)', () => {
  it('flushes the request, its claim, the claim’s folder and then the dispatch with FSYNC=1', async () => {
    expect(await callsOfOneExecution(1)).toEqual([
      ...['claim', 'flush request', 'flush claims/minute', 'flush claims', 'dispatch', 'flush client'],
    ]);
  });

  it('flushes nothing without it', async () => {
    expect(await callsOfOneExecution(0)).toEqual(['claim', 'dispatch']);
  });
});

/** What a worker asked of the file system for one execution, in order. */
async function callsOfOneExecution(FSYNC: number): Promise<string[]> {
  const redis = await startRedis(choice);
  const database = await claimRedisDatabase(redis.url);
  const folder = await mkdtemp(join(tmpdir(), 'rule-server-strace-'));
  const trace = join(folder, 'trace');
  try {
    await using processes = await startProcesses({ queueUrl: database.url, workers: 0, settings: { FSYNC } });
    // -D: the process that is started, and killed in the end, is the worker and not strace.
    const under = ['strace', '-D', '-f', '-y', '-s', '400', '-e', 'trace=symlink,rename,fsync', '-o', trace];
    await processes.addWorker({ under });
    await using _client = await createResponder({ sharedDir: processes.sharedDir, app: 1, does: echoes() });
    const { status, json } = await processes.api.execute({ app: 1, ruleId: 1 });
    expect(status).toBe(200);
    const lines = (await readFile(trace, 'utf8')).split('\n');
    return lines.flatMap((line) => nameOf(line, json.mockId));
  } finally {
    await database.stop();
    await redis.stop();
    await rm(folder, { recursive: true });
  }
}

function nameOf(line: string, mockId: string): string[] {
  if (line.includes('symlink(') && line.includes(`claims/`) && line.includes(mockId)) return ['claim'];
  if (line.includes('rename(') && line.includes(`${mockId}.json"`)) return ['dispatch'];
  const [, flushed] = /fsync\(\d+<([^>]+)>/.exec(line) ?? [];
  if (flushed === undefined) return [];
  if (flushed.includes(mockId)) return ['flush request'];
  if (/\/claims\/\d+$/.test(flushed)) return ['flush claims/minute'];
  if (flushed.endsWith('/claims')) return ['flush claims'];
  return /\/mock\/1\/[^/]+$/.test(flushed) ? ['flush client'] : [];
}
