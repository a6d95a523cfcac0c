import { orderOf, sameNumber } from '../cases/judging/decimal.ts';
import { type Json, readJson } from '../json-tree/read-json.ts';
import type { Comparison, TreeNode } from './tree.ts';

/** The opposite of each relation. */
export const opposites: Record<Comparison['is'], Comparison['is']> = {
  '>=': '<',
  '<': '>=',
  '>': '<=',
  '<=': '>',
  '=': '!=',
  '!=': '=',
  in: 'not-in',
  'not-in': 'in',
};

/** Whether two numbers are in a relation, by the order of the first to the second. */
export const holdsBy: Partial<Record<Comparison['is'], (order: number) => boolean>> = {
  '>=': (order) => order >= 0,
  '>': (order) => order > 0,
  '<=': (order) => order <= 0,
  '<': (order) => order < 0,
  '=': (order) => order === 0,
  '!=': (order) => order !== 0,
};

/** A declared comparison with the value that is set for it. */
export type Condition = {
  key: string;
  nested: boolean;
  is: Comparison['is'];
  setting: Json;
  wholeNumbers: boolean;
  /** What it comes to without a value; null where that is not declared. */
  missing: boolean | null;
};

/** The comparison that a node declares; null where it declares none, or its setting is not known. */
export function conditionOf({ comparison, settings, keys }: TreeNode): Condition | null {
  if (comparison === null) return null;
  const setting = settings.find(({ field }) => field === comparison.field);
  const read = readJson(setting?.value ?? '');
  if (read.kind === 'bad') return null;
  const declared = keys.find(({ key }) => key === comparison.key);
  const wholeNumbers = declared?.valueType === 'Integer' || declared?.valueType === 'Long';
  return {
    key: comparison.key,
    nested: declared?.nested ?? false,
    is: comparison.is,
    setting: read.root,
    wholeNumbers,
    missing: missingOf(comparison, { settings, setting: read.root }),
  };
}

function missingOf(
  { is, missing }: Comparison,
  { settings, setting }: Pick<TreeNode, 'settings'> & Pick<Condition, 'setting'>,
): boolean | null {
  if (missing == null || typeof missing === 'boolean') return missing ?? null;
  if ('number' in missing) {
    const read = readJson(missing.number);
    return read.kind === 'ok' ? fulfils({ is, setting, missing: null }, read.root) : null;
  }
  const value = settings.find(({ field }) => field === missing.setting)?.value;
  return value === 'true' ? true : value === 'false' ? false : null;
}

/** Whether a value fulfils a condition. Null where the declaration does not say. */
export function fulfils(
  { is, setting, missing }: Pick<Condition, 'is' | 'setting' | 'missing'>,
  value: Json | undefined,
): boolean | null {
  if (value === undefined || value.kind === 'null') return missing;
  switch (is) {
    case 'in':
    case 'not-in': {
      if (setting.kind !== 'array') return null;
      const found = setting.items.map((item) => isSame(item, value));
      if (found.includes(true)) return is === 'in';
      return found.includes(null) ? null : is === 'not-in';
    }
    case '=':
    case '!=': {
      const same = isSame(setting, value);
      return same === null ? null : same === (is === '=');
    }
    default: {
      if (setting.kind !== 'number' || value.kind !== 'number') return null;
      const order = orderOf(value.text, setting.text);
      return order === null ? null : (holdsBy[is]?.(order) ?? null);
    }
  }
}

/** Whether two values are the same; null for two kinds, or for what is no single value. */
function isSame(one: Json, other: Json): boolean | null {
  if (one.kind === 'number' && other.kind === 'number') return sameNumber(one.text, other.text);
  if (one.kind === 'string' && other.kind === 'string') return one.value === other.value;
  if (one.kind === 'boolean' && other.kind === 'boolean') return one.value === other.value;
  return null;
}
