import { type ExactObject, type ExactValue, RawNumber } from '../../../shared/contract/json/raw-number.ts';
import { memberNamed } from '../../../shared/rules/members.ts';
import type { LeafField, LeafNode } from './leaf-nodes.ts';

/**
 * One setting of a leaf: what a rule configured for a field, or else the default that the client published. `name` and `type`:
 * as the client describes the field, null when it does not.
 */
export type LeafSetting = {
  field: string;
  name: string | null;
  type: string | null;
  value: ExactValue;
  configured: boolean;
};

/** The settings a leaf works with: the fields its client declares, in that order, then what else the rule configures. */
export function settingsOf(leaf: LeafNode | null, values: ExactObject): LeafSetting[] {
  const declared = leaf?.fields ?? [];
  const known = declared.flatMap((field) => settingOf(field, values) ?? []);
  const taken = new Set(declared.map(({ field }) => memberNamed(values, field)));
  const others = Object.entries(values).filter(([name]) => !taken.has(name));
  const rest = others.map(([field, value]) => ({ field, name: null, type: null, value, configured: true }));
  return [...known, ...rest];
}

/** Null when its value is unknown: not configured, and no default published. */
function settingOf({ field, name, type, value }: LeafField, values: ExactObject): LeafSetting | null {
  const about = { field, name: name || null, type: type || null };
  const written = memberNamed(values, field);
  const configured = written === undefined ? undefined : values[written];
  if (configured !== undefined && configured !== null) return { ...about, value: configured, configured: true };
  return value === null ? null : { ...about, value: defaultOf(type, value), configured: false };
}

/** A 64-bit integer is published as text, so that no reader of JSON rounds it. */
function defaultOf(type: string, value: NonNullable<LeafField['value']>): ExactValue {
  return type === 'long' && typeof value === 'string' && /^-?\d+$/.test(value) ? new RawNumber(value) : value;
}
