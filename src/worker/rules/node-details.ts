import type { ExactObject } from '../../shared/contract/json/raw-number.ts';
import { type FaultBody, faultBody, type NodeKey } from '../../shared/contract/rules-and-clients.ts';
import { type RuleNode, shortNameOf } from '../../shared/rules/node-file.ts';
import type { NodeTypeName } from '../../shared/rules/node-types.ts';
import type { Reading } from '../../shared/rules/reading.ts';
import type { TimeWindow } from '../../shared/rules/time-window.ts';
import { keysOf } from './leaves/leaf-keys.ts';
import type { Comparison, LeafNode } from './leaves/leaf-nodes.ts';
import { type LeafSetting, settingsOf } from './leaves/leaf-settings.ts';

/** The definition of a node. `unusable`: its file exists but cannot be read, and `problems` says why. */
export type NodeDetails = {
  id: bigint;
  state: 'released' | 'missing' | 'unusable';
  type: NodeTypeName;
  label: string | null;
  className: string | null;
  shortName: string | null;
  inverse: boolean;
  errorState: bigint | null;
  timeWindow: TimeWindow;
  values: ExactObject;
  settings: LeafSetting[];
  comparison: Comparison | null;
  keys: NodeKey[];
  problems: FaultBody[];
};

/** Describes a node by its file and by what is known about its class. */
export function detailsOf(
  id: bigint,
  reading: Reading<RuleNode> | undefined,
  metadata: { leafOf: (node: RuleNode) => LeafNode | null },
): NodeDetails {
  if (reading?.kind !== 'found') {
    if (reading?.kind !== 'unusable') return { ...unknownNode, id, state: 'missing', problems: [] };
    return { ...unknownNode, id, state: 'unusable', problems: [faultBody(reading.fault)] };
  }
  const { name, type, confName, inverse, errorState, timeWindow, values, problems, rivals } = reading.value;
  const leaf = metadata.leafOf(reading.value);
  return {
    id,
    state: 'released',
    type: type.name,
    label: name,
    className: confName || null,
    shortName: shortNameOf(confName) || null,
    inverse,
    errorState,
    timeWindow,
    values,
    settings: type.leaf ? settingsOf(leaf, values) : [],
    comparison: leaf?.comparison ?? null,
    keys: leaf ? keysOf(leaf, values) : [],
    problems: [...rivals, ...problems].map(faultBody),
  };
}

const unknownNode: Omit<NodeDetails, 'id' | 'state' | 'problems'> = {
  ...{ type: 'Unknown', label: null, className: null, shortName: null, inverse: false, errorState: null },
  ...{ timeWindow: { type: 'always', start: null, end: null }, values: {}, settings: [], comparison: null, keys: [] },
};
