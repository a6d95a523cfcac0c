import { parseExact, scanJson } from '../../contract/json/exact-json.ts';
import type { Member } from '../../contract/json/json-tokens.ts';
import { nearest } from '../../contract/nearest.ts';
import { nodeStateNames, outcomeNames, type RanTo } from '../../contract/verdict.ts';
import type { Expect } from '../case.ts';
import { operatorProblems } from '../judging/compare.ts';
import { parsePath, type Step } from '../path.ts';
import { elementsOf } from '../split-array.ts';
import { readMembers, readText, readTexts, textOf } from './read-members.ts';
import type { Refusals } from './refusal.ts';

const KNOWN = ['outcome', 'data', 'absent', 'nodes', 'actions', 'error', 'withinMs'];
type NodeName = (typeof nodeStateNames)[number];

/** Reads what is expected of a case. Everything that cannot be used is refused by its path. */
export function readExpect(raw: string, path: readonly Step[], refusals: Refusals): Expect {
  const members = readMembers(raw, { path, known: KNOWN, refusals });
  const at = (name: string) => [...path, name];
  const outcome = readName(members.get('outcome'), outcomeNames, at('outcome'), refusals);
  const data = readData(members.get('data'), at('data'), refusals);
  const absent = readTexts(members.get('absent'), at('absent'), refusals);
  for (const [index, text] of absent.entries()) {
    if (!parsePath(text)) refusals.add([...at('absent'), index], 'is not a path such as a.b[0]["c.d"]');
  }
  const nodes = readNodes(members.get('nodes'), at('nodes'), refusals);
  const actions = readActions(members.get('actions'), at('actions'), refusals);
  const error = readText(members.get('error'), at('error'), refusals);
  const withinMs = readMilliseconds(members.get('withinMs'), at('withinMs'), refusals);
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

function readData(member: Member | undefined, path: readonly Step[], refusals: Refusals): string | undefined {
  if (member === undefined || member.kind === 'null') return undefined;
  if (member.kind !== 'object') {
    refusals.add(path, `must be an object, found ${member.kind}`);
    return undefined;
  }
  for (const problem of operatorProblems(parseExact(member.raw), path)) refusals.add(problem.path, problem.message);
  return member.raw;
}

function readNodes(member: Member | undefined, path: readonly Step[], refusals: Refusals): Expect['nodes'] {
  if (member === undefined || member.kind === 'null') return undefined;
  const scanned = scanJson(member.raw);
  if (scanned.kind !== 'complete' || scanned.type !== 'object') {
    refusals.add(path, 'must be an object of node ids and what they come to, such as { 4: TRUE }');
    return undefined;
  }
  const nodes: Record<string, NodeName> = {};
  for (const each of scanned.members) {
    if (!/^[1-9]\d{0,18}$/.test(each.key)) refusals.add([...path, each.key], 'is not the id of a node');
    const state = readName(each, nodeStateNames, [...path, each.key], refusals);
    if (state) nodes[each.key] = state;
  }
  return nodes;
}

/** Ids as they are written, as numbers or as text. */
function readActions(member: Member | undefined, path: readonly Step[], refusals: Refusals): string[] | undefined {
  if (member === undefined || member.kind === 'null') return undefined;
  const ids = member.kind === 'array' ? elementsOf(member.raw).map((raw) => raw.replace(/^"(.*)"$/, '$1')) : null;
  if (ids?.every((id) => /^[1-9]\d{0,18}$/.test(id))) return ids;
  refusals.add(path, 'must be a list of node ids, such as [4, 9]; [] where no node may act');
  return undefined;
}

/** One of some names. YAML reads a bare TRUE or FALSE as a truth value, which is the same name. */
function readName<T extends RanTo | NodeName>(
  member: Member | undefined,
  names: readonly T[],
  path: readonly Step[],
  refusals: Refusals,
): T | undefined {
  if (member === undefined) return undefined;
  const given =
    member.kind === 'string' ? textOf(member.raw) : member.kind === 'boolean' ? member.raw.toUpperCase() : '';
  const name = names.find((each) => each === given);
  if (name !== undefined) return name;
  const meant = nearest(given, names);
  refusals.add(path, `must be one of ${names.join(', ')}${meant ? `; did you mean ${meant}?` : ''}`);
  return undefined;
}

function readMilliseconds(member: Member | undefined, path: readonly Step[], refusals: Refusals): number | undefined {
  if (member === undefined || member.kind === 'null') return undefined;
  const value = member.kind === 'number' ? Number(member.raw) : Number.NaN;
  if (Number.isInteger(value) && value > 0 && value <= 3_600_000) return value;
  refusals.add(path, 'must be a whole number of milliseconds from 1 to 3600000');
  return undefined;
}
