// `node bench/replay.ts`: RUNS recorded runs of a rule of NODES nodes are made again, without effects, on a lane whose client has one setting
// otherwise. Which decisions differ is computed here from the inputs alone. Anything else than that, or an effect, is WRONG.
//   RUNS=2000  NODES=60  SEED=1
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { createRuleClient, type Data } from '../src/client/client.ts';
import { releaseRule } from '../test/support/release-rule.ts';
import { startService, stop, untilReady } from './processes.ts';
import { setUp } from './set-up.ts';

const { RUNS = '2000', NODES = '60', SEED = '1' } = process.env;
const APP = 7;
const LEAVES = Number(NODES) - 1;
/** The leaf whose setting the lane has otherwise: every input has a value for each leaf, and the rule is TRUE where all are large enough. */
const CHANGED = Math.floor(LEAVES / 2);
const [BEFORE, AFTER] = [10, 14];
const toldSchema = z.object({
  counts: z.object({ same: z.int(), unanswered: z.int() }),
  items: z.array(
    z.object({
      name: z.string(),
      verdict: z.string(),
      parting: z.object({ id: z.string(), name: z.string() }).nullable(),
    }),
  ),
});

let effects = 0;
const leavesOf = (min: number) => ({
  'b.AtLeast': class {
    key = '';
    doFlow(service: Data): boolean {
      return service.int(this.key, 0) >= (this.key === `k${CHANGED}` ? min : 5);
    }
  },
  'b.Pay': class {
    doResult(): boolean {
      effects++;
      return true;
    }
  },
});

let state = Number(SEED);
const next = (below: number): number => {
  state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
  return (state >>> 8) % below;
};
/** Most values are large enough for every leaf, so that the leaf in question is reached. */
const inputs = Array.from({ length: Number(RUNS) }, () =>
  Object.fromEntries(
    Array.from({ length: LEAVES }, (_, leaf) => [
      `k${leaf}`,
      leaf === CHANGED ? 8 + next(10) : next(200) === 0 ? 1 : 20,
    ]),
  ),
);
const decide = (input: Record<string, number>, min: number) =>
  Object.entries(input).every(([key, value]) => value >= (key === `k${CHANGED}` ? min : 5));

const { sharedDir, common, url, tearDown } = await setUp();
const ids = Array.from({ length: LEAVES }, (_, leaf) => leaf + 2);
await releaseRule(sharedDir, APP, {
  1: { type: 1, sonIds: [...ids, LEAVES + 2].join(',') },
  ...Object.fromEntries(
    ids.map((id, leaf) => [id, { type: 5, confName: 'b.AtLeast', confField: `{"key":"k${leaf}"}` }]),
  ),
  [LEAVES + 2]: { type: 6, confName: 'b.Pay' },
});
const [api, worker] = [startService('api', common), startService('worker', common)];
await untilReady(`${url}/readyz`, 60_000);
const where = { app: APP, sharedDir };
const trunk = await createRuleClient({ ...where, leaves: leavesOf(BEFORE) });
const beta = await createRuleClient({ ...where, lane: 'beta', leaves: leavesOf(AFTER) });
const wanted = new Set<string>();
for (let from = 0; from < inputs.length; from += 50)
  await Promise.all(
    inputs.slice(from, from + 50).map(async (input) => {
      const body = JSON.stringify({ app: APP, ruleId: 1, 'the service': input });
      const answer = await fetch(`${url}/rule-server/mock/execute`, { method: 'POST', body });
      const { mockId } = z.object({ mockId: z.string() }).parse(await answer.json());
      if (decide(input, BEFORE) !== decide(input, AFTER)) wanted.add(mockId);
    }),
  );
const effectsBefore = effects;
const startedAt = performance.now();
const parameters = [
  'replay',
  '--url',
  url,
  '--app',
  String(APP),
  '--rule-id',
  '1',
  '--target',
  'lane:beta',
  '--limit',
  RUNS,
  '--json',
];
const program = [join(import.meta.dirname, '../bin/rule-server.js'), ...parameters];
const { stdout } = await promisify(execFile)(process.execPath, program, { maxBuffer: 2 ** 28 }).catch((error) => error);
const seconds = (performance.now() - startedAt) / 1000;
const { counts, items } = toldSchema.parse(JSON.parse(stdout));
const { same, unanswered } = counts;
const changed = items.filter(({ verdict }) => verdict === 'changed');
const found = new Set(changed.map(({ name }) => name));
const nodes = new Set(changed.map(({ parting }) => `#${parting?.id} ${parting?.name}`));
const isRight =
  found.size === wanted.size &&
  [...found].every((id) => wanted.has(id)) &&
  unanswered === 0 &&
  effects === effectsBefore &&
  nodes.size === 1;
console.log(
  `${RUNS} runs of a rule of ${Number(NODES) + 1} nodes made again in ${seconds.toFixed(1)} s: ${found.size} of ${wanted.size} that differ, ${same} the same, ${unanswered} unanswered, first at ${[...nodes].join(', ')}; ${effects - effectsBefore} effects${isRight ? '' : '  WRONG'}`,
);
await trunk.close();
await beta.close();
await stop(api, worker);
await tearDown();
process.exitCode = isRight ? 0 : 1;
