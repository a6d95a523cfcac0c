import type { SchemaKeys } from '../leaves/data-schema.ts';
import type { Field } from '../leaves/fields.ts';
import type { LeafComparison } from '../leaves/leaf.ts';
import type { LeafEntry, Registry } from '../leaves/registry.ts';
import { type Around, keysOfLeaf, type LeafKeys, type RoamKey } from './leaf-keys.ts';
import { openOuterNames } from './outer-names.ts';

/** `value`: what the field holds when a rule configures nothing, where that is plain. */
type PublishedField = Pick<Field, 'field' | 'name' | 'desc' | 'type'> & { value?: string | number | boolean };

/** A client's description of one of its leaf classes, in the words of a registration. */
type LeafNodeInfo = {
  type: number;
  clazz: string;
  name: string;
  desc: string;
  order: number;
  iceFields: PublishedField[];
  hideFields: PublishedField[];
  roamKeys: RoamKey[];
  /** It may read more keys than these. */
  incomplete?: true;
  comparison?: LeafComparison;
};

/**
 * The registration of a client's leaves. An alias is published like a class: a rule that uses it is known as well. A leaf
 * whose code cannot be made out is published as one that may read any key, and `onError` is called.
 */
export function leafNodesOf(
  { entries }: Registry,
  onError: (error: unknown) => void,
  schema: SchemaKeys = new Map(),
): LeafNodeInfo[] {
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

function describe(
  { kind, definition, fields }: LeafEntry,
  clazz: string,
  { roamKeys, incomplete }: LeafKeys,
): LeafNodeInfo {
  const { name = '', desc = '', order = 100, comparison } = definition;
  const published = (offered: boolean): PublishedField[] =>
    fields
      .filter((each) => each.offered === offered)
      .map(({ field, name, desc, type, sample }) => ({ field, name, desc, type, ...defaultOf(sample) }));
  const described = { type: kind, clazz, name, desc, order, iceFields: published(true), hideFields: published(false) };
  return { ...described, roamKeys, ...(incomplete && { incomplete }), ...(comparison && { comparison }) };
}

function defaultOf(sample: unknown): { value?: string | number | boolean } {
  if (typeof sample === 'bigint') return { value: sample.toString() };
  const isPlain = typeof sample === 'string' || typeof sample === 'number' || typeof sample === 'boolean';
  return isPlain ? { value: sample } : {};
}
