import { causeOf } from '../../shared/reasons/causes.ts';
import { type RuleNode, shortNameOf } from '../../shared/rules/node-file.ts';
import { sidesOf } from '../../shared/rules/time-window.ts';
import type { LeftOut, Node, Role } from '../engine/node.ts';
import { relations } from '../engine/relations.ts';
import { errorStateOf } from '../engine/state.ts';
import { makeLeaf } from '../leaves/make-leaf.ts';
import type { Registry } from '../leaves/registry.ts';
import type { Released } from './released-files.ts';

/** Nodes ready to run, why others are not, and what else is wrong. Kept from one version to the next: see `linkNodes`. */
export type Linked = {
  nodes: ReadonlyMap<bigint, Node>;
  refused: ReadonlyMap<bigint, string>;
  problems: readonly string[];
  bodies: ReadonlyMap<bigint, MadeBody>;
};

type ReleasedNodes = Pick<Released, 'nodes' | 'unreadable'>;

type MadeBody = { confName: string; confField: string; body: Node['body']; problems: readonly string[] };

/**
 * Makes nodes of files and ties them together. A node that cannot run is left out of its parent, as every client does,
 * but never in silence. A leaf whose class and values did not change stays the same instance from `before` on.
 */
export function linkNodes(released: ReleasedNodes, registry: Registry, before?: Linked): Linked {
  const { nodes: files, unreadable } = released;
  const nodes = new Map<bigint, Node>();
  const refused = new Map(unreadable?.nodes);
  const problems: string[] = [];
  const bodies = new Map<bigint, MadeBody>();
  for (const file of files.values()) {
    try {
      const made = bodyOf(file, registry, before?.bodies.get(file.id));
      bodies.set(file.id, made);
      nodes.set(file.id, nodeOf(file, made, registry));
      for (const problem of [...file.problems.map(causeOf), ...made.problems])
        problems.push(`node ${file.id}: ${problem}`);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      refused.set(file.id, reason);
      problems.push(`node ${file.id} is left out: ${reason}`);
    }
  }
  for (const node of nodes.values()) tie(node, files.get(node.id), { nodes, refused, problems });
  return { nodes, refused, problems, bodies };
}

function bodyOf({ type, confName, confField }: RuleNode, registry: Registry, before?: MadeBody): MadeBody {
  const { number } = type;
  if (number === null) throw new TypeError('type is missing');
  const relation = relations.get(type.name);
  if (relation) return { confName: '', confField: '', body: { kind: 'relation', relation }, problems: [] };
  if (!type.leaf) throw new TypeError(`type ${number} is not known`);
  if (confName === '') throw new TypeError('a leaf without a class (confName)');
  const entry = registry.find(confName);
  if (entry === undefined) throw new TypeError(`the class ${confName} is not registered`);
  // A condition that were taken for a consequence would look like one to whoever edits the rule.
  if (BigInt(entry.kind) !== number)
    throw new TypeError(`it has type ${number}, but ${entry.clazz} is a leaf of type ${entry.kind}`);
  if (before?.body.kind === 'leaf' && before.confName === confName && before.confField === confField) return before;
  return { confName, confField, ...makeLeaf(entry, confField) };
}

function nodeOf(file: RuleNode, { body }: MadeBody, registry: Registry): Node {
  const { id, inverse } = file;
  const window = sidesOf(file.timeWindow);
  const errorState = file.errorState === null ? null : (errorStateOf(file.errorState) ?? null);
  const clazz = registry.find(file.confName)?.clazz ?? file.confName;
  const name = body.kind === 'relation' ? body.relation.name : shortNameOf(clazz);
  const links = { forward: null, children: [], leftOut: [] };
  return { id, name, head: `[${id}:${name}:`, window, inverse, errorState, body, ...links };
}

type Tied = Pick<Linked, 'refused'> & { nodes: ReadonlyMap<bigint, Node>; problems: string[] };

function tie(node: Node, file: RuleNode | undefined, { nodes, refused, problems }: Tied): void {
  if (file === undefined) return;
  const leftOut: LeftOut[] = [];
  const found = (id: bigint, role: Role): Node[] => {
    const other = nodes.get(id);
    if (other) return [other];
    const reason = refused.get(id) ?? 'it is not released';
    leftOut.push({ id, role, reason });
    problems.push(
      `node ${node.id}: its ${role === 'forward' ? 'forward condition' : 'child'} ${id} is left out: ${reason}`,
    );
    return [];
  };
  node.forward = file.forwardId === null ? null : (found(file.forwardId, 'forward')[0] ?? null);
  node.children = file.sonIds.flatMap((id) => found(id, 'child'));
  node.leftOut = leftOut;
}
