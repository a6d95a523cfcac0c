import { digestOfRules } from '../../shared/rules/digest.ts';
import type { Selection } from '../engine/selection.ts';
import type { Released } from './released-files.ts';

const MAX_KEPT = 1000;
const kept = new WeakMap<Released, Map<string, string>>();

/** The digest of the rules that a selection runs on, as GET tree tells it; null where there is nothing to run. */
export function digestOf(released: Released, { ruleId, confId }: Selection): string | null {
  const digests = kept.get(released) ?? new Map<string, string>();
  kept.set(released, digests);
  const { rules, nodes, unreadable } = released;
  const rule = ruleId === null ? null : rules.get(ruleId);
  const start = confId ?? rule?.confId ?? null;
  if (rule === undefined || start === null) return null;
  const key = `${ruleId}/${confId}`;
  const nodeOf = (id: bigint) => nodes.get(id) ?? (unreadable?.nodes.has(id) ? 'unusable' : 'absent');
  const digest = digests.get(key) ?? digestOfRules({ rule, start, nodeOf });
  if (digests.size >= MAX_KEPT) digests.clear();
  digests.set(key, digest);
  return digest;
}
