import { parseExact } from '../../shared/contract/json/exact-json.ts';
import { digestOfNode, digestOfRules } from '../../shared/contract/rules-digest.ts';
import { type ExactObject, isExactObject } from '../engine/data/values.ts';
import type { Selection } from '../engine/selection.ts';
import type { NodeFile } from './node-file.ts';
import type { Released } from './released-files.ts';

const MAX_KEPT = 1000;
/** A node that an update did not touch is the same object in the next version. */
const known = new WeakMap<NodeFile, string>();

const ofReleased = new WeakMap<Released, ReturnType<typeof createDigests>>();

/** The digest of the rules that a selection runs on, as GET tree tells it; null where there is nothing to run. */
export function digestOf(released: Released, selection: Selection): string | null {
  const digests = ofReleased.get(released) ?? createDigests(released);
  ofReleased.set(released, digests);
  return digests(selection);
}

function createDigests({ rules, nodes, unreadable }: Released): (selection: Selection) => string | null {
  const made = new Map<string, string | null>();

  function make({ ruleId, confId }: Selection): string | null {
    const rule = ruleId === null ? null : rules.get(ruleId);
    const start = confId ?? rule?.confId ?? null;
    if (rule === undefined || start === null) return null;
    const missing = (id: bigint) => (unreadable?.nodes.has(id) ? 'unusable' : 'absent');
    return digestOfRules({
      rule,
      start,
      below: (id) => linksOf(nodes.get(id)),
      digestOf: (id) => of(nodes.get(id)) ?? missing(id),
    });
  }

  return (selection) => {
    const key = `${selection.ruleId}/${selection.confId}`;
    const before = made.get(key);
    if (before !== undefined) return before;
    if (made.size >= MAX_KEPT) made.clear();
    const digest = make(selection);
    made.set(key, digest);
    return digest;
  };
}

function of(file: NodeFile | undefined): string | undefined {
  if (file === undefined) return undefined;
  const before = known.get(file);
  if (before !== undefined) return before;
  const { confName, confField } = file;
  const digest = digestOfNode({ ...file, ...linksOf(file), confName: confName || null, values: valuesOf(confField) });
  known.set(file, digest);
  return digest;
}

const isLeaf = (type: bigint) => type >= 5n && type <= 7n;

/** A leaf has no children, whatever its file says. */
function linksOf(file: NodeFile): { forwardId: bigint | null; sonIds: readonly bigint[] };
function linksOf(file: NodeFile | undefined): { forwardId: bigint | null; sonIds: readonly bigint[] } | undefined;
function linksOf(file: NodeFile | undefined) {
  return file && { forwardId: file.forwardId, sonIds: isLeaf(file.type) ? [] : file.sonIds };
}

function valuesOf(confField: string): ExactObject {
  try {
    const values = parseExact(confField);
    return isExactObject(values) ? values : {};
  } catch {
    return {};
  }
}
