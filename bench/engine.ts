// `node bench/engine.ts`: how often the engine runs a 20-node tree in a second on one core, beside the published Python SDK
// in turns with it, and how long the demo client takes from a request to its answer. BENCH_SECONDS: how long each turn is.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DEMO_APP, startDemoClient } from '../src/client/demo.ts';
import { execute } from '../src/client/engine/execution.ts';
import { createRegistry } from '../src/client/leaves/registry.ts';
import { createRuleSet } from '../src/client/rules/rule-set.ts';
import { releasedOf } from '../src/client/runs/load-objects.ts';
import { objectOf } from '../src/shared/rules/members.ts';
import { sampleLeaves } from '../test/client/support/sample-leaves.ts';
import { buildOnce } from '../test/sdks/build-once.ts';
import { pythonSdk } from '../test/sdks/python.ts';

const SECONDS = Number(process.env.BENCH_SECONDS ?? 1);
const ROUNDS = 5;
const REQUESTS = 500;
const INPUT = '{"age":20,"score":75}';

const relations: Record<number, { type: number; sonIds: string }> = {
  1: { type: 1, sonIds: '2,3,4' },
  2: { type: 3, sonIds: '5,6,7,8' },
  3: { type: 2, sonIds: '9,10,11,12,13' },
  4: { type: 0, sonIds: '14,15,16,17,18,19,20' },
};
const age = { type: 5, confName: 'com.sample.AgeFlow', confField: '{"min":18}' };
const score = { type: 5, confName: 'com.sample.ScoreFlow', confField: '{"score":60,"key":"score"}' };
const nodes = Array.from({ length: 20 }, (_, index) => index + 1).map((id) => ({
  ...{ id, timeType: 1 },
  ...(relations[id] ?? (id % 2 === 0 ? age : score)),
}));

await compareEngines();
await measureDemo();
process.exit();

async function compareEngines(): Promise<void> {
  const ours = { fast: best(), traced: best() };
  const theirs = best();
  const python = await startPython();
  for (let round = 0; round < ROUNDS; round++) {
    ours.fast.take(runFor(SECONDS, false));
    ours.traced.take(runFor(SECONDS, true));
    if (python) theirs.take(await python.runFor(SECONDS));
  }
  python?.stop();
  const line = (name: string, { perSecond }: Best) =>
    console.log(
      `${name.padEnd(46)} ${Math.round(perSecond()).toLocaleString('en').padStart(9)} /s${ratio(perSecond())}`,
    );
  const ratio = (perSecond: number) => (python ? `   ${(perSecond / theirs.perSecond()).toFixed(1)} ×` : '');
  console.log(`A rule of ${nodes.length} nodes, one core, best of ${ROUNDS} turns of ${SECONDS} s:`);
  line('  engine, process text', ours.fast);
  line('  engine, process text and a step per node', ours.traced);
  if (python) line('  published Python SDK, process text', theirs);
}

function runFor(seconds: number, withSteps: boolean): Turn {
  const released = releasedOf({ rules: [{ id: 1, confId: 1 }], nodes });
  const rules = createRuleSet(released, createRegistry(sampleLeaves));
  const runOnce = () => {
    const request = { ruleId: 1n, confId: null, ts: null, data: objectOf(INPUT) };
    return execute(rules, request, { withSteps, timeoutMs: 1000 }).run.process();
  };
  const began = performance.now();
  const until = began + seconds * 1000;
  let runs = 0;
  for (; performance.now() < until; runs += 100) for (let each = 0; each < 100; each++) runOnce();
  return { perSecond: (runs / (performance.now() - began)) * 1000, process: runOnce() };
}

type Turn = { perSecond: number; process: string };
type Best = ReturnType<typeof best>;

/** On a machine that others use too, the best turn says most about the code. */
function best() {
  let most = 0;
  return {
    take({ perSecond, process }: Turn): void {
      const entries = process.split('][').length;
      if (entries !== nodes.length) throw new Error(`${entries} of ${nodes.length} nodes ran: ${process}`);
      most = Math.max(most, perSecond);
    },
    perSecond: () => most,
  };
}

async function startPython() {
  const toolchain = await pythonSdk.findToolchain();
  const cache = join(import.meta.dirname, '../node_modules/.cache/sdks');
  const build = toolchain.kind === 'found' ? await buildOnce(pythonSdk, toolchain, cache) : undefined;
  if (build?.kind !== 'built') {
    const why = build?.reason ?? (toolchain.kind === 'missing' ? toolchain.reason : '');
    console.log(`Without the published Python SDK: ${why}`);
    return undefined;
  }
  const { file } = pythonSdk.launch(build.home);
  const env = { ...process.env, PYTHONPATH: pythonSdk.sources };
  const child: ChildProcess = spawn(file, ['-B', join(import.meta.dirname, 'engine.py')], {
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const { stdin, stdout } = child;
  if (!stdin || !stdout) throw new Error('the Python process has no pipes');
  const lines = createInterface({ input: stdout });
  stdin.write(`${JSON.stringify({ nodes, input: INPUT })}\n`);
  return {
    async runFor(seconds: number): Promise<Turn> {
      stdin.write(`${seconds}\n`);
      const [line]: unknown[] = await once(lines, 'line');
      return JSON.parse(String(line));
    },
    stop: () => child.kill(),
  };
}

async function measureDemo(): Promise<void> {
  const sharedDir = await mkdtemp(join(tmpdir(), 'bench-demo-'));
  const demo = await startDemoClient({ sharedDir, onError: (error) => console.error(error) });
  const directory = join(sharedDir, 'mock', String(DEMO_APP), demo.address);
  const took: number[] = [];
  for (let each = 0; each < REQUESTS; each++) took.push(await ask(directory, `request${each}`));
  took.sort((a, b) => a - b);
  const at = (share: number) => took[Math.floor(took.length * share)]?.toFixed(2);
  console.log(`Demo client, from request to answer, ${REQUESTS} times: p50 ${at(0.5)} ms, p95 ${at(0.95)} ms`);
  await demo.close();
  await rm(sharedDir, { recursive: true });
}

async function ask(directory: string, mockId: string): Promise<number> {
  const result = join(directory, `${mockId}_result.json`);
  const request = { mockId, app: DEMO_APP, ruleId: 1, 'the service': { uid: 1, cost: 120 }, createAt: Date.now() };
  await writeFile(join(directory, `.${mockId}.tmp`), JSON.stringify(request));
  const began = performance.now();
  await rename(join(directory, `.${mockId}.tmp`), join(directory, `${mockId}.json`));
  while (!(await stat(result).catch(() => undefined)));
  const took = performance.now() - began;
  await rm(result);
  return took;
}
