import type { ValueType } from '../leaves/leaf.ts';
import type { LeafEntry } from '../leaves/registry.ts';
import type { Access } from './access.ts';
import { createEvaluator } from './evaluator.ts';
import type { OuterNames } from './outer-names.ts';
import type { KeyPart } from './things.ts';
import { accessesIn } from './walk-code.ts';

/** A key that a leaf's code reads or writes, in the words of a registration. */
export type RoamKey = {
  direction: 'read' | 'write' | 'read_write';
  accessMode: 'direct' | 'union';
  accessMethod: Access['method'];
  keyParts: KeyPart[];
  valueType?: ValueType;
};

const methods = { 5: 'doFlow', 6: 'doResult', 7: 'doNone' } as const;

/** The keys that a leaf's method reads and writes, each once, in the order of the code. Nothing of the leaf's is run. */
export function analyzeLeaf(
  { definition, kind, fields }: LeafEntry,
  sample: object,
  outerNames: OuterNames,
): RoamKey[] {
  const method: unknown = Reflect.get(sample, methods[kind]);
  if (typeof method !== 'function') return [];
  const evaluator = createEvaluator({ leaf: definition.leaf, sample, fields, outerNames });
  const keys = new Map<string, RoamKey>();
  for (const access of accessesIn(method, kind !== 7, evaluator)) {
    for (const part of access.keys) add(keys, access, part);
  }
  for (const key of keys.values()) declareType(key, definition.keys);
  return [...keys.values()];
}

function add(keys: Map<string, RoamKey>, { direction, method, union, type }: Access, part: KeyPart): void {
  const isDeep = method.endsWith('Deep') && mayHaveDot(part);
  const name = `${union} ${isDeep} ${JSON.stringify(part)}`;
  const known = keys.get(name);
  if (known === undefined) {
    const accessMode = union ? 'union' : 'direct';
    keys.set(name, { direction, accessMode, accessMethod: method, keyParts: [part], ...(type && { valueType: type }) });
    return;
  }
  if (known.direction !== direction) known.direction = 'read_write';
  // What a leaf reads a key as says more about it than what it puts there.
  if (type && direction === 'read') known.valueType = type;
  else if (type) known.valueType ??= type;
}

/** A plain key is the same key, however it is reached. */
function mayHaveDot(part: KeyPart): boolean {
  return part.type !== 'literal' || part.value.includes('.');
}

function declareType(key: RoamKey, declared: Readonly<Record<string, ValueType>> = {}): void {
  const [part] = key.keyParts;
  const name = part?.type === 'literal' ? part.value : part?.type === 'field' ? part.ref : undefined;
  const type = name !== undefined && Object.hasOwn(declared, name) ? declared[name] : undefined;
  if (type) key.valueType = type;
}
