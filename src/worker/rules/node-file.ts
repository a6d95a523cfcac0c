import { z } from 'zod';
import { parseExact } from '../../shared/contract/json/exact-json.ts';
import type { ExactValue } from '../../shared/contract/json/raw-number.ts';
import { RawNumber, stringifyExact } from '../../shared/contract/json/raw-number.ts';
import { digestOfNode } from '../../shared/contract/rules-digest.ts';
import type { Reading } from '../files/reading/reading.ts';
import { unusable } from '../files/reading/reading.ts';
import type { TimeWindow } from './config-fields.ts';
import {
  INT64_MAX,
  optionalFlag,
  optionalId,
  optionalInteger,
  optionalText,
  parseConfig,
  sidesOf,
  timeMembers,
  timeWindowOf,
} from './config-fields.ts';
import type { NodeType } from './node-types.ts';
import { nodeTypeOf } from './node-types.ts';

const MAX_CHILDREN = 10_000;
const DELETED = -1n;

/** The values configured for a leaf, numbers as they were written. */
export type ConfigValues = { [field: string]: ExactValue };

/** One node as its file says. `problems` names what is wrong with it though it can be drawn. */
export type RuleNode = {
  id: bigint;
  name: string | null;
  type: NodeType;
  confName: string | null;
  values: ConfigValues;
  sonIds: bigint[];
  forwardId: bigint | null;
  inverse: boolean;
  errorState: bigint | null;
  timeWindow: TimeWindow;
  problems: string[];
  /** Clients leave it out, but those of Python. */
  isDeleted: boolean;
  /** The same for files that say the same, whenever they were written. */
  digest: string;
};

const nodeSchema = z.object({
  id: optionalId,
  name: optionalText,
  type: optionalInteger,
  confName: optionalText,
  confField: z.string({ error: 'must be JSON in a string' }).nullish(),
  sonIds: z.string({ error: 'must be ids in a string' }).nullish(),
  forwardId: optionalId,
  inverse: optionalFlag,
  errorState: optionalInteger,
  status: optionalInteger.catch(null),
  ...timeMembers,
});

/** Reads a node file's text. `id` is what the file's name says; a file that says otherwise is unusable. */
export function parseNode(text: string, id: bigint): Reading<RuleNode> {
  const parsed = parseConfig(text, nodeSchema);
  if (parsed.kind !== 'found') return parsed;
  const { timeType, start, end, type, confField, sonIds, status, ...node } = parsed.value;
  if (node.id !== null && node.id !== id) return unusable(`says that it is node ${node.id}`);
  const problems: string[] = [];
  const nodeType = nodeTypeOf(type);
  if (nodeType.name === 'Unknown') problems.push(type === null ? 'type is missing' : `type ${type} is not known`);
  const parts = sonIds?.trim() ? sonIds.split(',') : [];
  if (parts.length > MAX_CHILDREN) return unusable(`has more than ${MAX_CHILDREN} children`);
  const children = childrenOf(parts, problems);
  // Clients link children to relations only.
  if (nodeType.leaf && children.length > 0) problems.push('a leaf has no children: sonIds is ignored');
  const value = {
    ...node,
    id,
    type: nodeType,
    sonIds: nodeType.leaf ? [] : children,
    values: valuesOf(confField ?? '', problems),
    inverse: node.inverse ?? false,
    timeWindow: timeWindowOf({ timeType, start, end }),
    problems,
  };
  const digest = digestOfNode({ ...value, type, window: sidesOf(value.timeWindow) });
  return { kind: 'found', value: { ...value, isDeleted: status === DELETED, digest } };
}

/**
 * Reads an edit of a node that is not released yet. `id` is what the file's name says: its member `id` is the number of the edit, if it has
 * one.
 */
export function parseEdit(text: string, id: bigint): Reading<RuleNode> {
  let members: ExactValue;
  try {
    members = parseExact(text);
  } catch {
    return unusable('is not JSON');
  }
  if (typeof members !== 'object' || members === null || Array.isArray(members) || members instanceof RawNumber)
    return unusable('is no JSON object');
  const { id: _, ...node } = members;
  return parseNode(stringifyExact(node), id);
}

/** The name of a node: its label, else its class's short name. */
export function nodeNameOf({ name, confName }: RuleNode): string {
  return name ?? shortNameOf(confName) ?? '';
}

/** A class's name without its package, as clients write it in traces. */
export function shortNameOf(confName: string | null): string | null {
  return confName?.slice(Math.max(confName.lastIndexOf('.'), confName.lastIndexOf('$')) + 1) ?? null;
}

function childrenOf(parts: string[], problems: string[]): bigint[] {
  const ids = parts.map((part) => idOf(part.trim())).filter((id) => id !== undefined);
  if (ids.length < parts.length) problems.push(`sonIds names ${parts.length - ids.length} children that are no ids`);
  if (parts.some((part) => part !== part.trim()))
    problems.push('sonIds has spaces: one client does not start with them');
  return ids;
}

function idOf(text: string): bigint | undefined {
  if (!/^\d{1,19}$/.test(text)) return undefined;
  const id = BigInt(text);
  return id > 0n && id <= INT64_MAX ? id : undefined;
}

function valuesOf(confField: string, problems: string[]): ConfigValues {
  if (confField.trim() === '') return {};
  try {
    const values = parseExact(confField);
    if (typeof values === 'object' && values !== null && !Array.isArray(values) && !(values instanceof RawNumber)) {
      return values;
    }
    problems.push('confField is not a JSON object');
  } catch (error) {
    problems.push(`confField is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  return {};
}
