import { compactJson } from '../../json-tree/print-json.ts';
import { type Json, readJson } from '../../json-tree/read-json.ts';
import type { Condition } from '../comparison.ts';
import { constantOf, kindOf } from '../constant.ts';
import { pathOfKey, placeOf } from '../key-path.ts';
import { type Decision, decisionOf } from '../trace/node-trace.ts';
import { isLeaf, isParallel, type Occurrence } from '../tree.ts';
import { type Candidate, candidatesOf } from './candidates.ts';
import { type Computed, createWhatIf } from './compute.ts';
import type { RunToChange } from './leaf-in-run.ts';
import { may, mayFail, type Outcomes, only, settling } from './outcomes.ts';

/** One key with another value, both as JSON text. `before`: null when the input had none. `other`: any other text would do as well. */
export type KeyChange = { key: string; path: string[]; before: string | null; after: string; other: boolean };

/**
 * `assumed`: consequences that have to be TRUE for it; this is assumed, as in a dry run. `undeclared`: conditions that do not declare what
 * they come to without a value; by them fewer keys may do.
 */
export type SmallestChange = { changes: KeyChange[]; assumed: Occurrence[]; undeclared: Occurrence[] };

/** The goal: a result of the whole rule, or that an occurrence runs at all. */
type Goal = { decision: Decision } | { reached: Occurrence };

const MOST_KEYS = 6;
const MOST_VISITS = 200_000;

/**
 * The smallest change of its input with which a rule would have come to what is wanted: the fewest keys, then the fewest changed characters.
 * Values are put in or replaced, none is taken out. Computed from one run, without running anything. Null where nothing can be said for
 * sure: the leaves that decide declare no comparison, another leaf writes what they read, or there are too many ways to try.
 */
export function smallestChange(asked: RunToChange, goal: Goal): SmallestChange | null {
  const whatIf = createWhatIf(asked);
  const now = whatIf.compute(new Map());
  const [root] = asked.occurrences;
  const decision = cameTo(asked);
  // Where the run that was is not computed as it was, nothing else is either.
  if (asked.input === null || !root || now.isDisturbed || decision === null || now.outcomes !== only(decision))
    return null;
  const search = { whatIf, keys: keysOf(whatIf), aim: aimOf(goal, root) };
  if (search.aim.reached(now) !== 'no') return null;
  return searchSmallest(search, now, Math.floor(MOST_VISITS / asked.occurrences.length));
}

/** The smallest change with which a run would have come to the other decision: TRUE for one that was not, else FALSE. */
export function wayToOther(asked: RunToChange): (SmallestChange & { to: Decision }) | null {
  const decision = cameTo(asked);
  const to = decision === 'TRUE' ? 'FALSE' : 'TRUE';
  const change = decision && smallestChange(asked, { decision: to });
  return change && { ...change, to };
}

function cameTo({ occurrences: [root], nodeTraces }: RunToChange): Decision | null {
  return decisionOf(root && nodeTraces.get(root));
}

type WhatIf = ReturnType<typeof createWhatIf>;
type Search = { whatIf: WhatIf; keys: ReadonlyMap<string, Key>; aim: ReturnType<typeof aimOf> };
type Changed = KeyChange & { value: Json };
type Key = { key: string; path: string[]; now: Json | undefined; candidates: (Candidate & { value: Json })[] };

function aimOf(goal: Goal, root: Occurrence) {
  return {
    reached({ outcomes, isDisturbed, ran }: Computed): 'yes' | 'no' | 'maybe' {
      if (isDisturbed) return 'no';
      if (!('decision' in goal)) return ran.has(goal.reached) ? (ran.get(goal.reached) ? 'yes' : 'maybe') : 'no';
      return outcomes === only(goal.decision) ? 'yes' : may(outcomes, goal.decision) ? 'maybe' : 'no';
    },
    /** Of these leaves one has to come out otherwise. */
    through: (computed: Computed) =>
      'decision' in goal ? leavesThatMatter(root, computed) : leavesBefore(goal.reached, computed),
  };
}

type Found = { changes: readonly Changed[]; computed: Computed };

/** Changes one key more with every turn, so the first turn that finds something has the fewest. `most`: so many changes are tried. */
function searchSmallest({ whatIf, keys, aim }: Search, now: Computed, most: number): SmallestChange | null {
  const tried = new Set<string>();
  let level: Found[] = [{ changes: [], computed: now }];
  let undeclared: Occurrence[] = [];
  for (let size = 1; size <= MOST_KEYS && level.length > 0; size++) {
    const next: Found[] = [];
    for (const { changes: before, computed } of level) {
      const conditions = whatIf.conditionsOf(aim.through(computed));
      for (const changes of extended(before, conditions, keys)) {
        const id = idOf(changes);
        if (tried.has(id)) continue;
        if (tried.size >= most) return null;
        tried.add(id);
        next.push({ changes, computed: whatIf.compute(assignmentOf(changes)) });
      }
    }
    const found = next.filter(({ computed }) => aim.reached(computed) === 'yes');
    if (found.length > 0) return { ...withAssumed(leastOf(found), { whatIf, aim }), undeclared };
    if (undeclared.length === 0)
      undeclared = next.find(({ computed }) => aim.reached(computed) === 'maybe')?.computed.undeclared ?? [];
    level = next;
  }
  return null;
}

/** The same changes, and one more of a key that one of the conditions compares. */
function extended(changes: readonly Changed[], conditions: readonly Condition[], keys: Search['keys']): Changed[][] {
  const places = new Set(conditions.map(placeOf));
  for (const { path } of changes) places.delete(JSON.stringify(path));
  return [...places].flatMap((place) => {
    const key = keys.get(place);
    return key ? key.candidates.map((candidate) => [...changes, changeOf(key, candidate)]) : [];
  });
}

function keysOf({ inputAt, conditionsOf }: WhatIf): Map<string, Key> {
  const conditions = conditionsOf();
  const keys = new Map<string, Key>();
  for (const condition of conditions) {
    const { key, nested } = condition;
    const place = placeOf(condition);
    if (keys.has(place)) continue;
    const now = inputAt(key, nested);
    const candidates = candidatesOf(
      conditions.filter((each) => placeOf(each) === place),
      now,
    ).flatMap((candidate) => {
      const read = readJson(candidate.text);
      const isNow = now !== undefined && compactJson(now) === candidate.text;
      return read.kind === 'ok' && !isNow ? [{ ...candidate, value: read.root }] : [];
    });
    keys.set(place, { key, path: pathOfKey(key, nested), now, candidates });
  }
  return keys;
}

function changeOf({ key, path, now }: Key, { text, other, value }: Key['candidates'][number]): Changed {
  return { key, path, before: now === undefined ? null : compactJson(now), after: text, other, value };
}

function idOf(changes: readonly Changed[]): string {
  return JSON.stringify(changes.map(({ path, after }) => JSON.stringify([path, after])).sort());
}

function leastOf(found: readonly Found[]): Found {
  const sized = found.map((one) => ({
    ...one,
    characters: one.changes.reduce((sum, { before, after }) => sum + distance(before ?? '', after), 0),
  }));
  return sized.reduce((best, each) => (each.characters < best.characters ? each : best));
}

function withAssumed({ changes, computed }: Found, { whatIf, aim }: Pick<Search, 'whatIf' | 'aim'>) {
  const assignment = assignmentOf(changes);
  return {
    changes: changes.map(({ value: _, ...change }) => change),
    assumed: computed.assumed.filter((at) => aim.reached(whatIf.compute(assignment, at)) !== 'yes'),
  };
}

function assignmentOf(changes: readonly Changed[]) {
  return new Map(changes.map(({ key, path, value }) => [JSON.stringify(path), { key, value }]));
}

/** How many characters have to be put in, left out or replaced to make one text the other (Levenshtein). */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

/**
 * The leaves of which at least one has to come out otherwise for an occurrence to do so. What AND came to by a FALSE child stays as it is
 * while that child does; so does what ANY and ALL came to by a TRUE one.
 */
function leavesThatMatter(at: Occurrence, computed: Computed): Occurrence[] {
  const outcomes = computed.at.get(at);
  if (outcomes === undefined) return [];
  const condition = at.forward === null ? [] : leavesThatMatter(at.forward, computed);
  if (at.forward && computed.at.get(at.forward) === only('FALSE')) return condition;
  if (isLeaf(at.node)) return [...condition, at];
  const all = () => [...condition, ...at.children.flatMap((child) => leavesThatMatter(child, computed))];
  const isPassedOn = isParallel(at.node) && at.children.length === 1;
  if (isPassedOn || mayFail(outcomes)) return all();
  if (constantOf(at.node.type) !== null) return condition;
  const strong = only(kindOf(at.node.type) === 'And' ? 'FALSE' : 'TRUE');
  const deciding = at.children.find((child) => computed.at.get(child) === strong);
  return deciding ? [...condition, ...leavesThatMatter(deciding, computed)] : all();
}

/** The leaves of which at least one has to come out otherwise for an occurrence to run that does not, or may not. */
function leavesBefore(at: Occurrence, computed: Computed): Occurrence[] {
  const { forward } = at;
  const before = leavesBeforeTurn(at, computed);
  return before.length > 0 || forward === null ? before : leavesThatMatter(forward, computed);
}

/** The same for the turn of an occurrence to come, whether its own condition then lets it run or not. */
function leavesBeforeTurn(at: Occurrence, computed: Computed): Occurrence[] {
  const { parent, role } = at;
  if (parent === null) return [];
  if (role === 'forward') return leavesBeforeTurn(parent, computed);
  if (computed.ran.get(parent) !== true) return leavesBefore(parent, computed);
  const settles = settling(parent.node.type);
  if (isParallel(parent.node)) return [];
  const ends = (outcomes: Outcomes) => mayFail(outcomes) || (settles !== null && may(outcomes, settles));
  const stopping = parent.children
    .slice(0, parent.children.indexOf(at))
    .find((child) => ends(computed.at.get(child) ?? 0));
  return stopping ? leavesThatMatter(stopping, computed) : [];
}
