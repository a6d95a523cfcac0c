import { triedIn } from '../../src/shared/conclusions/tried.ts';
import { readResult } from '../../src/shared/reasoning/result.ts';
import { replayResult } from '../../src/shared/reasoning/trace/replay-result.ts';
import { occurrencesOf } from '../../src/shared/reasoning/tree.ts';
import { createOutcomeOf, searchSince, type Try } from '../../src/shared/reasoning/what-if/since.ts';
import {
  chanceOf,
  changedRule,
  type Kind,
  nodesOf,
  type RandomNode,
  randomInput,
  randomRule,
  treeOf,
} from './random-rule.ts';
import { jsonOf, ruleSetOf, run } from './run-rule.ts';

const RELEASES = 20;
const LEAVES = { Compared: 0.66, IsOdd: 0.06, Fails: 0.04, Gives: 0.14, LooksUp: 0.06, Sets: 0.04 };

/**
 * Tells what each of 20 releases of a random rule would have come to for a run of the newest, computed and where that cannot be by its leaves, and
 * runs each of them. Throws where a release comes to something else, or another one is named as the first.
 */
export async function checkSince(seed: number): Promise<Record<string, number>> {
  const chance = chanceOf(seed);
  const kind: Kind = { leaves: LEAVES, windows: 0.1, nodes: 5 + chance.below(40) };
  const oldest = randomRule(chance, kind);
  const rules = [oldest];
  for (let release = 1; release < RELEASES; release++)
    rules.push(chance.yes(0.3) ? (rules.at(-1) ?? oldest) : changedRule(rules.at(-1) ?? oldest, chance));
  const releases = rules.map(assumedTrue).map((rule, index) => ({
    ...{ rule, version: String(index + 1), root: treeOf(rule), timeWindow: null, digest: JSON.stringify(treeOf(rule)) },
  }));
  releases.reverse();
  const [newest] = releases;
  if (!newest) throw new Error('no release');
  const input = randomInput(chance, chance.pick([0, 0.3]));
  const ran = await run(ruleSetOf(newest.rule), input);
  const occurrences = occurrencesOf(newest.root);
  const { replay } = replayResult(readResult(ran.text), occurrences);
  const asked = { occurrences, nodeTraces: replay.nodeTraces, tracesReads: true, input: jsonOf(input), ranAt: 1 };
  const counts: Record<string, number> = {};
  const count = (what: string) => {
    counts[what] = (counts[what] ?? 0) + 1;
  };
  const attempted = new Set<string>();
  const attempt: Try = async ({ version, root }) => {
    const release = releases.find((each) => each.version === version);
    if (release === undefined || !root) throw new Error(`no version ${version}`);
    if (attempted.has(version)) throw new Error(`seed ${seed}: the leaves of version ${version} were tried twice`);
    attempted.add(version);
    const { text } = await run(ruleSetOf(release.rule), input, { dryRun: true });
    return triedIn({ input: JSON.stringify(input), body: text, root });
  };
  const outcomeOf = createOutcomeOf(asked, newest, attempt);
  const really: (string | null)[] = [];
  for (const release of releases) {
    const { rule, version } = release;
    really.push((await run(ruleSetOf(rule), input)).outcome);
    const told = await outcomeOf({ ...release }); // as it is read again
    if (told.outcome !== null && told.outcome !== really.at(-1))
      throw new Error(
        `seed ${seed}: version ${version} comes to ${really.at(-1)}, told was ${told.outcome}: ${ran.text}`,
      );
    const how = told.tried ? ', its leaves tried' : '';
    count(told.outcome === null ? `a version that cannot be told${how}` : `a version that was told${how}`);
  }
  const [outcome] = really;
  if (outcome !== 'TRUE' && outcome !== 'FALSE' && outcome !== 'NONE') return counts;
  attempted.clear();
  const versionsFrom = async function* (from: string) {
    yield* releases.slice(releases.findIndex(({ version }) => version === from));
  };
  const found = await searchSince(asked, { outcome, newest }, { versionsFrom, attempt });
  if (found === null || (found.from && found.from.outcome === null)) {
    count('the release cannot be told');
    return counts;
  }
  const first = really.findIndex((each) => each !== outcome);
  const since = (first === -1 ? releases.at(-1) : releases[first - 1])?.version;
  if (found.since.version !== since && (found.from === null || found.from.assumed.length === 0))
    throw new Error(`seed ${seed}: it is since ${since}, told was ${found.since.version}`);
  count('the release was told');
  return counts;
}

/** What a consequence comes to that did not run is assumed, and said so. */
function assumedTrue(rule: RandomNode): RandomNode {
  for (const { leaf, settings } of nodesOf(rule)) if (leaf === 'Gives') settings.says = true;
  return rule;
}
