import { checkReplay } from './replay.ts';
import { checkSince } from './since.ts';
import { checkSmallest } from './smallest.ts';

// `npm run oracle`: compares what is said of random rules with what the engine of the Node client does.
//   smallest [COUNT] [SEED]   the smallest change of COUNT runs (1000) is one, and the smallest
//   replay [COUNT] [SEED]     25 runs of each of COUNT rules (10000) before and after a change: nothing is called same or changed that is not
//   since [COUNT] [SEED]      what each of 20 releases of COUNT rules (500) would have come to, and since when
type Counts = Record<string, number>;
const checks: Record<string, { count: number; check: (seed: number) => Promise<Counts> }> = {
  smallest: { count: 1000, check: async (seed) => ({ [await checkSmallest(seed)]: 1 }) },
  replay: { count: 10_000, check: (seed) => checkReplay(seed, 25) },
  since: { count: 500, check: checkSince },
};

const [what = '', count, from = '1'] = process.argv.slice(2);
const chosen = checks[what];
if (!chosen) {
  console.error(`Give one of ${Object.keys(checks).join(', ')}.`);
  process.exit(2);
}
const counts: Counts = {};
let failed = 0;
for (let seed = Number(from); seed < Number(from) + Number(count ?? chosen.count); seed++) {
  const found = await chosen.check(seed).catch((error: Error): Counts => {
    failed++;
    console.error(error.message);
    return {};
  });
  for (const [name, more] of Object.entries(found)) counts[name] = (counts[name] ?? 0) + more;
}
console.log(counts);
if (failed > 0) console.error(`${failed} seeds failed`);
process.exit(failed > 0 ? 1 : 0);
