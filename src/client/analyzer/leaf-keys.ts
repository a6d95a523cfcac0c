import type { SchemaKeys } from '../leaves/data-schema.ts';
import { type DeclaredType, type LeafDefinition, methodOf, type ValueType } from '../leaves/leaf.ts';
import type { LeafEntry } from '../leaves/registry.ts';
import type { OuterNames } from './outer-names.ts';
import { scanLeaf } from './scan-leaf.ts';
import { type Access, isUnknownKey, type KeyPart } from './values.ts';

/** A key that a leaf's code reads or writes, in the words of a registration. */
type RoamKey = {
  direction: 'read' | 'write' | 'read_write';
  accessMode: 'direct' | 'union';
  accessMethod: Access['method'];
  keyParts: KeyPart[];
  valueType?: ValueType;
};

/** The surroundings of the leaf's own code: the names around it, and the data of its app. */
export type Around = { outerNames: OuterNames; schema: SchemaKeys };

/** `incomplete`: the leaf may read more keys than these. */
export type LeafKeys = { roamKeys: RoamKey[]; incomplete: boolean };

/**
 * The keys that a leaf's method reads and writes, each once, in the order of the code. Nothing of the leaf's is run. A key that the leaf
 * declares comes before what its code says; the type that it declares for a key before that of the schema, and this before the code's.
 */
export function keysOfLeaf(
  { definition, kind, fields }: LeafEntry,
  sample: object,
  { outerNames, schema }: Around,
): LeafKeys {
  const subject = { leaf: definition.leaf, sample, fields, outerNames };
  const { accesses, incomplete } = scanLeaf(subject, methodOf[kind], kind !== 7);
  const keys = new Map<string, RoamKey>();
  for (const access of accesses)
    for (const part of access.keys) if (part.type === 'composite' || !isUnknownKey(part)) add(keys, access, part);
  const mayReadMore =
    incomplete || accesses.some(({ direction, keys }) => direction === 'read' && keys.some(isUnknownKey));
  const found = [...keys.values(), ...(mayReadMore ? others(keys, schema) : [])];
  const declaredTypeOf = new Map(Object.entries(definition.keys ?? {}));
  for (const key of found) {
    const [part] = key.keyParts;
    const name = part?.type === 'literal' ? part.value : part?.type === 'field' ? part.ref : '';
    const ofSchema = part?.type === 'literal' ? schema.get(name) : undefined;
    const valueType = declaredTypeOf.get(name) ?? ofSchema;
    if (valueType) key.valueType = valueType;
  }
  const isDeclared = definition.reads !== undefined || schema.size > 0;
  return { roamKeys: withDeclared(found, definition), incomplete: mayReadMore && !isDeclared };
}

function add(keys: Map<string, RoamKey>, { direction, method, union, type }: Access, part: KeyPart): void {
  // A plain key is the same key, however it is reached.
  const isDeep = method.endsWith('Deep') && (part.type !== 'literal' || part.value.includes('.'));
  const name = `${union} ${isDeep} ${JSON.stringify(part)}`;
  const accessMode = union ? 'union' : 'direct';
  const known = keys.get(name) ?? { direction, accessMode, accessMethod: method, keyParts: [part] };
  keys.set(name, known);
  if (known.direction !== direction) known.direction = 'read_write';
  // The type that a leaf reads a key as takes precedence over the one it writes.
  if (type && (direction === 'read' || !known.valueType)) known.valueType = type;
}

/** The keys of the schema that were not found; not the objects whose members are described. */
function others(found: ReadonlyMap<string, RoamKey>, schema: SchemaKeys): RoamKey[] {
  const literals = new Set(
    [...found.values()].flatMap(({ keyParts: [part] }) => (part?.type === 'literal' ? [part.value] : [])),
  );
  const names = [...schema.keys()];
  const possible = names.filter((name) => !literals.has(name) && !names.some((each) => each.startsWith(`${name}.`)));
  return possible.map((name) => namedKey('read', name, schema.get(name)));
}

const declaredTypes: Readonly<Record<DeclaredType, ValueType | undefined>> = {
  ...{ string: 'String', integer: 'Integer', long: 'Long', number: 'Double', boolean: 'Boolean' },
  ...{ list: 'List', object: 'Map', any: undefined },
};

/** A leaf's declaration takes precedence over its code. */
function withDeclared(found: RoamKey[], { reads, writes }: LeafDefinition): RoamKey[] {
  const declared = (direction: 'read' | 'write', keys: LeafDefinition['reads'] = {}) =>
    Object.entries(keys).map(([name, type]) => namedKey(direction, name, declaredTypes[type]));
  const kept = found.flatMap((key): RoamKey[] => {
    const [isRead, isWritten] = [key.direction !== 'write' && !reads, key.direction !== 'read' && !writes];
    if (isRead && isWritten) return [key];
    return isRead || isWritten ? [{ ...key, direction: isRead ? 'read' : 'write' }] : [];
  });
  return [...declared('read', reads), ...declared('write', writes), ...kept];
}

/** A key by its name; the dots of a name are followed. */
function namedKey(direction: 'read' | 'write', value: string, valueType: ValueType | undefined): RoamKey {
  const [flat, deep] = direction === 'read' ? (['get', 'getDeep'] as const) : (['put', 'putDeep'] as const);
  const accessMethod = value.includes('.') ? deep : flat;
  const keyParts: KeyPart[] = [{ type: 'literal', value }];
  return { direction, accessMode: 'direct', accessMethod, keyParts, ...(valueType && { valueType }) };
}
