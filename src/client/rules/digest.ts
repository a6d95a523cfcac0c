import { digestOfRules } from '../../shared/rules/digest.ts';
import type { Selection } from '../engine/selection.ts';
import type { Released } from './released-files.ts';

const MAX_KEPT = 1000;

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
    const nodeOf = (id: bigint) => nodes.get(id) ?? (unreadable?.nodes.has(id) ? 'unusable' : 'absent');
    return digestOfRules({ rule, start, nodeOf });
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
