import { type ExactValue, stringifyExact } from '../contract/json/raw-number.ts';
import { digits, field, flag, list, oneOf, text } from '../contract/json/read-exact.ts';
import { type Comparison, comparisons, type NodeKey, type Setting, type TimeWindow, type TreeNode } from './tree.ts';

/** One node of a tree with everything below it. */
export function readNode(node: ExactValue): TreeNode {
  const forward = field(node, 'forward');
  return {
    id: digits(field(node, 'id')) ?? '',
    state: oneOf(field(node, 'state'), ['released', 'missing', 'unusable']),
    type: text(field(node, 'type')) ?? 'Unknown',
    label: text(field(node, 'label')),
    className: text(field(node, 'className')),
    shortName: text(field(node, 'shortName')),
    inverse: flag(field(node, 'inverse')),
    errorState: digits(field(node, 'errorState')),
    timeWindow: readWindow(field(node, 'timeWindow')),
    values: stringifyExact(field(node, 'values') ?? {}),
    settings: list(field(node, 'settings')).map(readSetting),
    comparison: readComparison(field(node, 'comparison')),
    keys: list(field(node, 'keys')).map(readNodeKey),
    problems: list(field(node, 'problems')).flatMap((problem) => text(problem) ?? []),
    circular: flag(field(node, 'circular')),
    forward: forward ? readNode(forward) : null,
    children: list(field(node, 'children')).map(readNode),
  };
}

function readSetting(setting: ExactValue): Setting {
  return {
    field: text(field(setting, 'field')) ?? '',
    name: text(field(setting, 'name')),
    type: text(field(setting, 'type')),
    value: stringifyExact(field(setting, 'value') ?? null),
    configured: flag(field(setting, 'configured')),
  };
}

function readComparison(comparison: ExactValue | undefined): Comparison | null {
  const is = comparisons.find((known) => known === field(comparison, 'is'));
  const [key, of] = [text(field(comparison, 'key')), text(field(comparison, 'field'))];
  if (is === undefined || key === null || of === null) return null;
  return { key, is, field: of, missing: readMissing(field(comparison, 'missing')) };
}

function readMissing(missing: ExactValue | undefined): Exclude<Comparison['missing'], undefined> {
  if (typeof missing === 'boolean') return missing;
  if (typeof missing === 'string') return { setting: missing };
  return missing === undefined || missing === null ? null : { number: stringifyExact(missing) };
}

function readNodeKey(entry: ExactValue): NodeKey {
  return {
    key: text(field(entry, 'key')) ?? '',
    direction: oneOf(field(entry, 'direction'), ['read', 'write', 'read_write']),
    dynamic: flag(field(entry, 'dynamic')),
    nested: flag(field(entry, 'nested')),
    valueType: text(field(entry, 'valueType')) ?? 'Object',
  };
}

export function readWindow(window: ExactValue | undefined): TimeWindow {
  return {
    type: oneOf(field(window, 'type'), ['always', 'after', 'before', 'between']),
    start: digits(field(window, 'start')),
    end: digits(field(window, 'end')),
  };
}
