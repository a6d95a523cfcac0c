import type { SchemaKeys } from '../leaves/data-schema.ts';
import { type DeclaredType, type LeafDefinition, methodOf, type ValueType } from '../leaves/leaf.ts';
import type { LeafEntry } from '../leaves/registry.ts';
import type { OuterNames } from './outer-names.ts';
import { namedKey, type RoamKey, withSchema } from './roam-keys.ts';
import { scanLeaf } from './scan-leaf.ts';
import { type Access, isUnknownKey, type KeyPart } from './values.ts';

/** The surroundings of the leaf's own code: the names around it, and the data of its app. */
export type Around = { outerNames: OuterNames; schema: SchemaKeys };

/** `incomplete`: the leaf may read more keys than these. */
export type LeafKeys = { roamKeys: RoamKey[]; incomplete: boolean };

/**
 * The keys that a leaf's method reads and writes, each once, in the order of the code. Nothing of the leaf's is run. A key that the leaf
 * declares comes before what its code says.
 */
export function analyzeLeaf(
  { definition, kind, fields }: LeafEntry,
  sample: object,
  { outerNames, schema }: Around,
): LeafKeys {
  const subject = { leaf: definition.leaf, sample, fields, outerNames };
  const { accesses, incomplete } = scanLeaf(subject, methodOf[kind], kind !== 7);
  const keys = new Map<string, RoamKey>();
  for (const access of accesses)
    for (const part of access.keys) if (part.type === 'composite' || !isUnknownKey(part)) add(keys, access, part);
  const mayReadMore = incomplete || accesses.some(isUnknownRead);
  const exact = withSchema([...keys.values()], schema, mayReadMore);
  for (const key of exact) declareType(key, definition.keys);
  const isDeclared = definition.reads !== undefined || schema.size > 0;
  return { roamKeys: withDeclared(exact, definition), incomplete: mayReadMore && !isDeclared };
}

const isUnknownRead = ({ direction, keys }: Access): boolean => direction === 'read' && keys.some(isUnknownKey);

const declaredTypes: Readonly<Record<DeclaredType, ValueType | undefined>> = {
  ...{ string: 'String', integer: 'Integer', long: 'Long', number: 'Double', boolean: 'Boolean' },
  ...{ list: 'List', object: 'Map', any: undefined },
};

/** A leaf's declaration takes precedence over its code. */
function withDeclared(found: RoamKey[], { reads, writes }: LeafDefinition): RoamKey[] {
  if (reads === undefined && writes === undefined) return found;
  const kept = found.flatMap((key): RoamKey[] => {
    const [isRead, isWritten] = [key.direction !== 'write' && !reads, key.direction !== 'read' && !writes];
    if (isRead === isWritten) return isRead ? [key] : [];
    return [{ ...key, direction: isRead ? 'read' : 'write' }];
  });
  return [...declared('read', reads), ...declared('write', writes), ...kept];
}

function declared(direction: 'read' | 'write', keys: LeafDefinition['reads'] = {}): RoamKey[] {
  return Object.entries(keys).map(([name, type]) => namedKey(direction, name, declaredTypes[type]));
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
  // The type that a leaf reads a key as takes precedence over the one it writes.
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
