import type { SchemaKeys } from '../leaves/data-schema.ts';
import type { LeafEntry, Registry } from '../leaves/registry.ts';
import { type Around, keysOfLeaf, type LeafKeys } from './leaf-keys.ts';
import { openOuterNames } from './outer-names.ts';

/**
 * The registration of a client's leaves. An alias is published like a class: a rule that uses it is known as well. A leaf
 * whose code cannot be made out is published as one that may read any key, and `onError` is called.
 */
export function leafNodesOf({ entries }: Registry, onError: (error: unknown) => void, schema: SchemaKeys = new Map()) {
  const outerNames = openOuterNames();
  try {
    return entries.flatMap((entry) => {
      const keys = keysOf(entry, { outerNames, schema }, onError);
      return [entry.clazz, ...entry.aliases].map((clazz) => describe(entry, clazz, keys));
    });
  } finally {
    outerNames.close();
  }
}

function keysOf(entry: LeafEntry, around: Around, onError: (error: unknown) => void): LeafKeys {
  try {
    return keysOfLeaf(entry, new entry.definition.leaf(), around);
  } catch (error) {
    onError(new Error(`the keys of ${entry.clazz} are not known: its code cannot be made out`, { cause: error }));
    return { roamKeys: [], incomplete: true };
  }
}

/** A leaf class in the words of a registration. */
function describe({ kind, definition, fields }: LeafEntry, clazz: string, { roamKeys, incomplete }: LeafKeys) {
  const { name = '', desc = '', order = 100, comparison } = definition;
  const published = (offered: boolean) =>
    fields
      .filter((each) => each.offered === offered)
      .map(({ field, name, desc, type, sample }) => ({ field, name, desc, type, ...defaultOf(sample) }));
  const described = { type: kind, clazz, name, desc, order, iceFields: published(true), hideFields: published(false) };
  return { ...described, roamKeys, ...(incomplete && { incomplete }), ...(comparison && { comparison }) };
}

/** What a field holds when a rule configures nothing, where that is plain. */
function defaultOf(sample: unknown): { value?: string | number | boolean } {
  if (typeof sample === 'bigint') return { value: sample.toString() };
  const isPlain = typeof sample === 'string' || typeof sample === 'number' || typeof sample === 'boolean';
  return isPlain ? { value: sample } : {};
}
