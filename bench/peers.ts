// `node bench/peers.ts`: how often one rule of 20 conditions and a consequence is evaluated in a second, in process, by the SDK, by
// json-rules-engine and by zen-engine (a decision table): one at a time, and 100 at once, in turns. Each of the two takes part where it
// is installed: `npm install --no-save json-rules-engine @gorules/zen-engine`. BENCH_SECONDS: how long a turn is.
import { leavesFor, loadRules } from '../src/client/client.ts';
import { median } from './median.ts';

const SECONDS = Number(process.env.BENCH_SECONDS ?? 1);
const ROUNDS = 3;
const AT_ONCE = 100;
const KEYS = Array.from({ length: 20 }, (_, index) => `k${index}`);
const FACTS: Readonly<Record<string, number>> = Object.fromEntries(KEYS.map((key) => [key, 100]));

/** Evaluates the rule once and resolves to the coupon that it gives. */
type Evaluate = () => Promise<unknown>;

async function rulesOfOurs(): Promise<Evaluate> {
  const { flow, result } = leavesFor<Record<string, number>>();
  const ids = KEYS.map((_, index) => index + 2);
  const rules = await loadRules<Record<string, number>>(
    {
      rules: [{ id: 1, confId: 1, status: 1 }],
      nodes: [
        { id: 1, type: 1, sonIds: [...ids, 100].join(',') },
        ...KEYS.map((key, index) => ({ id: index + 2, type: 5, confName: 'AtLeast', confField: { key, min: 50 } })),
        { id: 100, type: 6, confName: 'Give', confField: { amount: 10 } },
      ],
    },
    {
      leaves: {
        AtLeast: flow({ key: '', min: 0 }, (service, { key, min }) => service.double(key, 0) >= min),
        Give: result({ amount: 0 }, (service, { amount }) => {
          service.put('coupon', amount);
          return true;
        }),
      },
    },
  );
  return async () => (await rules.run({ ruleId: 1, data: FACTS })).data.coupon;
}

/** Not dependencies: only this comparison needs them, and zen's binaries keep `npm ci` from working on other platforms. */
const JSON_RULES_ENGINE = 'json-rules-engine';
const ZEN = '@gorules/zen-engine';

async function rulesOfJsonRulesEngine(): Promise<Evaluate | null> {
  const peer = await import(JSON_RULES_ENGINE).catch(() => null);
  if (peer === null) return null;
  const engine = new peer.Engine();
  engine.addRule({
    conditions: { all: KEYS.map((fact) => ({ fact, operator: 'greaterThanInclusive', value: 50 })) },
    event: { type: 'coupon', params: { amount: 10 } },
  });
  return async () => (await engine.run({ ...FACTS })).events[0]?.params?.amount;
}

async function rulesOfZen(): Promise<Evaluate | null> {
  const zen = await import(ZEN).catch(() => null);
  if (zen === null) return null;
  const inputs = KEYS.map((key) => ({ id: key, name: key, field: key }));
  const row = { _id: 'row', ...Object.fromEntries(KEYS.map((key) => [key, '>= 50'])), coupon: '10' };
  const content = {
    hitPolicy: 'first',
    inputs,
    outputs: [{ id: 'coupon', name: 'coupon', field: 'coupon' }],
    rules: [row],
  };
  const graph = {
    nodes: [
      { id: 'in', name: 'in', type: 'inputNode', position: { x: 0, y: 0 } },
      { id: 'table', name: 'table', type: 'decisionTableNode', position: { x: 0, y: 0 }, content },
      { id: 'out', name: 'out', type: 'outputNode', position: { x: 0, y: 0 } },
    ],
    edges: [
      { id: 'a', sourceId: 'in', targetId: 'table', type: 'edge' },
      { id: 'b', sourceId: 'table', targetId: 'out', type: 'edge' },
    ],
  };
  const decision = new zen.ZenEngine().createDecision(Buffer.from(JSON.stringify(graph)));
  return async () => Object(await decision.evaluate(FACTS)).result?.coupon;
}

async function perSecond(evaluate: Evaluate, atOnce: number): Promise<number> {
  const began = performance.now();
  const until = began + SECONDS * 1000;
  let runs = 0;
  while (performance.now() < until) {
    if (atOnce === 1) for (let each = 0; each < AT_ONCE; each++) await evaluate();
    else await Promise.all(Array.from({ length: atOnce }, evaluate));
    runs += AT_ONCE;
  }
  return (runs / (performance.now() - began)) * 1000;
}

const peer = await rulesOfJsonRulesEngine();
const zen = await rulesOfZen();
const engines: Record<string, Evaluate> = {
  'this SDK': await rulesOfOurs(),
  ...(peer && { 'json-rules-engine': peer }),
  ...(zen && { 'zen-engine, decision table': zen }),
};
for (const [name, one] of [
  [JSON_RULES_ENGINE, peer],
  [ZEN, zen],
] as const)
  if (one === null) console.log(`Without ${name}, which is not installed.`);
const figures = new Map<string, { one: number[]; many: number[] }>();
for (const [name, evaluate] of Object.entries(engines)) {
  const coupon = await evaluate();
  if (coupon !== 10) throw new Error(`${name} gives a coupon of ${String(coupon)}, not of 10`);
  figures.set(name, { one: [], many: [] });
}
for (let round = 0; round < ROUNDS; round++)
  for (const [name, evaluate] of Object.entries(engines)) {
    figures.get(name)?.one.push(await perSecond(evaluate, 1));
    figures.get(name)?.many.push(await perSecond(evaluate, AT_ONCE));
  }
const shown = (values: readonly number[]) => Math.round(median(values)).toLocaleString('en').padStart(10);
console.log(
  `One rule of ${KEYS.length} conditions and a consequence, evaluations a second, median of ${ROUNDS} turns of ${SECONDS} s:`,
);
console.log(`${''.padEnd(30)}  one at a time   ${AT_ONCE} at once`);
for (const [name, { one, many }] of figures) console.log(`${name.padEnd(30)}    ${shown(one)}   ${shown(many)}`);
process.exit();
