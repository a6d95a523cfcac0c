import { causeOf, type Fault } from '../../shared/reasons/causes.ts';
import type { Rule } from '../../shared/rules/rule-file.ts';
import { sidesOf } from '../../shared/rules/time-window.ts';
import { findCycle } from '../../shared/rules/walk.ts';
import type { Node } from '../engine/node.ts';
import { type Found, type Rules, type Selection, sentenceOf } from '../engine/selection.ts';
import type { Registry } from '../leaves/registry.ts';
import { type Linked, linkNodes } from './link-nodes.ts';
import type { Released } from './released-files.ts';

export type RuleSet = Rules & {
  readonly version: bigint;
  readonly released: Released;
  readonly linked: Linked;
  /** The faults of the released files, one sentence each. */
  readonly problems: readonly string[];
  /** The rules of a scene, by id. */
  inScene(scene: string): readonly bigint[];
};

type Checked = {
  cycle: readonly Node[] | null;
  nodes: ReadonlySet<Node>;
  leftOut: Extract<Found, { kind: 'found' }>['leftOut'];
  rivals: readonly Fault[];
};

type Options = {
  /** Leaves that did not change are taken over from this one. */
  before?: RuleSet;
  /** Refuses to run a tree of which a node is left out (it may be the condition that guards a consequence), or has two files. */
  strict?: boolean;
};

/** The released rules of one version, ready to run. */
export function createRuleSet(released: Released, registry: Registry, { before, strict }: Options = {}): RuleSet {
  const linked = linkNodes(released, registry, before?.linked);
  const find = createFind(released, linked, strict);
  const rules = [...released.rules.values()];
  const problems = [...released.problems, ...linked.problems, ...rules.flatMap(problemsOf)];

  function problemsOf({ id, confId }: Rule): string[] {
    if (confId === null) return [`rule ${id} has no root (confId): running it does nothing`];
    const found = find({ ruleId: id, confId: null });
    return found.kind === 'refused' ? [found.reason] : [];
  }

  const inScene = (scene: string) => idsIn(rules, scene);
  return { version: released.version, released, linked, problems, find, inScene };
}

function idsIn(rules: readonly Rule[], scene: string): readonly bigint[] {
  const ids = rules.filter(({ scenes }) => scenes.includes(scene)).map(({ id }) => id);
  return ids.sort((one, other) => (one < other ? -1 : 1));
}

/** Looks up where a run begins. */
function createFind(released: Released, linked: Linked, strict: boolean | undefined): Rules['find'] {
  const check = createCheck(released);

  function find({ ruleId, confId, scene }: Selection): Found {
    if (ruleId !== null) return findInRule(ruleId, confId);
    if (confId === null)
      return refused(
        scene ? `no rule is in the scene ${JSON.stringify(scene)}` : 'neither a rule nor a node is asked for',
      );
    const start = linked.nodes.get(confId);
    return start ? startAt(start, `node ${confId}`) : refused(`there is no node ${confId}${because(confId)}`);
  }

  function findInRule(ruleId: bigint, confId: bigint | null): Found {
    const rule = released.rules.get(ruleId);
    if (rule === undefined) {
      const reason = released.unreadable?.rules.get(ruleId);
      return refused(`there is no rule ${ruleId}${reason === undefined ? '' : ` (${reason})`}`);
    }
    const root = rule.confId === null ? null : (linked.nodes.get(rule.confId) ?? undefined);
    if (root === undefined)
      return refused(`rule ${ruleId} cannot run: its root ${rule.confId} is missing${because(rule.confId)}`);
    if (confId === null) {
      if (root !== null) return startAt(root, `rule ${ruleId}`, rule);
      return { kind: 'found', start: null, window: sidesOf(rule.timeWindow), leftOut: [], nodes: new Set() };
    }
    const start = root && [...check(root).nodes].find(({ id }) => id === confId);
    return start
      ? startAt(start, `node ${confId}`)
      : refused(`node ${confId} is not part of rule ${ruleId}${because(confId)}`);
  }

  function startAt(start: Node, what: string, rule?: Rule): Found {
    const { cycle, leftOut, nodes, rivals } = check(start);
    const [missing] = leftOut;
    if (cycle === null && strict && missing)
      return refused(`${what} is not run, because nothing may be left out of it (strict): ${sentenceOf(missing)}`);
    const rival = rule?.rivals[0] ?? rivals[0];
    if (cycle === null && strict && rival)
      return refused(`${what} is not run, because nothing may be in doubt (strict): ${causeOf(rival)}`);
    if (cycle === null) return { kind: 'found', start, window: rule ? sidesOf(rule.timeWindow) : null, leftOut, nodes };
    const ids = [...cycle, ...cycle.slice(0, 1)].map(({ id }) => id);
    return refused(`${what} cannot run: its nodes go round in a circle, ${ids.join(' → ')}`);
  }

  function because(id: bigint | null): string {
    const reason = id === null ? undefined : linked.refused.get(id);
    return reason === undefined ? '' : ` (${reason})`;
  }

  return find;
}

/** The nodes that run after a node, in order: first its forward condition, then its children. */
function nextOf({ forward, children }: Node): readonly Node[] {
  return forward === null ? children : [forward, ...children];
}

/** The nodes below a node, each visited once. */
function createCheck({ nodes: files }: Released) {
  const checks = new Map<Node, Checked>();
  return function check(start: Node): Checked {
    const known = checks.get(start);
    if (known) return known;
    const nodes = new Set([start]);
    for (const node of nodes) for (const next of nextOf(node)) nodes.add(next);
    const leftOut = [...nodes].flatMap((node) => node.leftOut.map((left) => ({ ...left, under: node.id })));
    const rivals = [...nodes].flatMap(({ id }) => files.get(id)?.rivals ?? []);
    const checked = { cycle: findCycle(start, nextOf), nodes, leftOut, rivals };
    checks.set(start, checked);
    return checked;
  };
}

function refused(reason: string): Found {
  return { kind: 'refused', reason };
}
