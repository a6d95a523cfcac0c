import type { SchemaKeys } from '../leaves/data-schema.ts';
import type { ValueType } from '../leaves/leaf.ts';
import type { Access, KeyPart } from './values.ts';

/** A key that a leaf's code reads or writes, in the words of a registration. */
export type RoamKey = {
  direction: 'read' | 'write' | 'read_write';
  accessMode: 'direct' | 'union';
  accessMethod: Access['method'];
  keyParts: KeyPart[];
  valueType?: ValueType;
};

/** The keys of a leaf with what the schema of its app says about them: their types, and where the code may read more keys, all there are. */
export function withSchema(found: RoamKey[], schema: SchemaKeys, mayReadMore: boolean): RoamKey[] {
  const typed = found.map((key): RoamKey => {
    const [part] = key.keyParts;
    const valueType = part?.type === 'literal' ? schema.get(part.value) : undefined;
    return valueType ? { ...key, valueType } : key;
  });
  if (!mayReadMore) return typed;
  const known = new Set(typed.flatMap(({ keyParts: [part] }) => (part?.type === 'literal' ? [part.value] : [])));
  const possible = innermostOf(schema).filter(([key]) => !known.has(key));
  return [...typed, ...possible.map(([key, type]) => namedKey('read', key, type))];
}

/** Not the objects whose members are described. */
function innermostOf(schema: SchemaKeys) {
  const keys = [...schema.keys()];
  return [...schema].filter(([key]) => !keys.some((other) => other.startsWith(`${key}.`)));
}

/** A key by its name; the dots of a name are followed. */
export function namedKey(direction: 'read' | 'write', value: string, valueType: ValueType | undefined): RoamKey {
  const [flat, deep] = direction === 'read' ? (['get', 'getDeep'] as const) : (['put', 'putDeep'] as const);
  const accessMethod = value.includes('.') ? deep : flat;
  return {
    ...{ direction, accessMode: 'direct', accessMethod, keyParts: [{ type: 'literal', value }] },
    ...(valueType && { valueType }),
  };
}
