import { isDeepStrictEqual } from 'node:util';
import type { RuleSet } from '../../src/client/rules/rule-set.ts';
import { readResult } from '../../src/shared/reasoning/result.ts';
import type { NodeTrace } from '../../src/shared/reasoning/trace/node-trace.ts';
import { replayResult } from '../../src/shared/reasoning/trace/replay-result.ts';
import { occurrencesOf } from '../../src/shared/reasoning/tree.ts';
import { type SmallestChange, smallestChange, wayToOther } from '../../src/shared/reasoning/what-if/smallest-change.ts';
import {
  CITIES,
  chanceOf,
  type Input,
  KEYS,
  type Kind,
  nodesOf,
  type RandomNode,
  randomInput,
  randomRule,
  treeOf,
} from './random-rule.ts';
import { jsonOf, type Ran, ruleSetOf, run } from './run-rule.ts';

/** So few keys that everything can be tried. */
const MOST_TRIED = 3;

const declared: Kind = { leaves: { Compared: 0.84, Gives: 0.08, LooksUp: 0.08 }, windows: 0.1, nodes: 20 };
const partly: Kind = { leaves: { Compared: 0.7, Gives: 0.1, LooksUp: 0.1, IsOdd: 0.1 }, windows: 0.1, nodes: 20 };

export type Found = 'minimal' | 'as good as can be told' | 'nothing said' | 'nothing to say' | 'not tried';

/** Computes the smallest change of one random run, and compares it with everything that could be changed, run by the engine. */
export async function checkSmallest(seed: number): Promise<Found> {
  const chance = chanceOf(seed);
  const kind = chance.yes(0.75) ? declared : partly;
  const rule = assumedTrue(randomRule(chance, kind));
  const rules = ruleSetOf(rule);
  const input = randomInput(chance, chance.pick([0, 0, 0.5, 1]));
  const ts = chance.pick([500, 1500, 2500]);
  const tellsMissing = chance.yes(0.7);
  const occurrences = occurrencesOf(treeOf(rule, tellsMissing ? 'all' : 'nothing of missing'));
  const { outcome, text } = await run(rules, input, { ts });
  const { replay } = replayResult(readResult(text), occurrences);
  const asked = { occurrences, nodeTraces: replay.nodeTraces, tracesReads: true, input: jsonOf(input), ranAt: ts };
  const found = wayToOther(asked);
  const to = outcome === 'TRUE' ? 'FALSE' : 'TRUE';
  const reaches = async (changed: Input) => (await run(rules, changed, { ts })).outcome === to;
  const told = `seed ${seed}: ${JSON.stringify(input)} → ${to} with ${JSON.stringify(found?.changes)} of ${text}`;
  if (found === null) {
    const least = await leastKeys(rules, { input, ts, to, most: 2 });
    if (least === null) return 'nothing to say';
    if (kind === partly || !tellsMissing) return 'nothing said';
    throw new Error(`a change of ${least} keys was not found: ${told}`);
  }
  if (found.to !== to || !(await reaches(changedBy(input, found))))
    throw new Error(`it does not come to that: ${told}`);
  const size = found.changes.length;
  if (size > MOST_TRIED) return 'not tried';
  const least = await leastKeys(rules, { input, ts, to, most: size - 1 });
  if (least === null) return 'minimal';
  if (found.undeclared.length > 0 || kind === partly) return 'as good as can be told';
  throw new Error(`${least} keys would do: ${told}`);
}

function changedBy(input: Input, { changes }: SmallestChange): Input {
  return { ...input, ...Object.fromEntries(changes.map(({ key, after }) => [key, JSON.parse(after)])) };
}

const gridOf = (key: string) =>
  key === 'city' ? [...CITIES, '?'] : Array.from({ length: 27 }, (_, index) => (index - 2) / 2);

/** How many keys have to change, by trying everything; null where `most` do not do. */
async function leastKeys(
  rules: RuleSet,
  { input, ts, to, most }: { input: Input; ts: number; to: string; most: number },
): Promise<number | null> {
  for (let size = 1; size <= most; size++) if (await tryFrom(0, size, input)) return size;
  return null;

  async function tryFrom(from: number, left: number, now: Input): Promise<boolean> {
    if (left === 0)
      return !isDeepStrictEqual(now, input) && (await run(rules, now, { ts, withSteps: false })).outcome === to;
    for (let index = from; index < KEYS.length; index++)
      for (const value of gridOf(KEYS[index] ?? ''))
        if (await tryFrom(index + 1, left - 1, { ...now, [KEYS[index] ?? '']: value })) return true;
    return false;
  }
}

/** Any result of many seeds counted. */
export async function checkAll(seeds: Iterable<number>): Promise<Partial<Record<Found, number>>> {
  const counts: Partial<Record<Found, number>> = {};
  for (const seed of seeds) {
    const found = await checkSmallest(seed);
    counts[found] = (counts[found] ?? 0) + 1;
  }
  return counts;
}

/** Computes an input that reaches a node that a random run did not reach, and runs it. False where none is said. */
export async function checkReached(seed: number): Promise<boolean> {
  const chance = chanceOf(seed);
  const rule = assumedTrue(randomRule(chance, declared));
  const rules = ruleSetOf(rule);
  const input = randomInput(chance, chance.pick([0, 0.5]));
  const occurrences = occurrencesOf(treeOf(rule));
  const nodeTracesOf = ({ text }: Ran) => replayResult(readResult(text), occurrences).replay.nodeTraces;
  const nodeTraces = nodeTracesOf(await run(rules, input));
  const hasRun = (nodeTrace: NodeTrace | undefined) =>
    nodeTrace !== undefined && nodeTrace.outcome !== 'REJECTED' && nodeTrace.outcome !== 'OUT_OF_TIME';
  const missed = occurrences.find((at) => !hasRun(nodeTraces.get(at)));
  const asked = { occurrences, nodeTraces, tracesReads: true, input: jsonOf(input), ranAt: 1 };
  const change = missed && smallestChange(asked, { reached: missed });
  if (!missed || !change) return false;
  const changed = changedBy(input, change);
  if (!hasRun(nodeTracesOf(await run(rules, changed)).get(missed)))
    throw new Error(`seed ${seed}: #${missed.node.id} is not reached with ${JSON.stringify(changed)}`);
  return true;
}

/** What a consequence comes to is assumed, and said so. */
function assumedTrue(rule: RandomNode): RandomNode {
  for (const { leaf, settings } of nodesOf(rule)) if (leaf === 'Gives') settings.says = true;
  return rule;
}
