import { compactJson } from '../../json-tree/print-json.ts';
import { type Json, readJson } from '../../json-tree/read-json.ts';
import { valueAt } from '../../json-tree/value-at.ts';
import type { Condition } from '../comparison.ts';
import { constantOf, kindOf } from '../constant.ts';
import { pathOfKey } from '../key-path.ts';
import { type Decision, decisionOf, type Mark } from '../trace/mark.ts';
import { isLeaf, isParallel, type Occurrence } from '../tree.ts';
import { type Candidate, candidatesOf } from './candidates.ts';
import { createWhatIf } from './compute.ts';

/** One key with another value, both as JSON text. `before`: null when the input had none. `other`: any other text would do as well. */
export type KeyChange = { key: string; path: string[]; before: string | null; after: string; other: boolean };

/** `assumed`: consequences that have to be TRUE for it; this is assumed, as in a dry run. */
export type SmallestChange = { changes: KeyChange[]; assumed: Occurrence[] };

/** A run whose input is to be changed. */
export type RunToChange = {
  occurrences: readonly Occurrence[];
  marks: ReadonlyMap<Occurrence, Mark>;
  tracesReads: boolean;
  input: Json | null;
  /** Epoch ms. */
  ranAt: number;
};

/** The goal: a result of the whole rule, or that an occurrence runs at all. */
type Goal = { decision: Decision } | { reached: Occurrence };

const MOST_KEYS = 6;
const MOST_VISITS = 200_000;

/**
 * The smallest change of its input with which a rule would have come to what is wanted: the fewest keys, then the fewest changed characters.
 * Computed from one run, without running anything. Null where nothing can be said for sure: the leaves that decide declare no
 * comparison, another leaf writes what they read, or there are too many ways to try.
 */
export function smallestChange({ input, ...asked }: RunToChange, goal: Goal): SmallestChange | null {
  const values = new Map<string, Json | undefined>();
  const inputAt = (key: string, nested: boolean) => {
    if (!values.has(key)) values.set(key, input === null ? undefined : valueAt(input, pathOfKey(key, nested)));
    return values.get(key);
  };
  const whatIf = createWhatIf({ ...asked, input: inputAt });
  const now = whatIf.compute(new Map());
  const [root] = asked.occurrences;
  const mark = root && asked.marks.get(root);
  // Where the run that was is not computed as it was, nothing else is either.
  if (input === null || !mark || now.decision === null || now.decision !== decisionOf(mark)) return null;
  const search = { whatIf, keys: keysOf(whatIf.conditionsOf(), inputAt), aim: aimOf(goal, root) };
  if (search.aim.isReached(now)) return null;
  return searchSmallest(search, now, Math.floor(MOST_VISITS / asked.occurrences.length));
}

/** The smallest change with which a run that was not TRUE would have been. */
export function wayToTrue(asked: RunToChange): SmallestChange | null {
  const [root] = asked.occurrences;
  const mark = root && asked.marks.get(root);
  const decision = mark ? decisionOf(mark) : null;
  return decision === null || decision === 'TRUE' ? null : smallestChange(asked, { decision: 'TRUE' });
}

type WhatIf = ReturnType<typeof createWhatIf>;
type Computed = ReturnType<WhatIf['compute']>;
type Search = { whatIf: WhatIf; keys: ReadonlyMap<string, Key>; aim: ReturnType<typeof aimOf> };
type Changed = KeyChange & { value: Json };
type Key = { key: string; path: string[]; now: Json | undefined; candidates: (Candidate & { value: Json })[] };

function aimOf(goal: Goal, root: Occurrence) {
  return {
    isReached: ({ decision, isDisturbed, ran }: Computed) =>
      'decision' in goal ? decision === goal.decision : !isDisturbed && ran.has(goal.reached),
    /** Of these leaves one has to come out otherwise. */
    through: ({ decisions }: Computed) =>
      'decision' in goal ? leavesThatMatter(root, decisions) : leavesBefore(goal.reached, decisions),
  };
}

/** Changes one key more with every turn, so the first turn that finds something has the fewest. `most`: so many changes are tried. */
function searchSmallest({ whatIf, keys, aim }: Search, now: Computed, most: number): SmallestChange | null {
  const tried = new Set<string>();
  let level: { changes: Changed[]; computed: Computed }[] = [{ changes: [], computed: now }];
  for (let size = 1; size <= MOST_KEYS && level.length > 0; size++) {
    const next: typeof level = [];
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
    const found = next.filter(({ computed }) => aim.isReached(computed));
    if (found.length > 0) return withAssumed(leastOf(found), { whatIf, aim });
    level = next;
  }
  return null;
}

/** The same changes, and one more of a key that one of the conditions compares. */
function extended(changes: readonly Changed[], conditions: readonly Condition[], keys: Search['keys']): Changed[][] {
  const names = new Set(conditions.map(({ key }) => key));
  for (const { key } of changes) names.delete(key);
  return [...names].flatMap((name) => {
    const key = keys.get(name);
    return key ? key.candidates.map((candidate) => [...changes, changeOf(key, candidate)]) : [];
  });
}

function keysOf(
  conditions: readonly Condition[],
  inputAt: (key: string, nested: boolean) => Json | undefined,
): Map<string, Key> {
  const keys = new Map<string, Key>();
  for (const { key, nested } of conditions) {
    if (keys.has(key)) continue;
    const now = inputAt(key, nested);
    const candidates = candidatesOf(
      conditions.filter((condition) => condition.key === key),
      now,
    ).flatMap((candidate) => {
      const read = readJson(candidate.text);
      const isNow = now !== undefined && compactJson(now) === candidate.text;
      return read.kind === 'ok' && !isNow ? [{ ...candidate, value: read.root }] : [];
    });
    keys.set(key, { key, path: pathOfKey(key, nested), now, candidates });
  }
  return keys;
}

function changeOf({ key, path, now }: Key, { text, other, value }: Key['candidates'][number]): Changed {
  return { key, path, before: now === undefined ? null : compactJson(now), after: text, other, value };
}

function idOf(changes: readonly Changed[]): string {
  return JSON.stringify(changes.map(({ key, after }) => [key, after]).sort());
}

type Found = { changes: readonly Changed[]; computed: Computed };

function leastOf(found: readonly Found[]): Found {
  const sized = found.map((one) => ({
    ...one,
    characters: one.changes.reduce((sum, { before, after }) => sum + distance(before ?? '', after), 0),
  }));
  return sized.reduce((best, each) => (each.characters < best.characters ? each : best));
}

function withAssumed({ changes, computed }: Found, { whatIf, aim }: Pick<Search, 'whatIf' | 'aim'>): SmallestChange {
  const assignment = assignmentOf(changes);
  return {
    changes: changes.map(({ value: _, ...change }) => change),
    assumed: computed.assumed.filter((at) => !aim.isReached(whatIf.compute(assignment, at))),
  };
}

function assignmentOf(changes: readonly Changed[]): Map<string, Json> {
  return new Map(changes.map(({ key, value }) => [key, value]));
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

type Decisions = ReadonlyMap<Occurrence, Decision | null>;

/**
 * The leaves of which at least one has to come out otherwise for an occurrence to do so. What AND came to by a FALSE child stays as it is
 * while that child does; so does what ANY and ALL came to by a TRUE one.
 */
function leavesThatMatter(at: Occurrence, decisions: Decisions): Occurrence[] {
  const decision = decisions.get(at);
  if (decision === undefined) return [];
  const condition = at.forward === null ? [] : leavesThatMatter(at.forward, decisions);
  if (at.forward && decisions.get(at.forward) === 'FALSE') return condition;
  if (isLeaf(at.node)) return [...condition, at];
  const all = () => at.children.flatMap((child) => leavesThatMatter(child, decisions));
  if (decision === null) return [...condition, ...all()];
  const isPassedOn = isParallel(at.node) && at.children.length === 1;
  if (!isPassedOn && constantOf(at.node.type) !== null) return condition;
  const settles = kindOf(at.node.type) === 'And' ? 'FALSE' : 'TRUE';
  const deciding = at.children.find((child) => decisions.get(child) === settles);
  return [...condition, ...(deciding ? leavesThatMatter(deciding, decisions) : all())];
}

/** The leaves of which at least one has to come out otherwise for an occurrence to run that did not. */
function leavesBefore(at: Occurrence, decisions: Decisions): Occurrence[] {
  const { parent } = at;
  // It was asked, so its own condition kept it from running.
  if (decisions.has(at)) return at.forward === null ? [] : leavesThatMatter(at.forward, decisions);
  if (parent === null) return [];
  if (!decisions.has(parent)) return leavesBefore(parent, decisions);
  const { forward } = parent;
  if (forward && (decisions.get(forward) ?? 'FALSE') === 'FALSE') return leavesThatMatter(forward, decisions);
  const last = parent.children.findLast((child) => decisions.has(child));
  return last ? leavesThatMatter(last, decisions) : [];
}
