import { parseExact } from '../../contract/json/exact-json.ts';
import { nearest } from '../../contract/nearest.ts';
import { nodeStateNames, outcomeNames, type RanTo } from '../../contract/verdict.ts';
import type { Expect } from '../case.ts';
import { operatorProblems } from '../judging/compare.ts';
import { parsePath } from '../path.ts';
import { elementsOf } from '../split-array.ts';
import { type Given, membersOf, readMembers, readText, readTexts, textOf } from './read-members.ts';

const KNOWN = ['outcome', 'data', 'absent', 'nodes', 'actions', 'error', 'withinMs'];
type NodeName = (typeof nodeStateNames)[number];
const NODE_ID = /^[1-9]\d{0,18}$/;

/** Reads what is expected of a case. Everything that cannot be used is refused by its path. */
export function readExpect({ raw, at }: Given): Expect {
  const members = readMembers(raw, KNOWN, at);
  const absent = readTexts(members.get('absent'));
  for (const [index, text] of absent.entries())
    if (!parsePath(text))
      at.in('absent').in(index).refuse('invalid-format', { expected: 'path', example: 'a.b[0]["c.d"]' });
  const outcome = readName(members.written('outcome'), outcomeNames);
  const data = readData(members.get('data'));
  const nodes = readNodes(members.get('nodes'));
  const actions = readActions(members.get('actions'));
  const error = readText(members.get('error'));
  const withinMs = readMilliseconds(members.get('withinMs'));
  return {
    ...(outcome !== undefined && { outcome }),
    ...(data !== undefined && { data }),
    ...(absent.length > 0 && { absent }),
    ...(nodes !== undefined && { nodes }),
    ...(actions !== undefined && { actions }),
    ...(error !== undefined && { error }),
    ...(withinMs !== undefined && { withinMs }),
  };
}

function readData(given: Given | undefined): string | undefined {
  if (given === undefined) return undefined;
  if (given.kind !== 'object') return given.at.refuse('invalid-type', { expected: 'object', received: given.kind });
  for (const { path, fault } of operatorProblems(parseExact(given.raw)))
    path.reduce((at, step) => at.in(step), given.at).refuseFault(fault);
  return given.raw;
}

function readNodes(given: Given | undefined): Expect['nodes'] {
  if (given === undefined) return undefined;
  const members = membersOf(given.raw);
  if (members === null) return given.at.refuse('invalid-type', { expected: 'nodes', example: '{ 4: TRUE }' });
  const nodes: Record<string, NodeName> = {};
  for (const member of members) {
    const at = given.at.in(member.key);
    if (!NODE_ID.test(member.key)) at.refuse('invalid-format', { expected: 'node-id' });
    const state = readName({ ...member, at }, nodeStateNames);
    if (state) nodes[member.key] = state;
  }
  return nodes;
}

/** Ids as they are written, as numbers or as text. */
function readActions(given: Given | undefined): string[] | undefined {
  if (given === undefined) return undefined;
  const ids = given.kind === 'array' ? elementsOf(given.raw).map((raw) => raw.replace(/^"(.*)"$/, '$1')) : null;
  if (ids?.every((id) => NODE_ID.test(id))) return ids;
  return given.at.refuse('invalid-type', { expected: 'node-ids', example: '[4, 9]' });
}

/** One of some names. YAML reads a bare TRUE or FALSE as a truth value, which is the same name. */
function readName<T extends RanTo | NodeName>(given: Given | undefined, names: readonly T[]): T | undefined {
  if (given === undefined) return undefined;
  const { kind, raw, at } = given;
  const text = kind === 'string' ? textOf(raw) : kind === 'boolean' ? raw.toUpperCase() : '';
  const name = names.find((each) => each === text);
  return name ?? at.refuse('invalid-value', { values: names.join(', '), meant: nearest(text, names) });
}

function readMilliseconds(given: Given | undefined): number | undefined {
  if (given === undefined) return undefined;
  const value = given.kind === 'number' ? Number(given.raw) : Number.NaN;
  if (Number.isInteger(value) && value > 0 && value <= 3_600_000) return value;
  return given.at.refuse('invalid-type', { expected: 'number-of-milliseconds', minimum: 1, maximum: 3_600_000 });
}
