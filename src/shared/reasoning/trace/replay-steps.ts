import { idOf, itemsOf, memberOf, numberOf, textOf } from '../../json-tree/members.ts';
import type { Json } from '../../json-tree/read-json.ts';
import type { Occurrence } from '../tree.ts';
import type { NodeTrace, Outcome, Read, Write } from './node-trace.ts';
import type { Replay } from './replay.ts';

const OUTCOMES: readonly Outcome[] = [
  'TRUE',
  'FALSE',
  'NONE',
  'ERROR',
  'REJECTED',
  'OUT_OF_TIME',
  'LEFT_OUT',
  'UNFINISHED',
];

/**
 * Lays a structured trace over the tree. Each step names the step it ran under, so there is nothing to guess; among children
 * with one id the first that is free is taken, as they begin in order.
 */
export function replaySteps(occurrences: readonly Occurrence[], steps: Json): Replay {
  const nodeTraces = new Map<Occurrence, NodeTrace>();
  const placed: (Occurrence | undefined)[] = [];
  const unplaced: Replay['unplaced'] = [];
  for (const step of itemsOf(steps)) {
    const id = idOf(memberOf(step, 'nodeId')) ?? '';
    const parent = numberOf(memberOf(step, 'parent'));
    const candidates =
      parent === null ? occurrences.slice(0, 1) : below(placed[parent], textOf(memberOf(step, 'role')));
    const place = candidates.find((candidate) => candidate.node.id === id && !nodeTraces.has(candidate));
    const nodeTrace = nodeTraceOf(step);
    placed.push(place);
    if (place) nodeTraces.set(place, nodeTrace);
    else unplaced.push({ id, name: textOf(memberOf(step, 'name')) ?? '', nodeTrace });
  }
  return { nodeTraces, unplaced };
}

function below(parent: Occurrence | undefined, role: string | null): Occurrence[] {
  if (!parent) return [];
  if (role !== 'forward') return parent.children;
  return parent.forward ? [parent.forward] : [];
}

const INSTEAD = ['stubbed', 'assumed'] as const;

function nodeTraceOf(step: Json): NodeTrace {
  const written = textOf(memberOf(step, 'outcome'));
  return {
    outcome: OUTCOMES.find((outcome) => outcome === written) ?? 'UNKNOWN',
    inverted: isTrue(memberOf(step, 'inverted')),
    start: numberOf(memberOf(step, 'start')),
    ms: numberOf(memberOf(step, 'ms')),
    late: false,
    error: textOf(memberOf(step, 'error')),
    instead: INSTEAD.find((known) => known === textOf(memberOf(step, 'instead'))) ?? null,
    reads: itemsOf(memberOf(step, 'reads')).map(readOf),
    writes: itemsOf(memberOf(step, 'writes')).map(writeOf),
  };
}

function readOf(access: Json): Read {
  return {
    key: textOf(memberOf(access, 'key')) ?? '',
    value: memberOf(access, 'value') ?? null,
    size: numberOf(memberOf(access, 'valueSize')),
  };
}

function writeOf(access: Json): Write {
  return {
    key: textOf(memberOf(access, 'key')) ?? '',
    before: memberOf(access, 'before') ?? null,
    after: memberOf(access, 'after') ?? null,
    size: numberOf(memberOf(access, 'afterSize')),
  };
}

function isTrue(json: Json | undefined): boolean {
  return json?.kind === 'boolean' && json.value;
}
