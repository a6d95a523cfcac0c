import { isDeepStrictEqual } from 'node:util';
import { compare } from '../../src/shared/conclusions/compare.ts';
import { conclusionOf, factsOfTrees } from '../../src/shared/conclusions/conclusion.ts';
import { chanceOf, changedRule, type Kind, randomInput, randomRule, TIMES, treeOf } from './random-rule.ts';
import { type Ran, ruleSetOf, run } from './run-rule.ts';

const LEAVES = { Compared: 0.5, IsOdd: 0.1, Fails: 0.05, Gives: 0.2, LooksUp: 0.1, Sets: 0.05 };

export type Counts = Record<string, number>;

/**
 * Compares recorded runs of a random rule with runs of the rule after a change, and the answers with what both versions do for real. Throws
 * where "same" is not, "changed" has no difference, or nothing is known though everything was told.
 */
export async function checkReplay(seed: number, inputs: number): Promise<Counts> {
  const chance = chanceOf(seed);
  const kind: Kind = { leaves: LEAVES, windows: 0.1, nodes: 5 + chance.below(56) };
  const rule = randomRule(chance, kind);
  const changed = changedRule(rule, chance);
  const [old, now] = [ruleSetOf(rule), ruleSetOf(changed)];
  const trees = [treeOf(rule), treeOf(changed)];
  const how = { dryRun: chance.yes(0.5), withSteps: chance.yes(0.7) };
  const knowsTrees = chance.yes(0.8);
  const counts: Counts = {};
  for (let index = 0; index < inputs; index++) {
    const input = randomInput(chance, 0.1);
    const ts = (chance.pick(TIMES) ?? 0) + 500;
    const before = await run(old, input, { ts, withSteps: how.withSteps });
    const after = await run(now, input, { ts, ...how });
    const real = how.dryRun ? await run(now, input, { ts }) : after;
    const [one, other] = [before, after].map(({ text, success }, index) => {
      const facts = factsOfTrees(trees, trees.slice(index, index + 1));
      return conclusionOf({ input: JSON.stringify(input), body: text, success, ...(knowsTrees && { facts }) });
    });
    if (!one || !other) throw new Error('no conclusion');
    const compared = compare(one, other);
    // A node below a parallel one may go on after the trace was written, and the order of such nodes means nothing.
    const isWhole = ![before, after].some(({ text }) => text.includes(':P-'));
    const differs = differences(before, real, isWhole);
    const known = compared.kind === 'same' ? [] : compared.changes.map(({ part }) => part);
    const tell = () =>
      `seed ${seed}, input ${JSON.stringify(input)}, ts ${ts}, ${JSON.stringify({ ...how, knowsTrees })}: ${JSON.stringify(compared)}; really: ${JSON.stringify(differs)}\nbefore ${before.text}\nafter  ${after.text}\nreally ${real.text}\nactions ${before.actions} → ${real.actions}`;
    if (compared.kind === 'same' && differs.length > 0) throw new Error(`it is not the same: ${tell()}`);
    for (const part of known) if (!differs.includes(part)) throw new Error(`${part} did not change: ${tell()}`);
    if (compared.kind === 'unknown' && !how.dryRun && knowsTrees && isWhole)
      throw new Error(`everything was told: ${tell()}`);
    const told = isWhole ? '' : ', nodes in parallel';
    const key = `${how.dryRun ? 'dry' : 'real'}, ${compared.kind}${told}`;
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}

/** What differs between two real runs. */
function differences(before: Ran, after: Ran, inOrder: boolean): string[] {
  const acted = ({ actions }: Ran) => (inOrder ? actions : [...actions].sort((a, b) => a - b));
  const [one, other] = [before, after].map(({ text }) => JSON.parse(text));
  return [
    ...(before.outcome === after.outcome && before.success === after.success ? [] : ['outcome']),
    ...(one.error === other.error ? [] : ['error']),
    ...(isDeepStrictEqual(acted(before), acted(after)) ? [] : ['actions']),
    ...(isDeepStrictEqual(one['the service'], other['the service']) ? [] : ['data']),
  ];
}
