// `node bench/runs.ts [other checkout]`: 200,000 runs of a 20-node rule in one process through `client.run`, the CPU they took and the
// heap before and after, and as a ratio to those of another checkout (with its node_modules), in turns with it. BENCH_RUNS: how many.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { z } from 'zod';

const RUNS = Number(process.env.BENCH_RUNS ?? 200_000);
const WARM_UP = 5000;
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
const here = join(import.meta.dirname, '..');
const measuredSchema = z.object({ cpuMs: z.number(), heapBefore: z.number(), heapAfter: z.number() });
type Measured = z.infer<typeof measuredSchema>;

async function compare(checkouts: string[]): Promise<void> {
  const best = new Map<string, Measured>();
  for (let round = 0; round < ROUNDS; round++)
    for (const each of checkouts) {
      const measured = await measureApart(each);
      if (measured.cpuMs < (best.get(each)?.cpuMs ?? Number.POSITIVE_INFINITY)) best.set(each, measured);
    }
  console.log(`${RUNS.toLocaleString('en')} runs of a 20-node rule through client.run, the best of ${ROUNDS} turns:`);
  for (const [path, { cpuMs, heapBefore, heapAfter }] of best) {
    const heap = `heap ${megabytes(heapBefore)} before, ${megabytes(heapAfter)} after`;
    console.log(`  ${path}: ${((cpuMs * 1000) / RUNS).toFixed(1)} µs of CPU a run; ${heap}`);
  }
  const [ours, theirs] = checkouts.map((each) => best.get(each)?.cpuMs);
  if (ours !== undefined && theirs !== undefined) console.log(`  ratio ${(ours / theirs).toFixed(2)}`);
}

async function measureApart(path: string): Promise<Measured> {
  const parameters = ['--expose-gc', import.meta.filename, '--measure', path];
  const { stdout } = await promisify(execFile)(process.execPath, parameters, { cwd: path });
  return measuredSchema.parse(JSON.parse(stdout));
}

async function measure(path: string): Promise<Measured> {
  const { createRuleClient } = await import(pathToFileURL(join(path, 'src/client/client.ts')).href);
  const sharedDir = await mkdtemp(join(tmpdir(), 'bench-runs-'));
  await writeRule(sharedDir);
  const client = await createRuleClient({ app: 1, sharedDir, leaves: { AgeFlow, ScoreFlow } });
  const run = async (times: number) => {
    for (let each = 0; each < times; each++) {
      const { outcome } = await client.run({ ruleId: 1, data: { age: 20, score: 75, uid: each } });
      if (outcome !== 'TRUE') throw new Error(`the rule came to ${outcome}`);
    }
  };
  await run(WARM_UP);
  const heapBefore = usedHeap();
  const before = process.cpuUsage();
  await run(RUNS);
  const { user, system } = process.cpuUsage(before);
  const heapAfter = usedHeap();
  await client.close();
  await rm(sharedDir, { recursive: true });
  return { cpuMs: (user + system) / 1000, heapBefore, heapAfter };
}

type Service = { get(key: string): unknown };
class AgeFlow {
  min = 18;
  doFlow(service: Service): boolean {
    return Number(service.get('age')) >= this.min;
  }
}
class ScoreFlow {
  score = 60;
  doFlow(service: Service): boolean {
    return Number(service.get('score')) >= this.score;
  }
}

async function writeRule(sharedDir: string): Promise<void> {
  const sonIds = new Map([
    [1, '2,3,4'],
    [2, '5,6,7,8'],
    [3, '9,10,11,12,13'],
    [4, '14,15,16,17,18,19,20'],
  ]);
  const types = new Map([
    [1, 1],
    [2, 3],
    [3, 2],
    [4, 0],
  ]);
  for (const folder of ['bases', 'confs']) await mkdir(join(sharedDir, '1', folder), { recursive: true });
  await writeFile(join(sharedDir, '1/bases/1.json'), '{"id":1,"status":1,"confId":1}');
  for (let id = 1; id <= 20; id++) {
    const leaf = { type: 5, confName: id % 2 === 0 ? 'AgeFlow' : 'ScoreFlow' };
    const node = types.has(id) ? { type: types.get(id), sonIds: sonIds.get(id) } : leaf;
    await writeFile(join(sharedDir, `1/confs/${id}.json`), JSON.stringify({ id, status: 1, ...node }));
  }
}

function usedHeap(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

const megabytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MiB`;

const [what, checkout] = process.argv.slice(2);
if (what === '--measure' && checkout !== undefined) console.log(JSON.stringify(await measure(checkout)));
else await compare(what === undefined ? [here] : [here, resolve(what)]);
