import { didYouMean } from '../../shared/contract/nearest.ts';
import { type Field, fieldsOf } from './fields.ts';
import { type AnyLeaves, kindOf, type LeafClass, type LeafDefinition, type LeafKind } from './leaf.ts';

/** A leaf class ready to be made into nodes. */
export type LeafEntry = {
  clazz: string;
  aliases: readonly string[];
  kind: LeafKind;
  definition: LeafDefinition;
  fields: readonly Field[];
};

export type Registry = { entries: readonly LeafEntry[]; find(name: string): LeafEntry | undefined };

/** The leaf classes of a client by name and alias. Throws when a class cannot be made or has no method to run, or a name stands twice. */
export function createRegistry(leaves: AnyLeaves): Registry {
  const entries = Object.entries(leaves).map(([clazz, given]) => entryOf(clazz, given));
  const byName = new Map(entries.map((entry) => [entry.clazz, entry]));
  for (const entry of entries) {
    for (const alias of entry.aliases) {
      if (byName.has(alias))
        throw new TypeError(`two leaves are called ${alias}: ${byName.get(alias)?.clazz} and ${entry.clazz}`);
      byName.set(alias, entry);
    }
  }
  return { entries, find: (name) => byName.get(name) };
}

function entryOf(clazz: string, given: LeafClass | LeafDefinition): LeafEntry {
  const definition = typeof given === 'function' ? { leaf: given } : given;
  const sample = new definition.leaf();
  const kind = kindOf(sample);
  if (kind === undefined) throw new TypeError(`the leaf ${clazz} has none of the methods doFlow, doResult and doNone`);
  checkMembers(clazz, definition, sample);
  const { alias = [], comparison } = definition;
  const fields = fieldsOf(sample, definition.fields);
  if (comparison && kind !== 5) throw new TypeError(`comparison of ${clazz}: only a condition (doFlow) compares`);
  if (comparison && !fields.some(({ field }) => field === comparison.field))
    throw new TypeError(`comparison.field of ${clazz}: the class has no field ${comparison.field}`);
  const missing = comparison?.missing;
  if (typeof missing === 'string' && !fields.some(({ field }) => field === missing))
    throw new TypeError(`comparison.missing of ${clazz}: the class has no field ${missing}`);
  return {
    clazz,
    aliases: typeof alias === 'string' ? [alias] : alias,
    kind,
    definition,
    fields,
  };
}

const members = [
  'leaf',
  'name',
  'desc',
  'order',
  'alias',
  'fields',
  'keys',
  'reads',
  'writes',
  'comparison',
  'effects',
];

/** A misspelt name would have no effect, and nobody would know. */
function checkMembers(clazz: string, definition: LeafDefinition, sample: object): void {
  const unknown = Object.keys(definition).find((name) => !members.includes(name));
  if (unknown !== undefined)
    throw new TypeError(`${clazz}: a leaf's definition has no ${unknown}${didYouMean(unknown, members)}`);
  const fields = fieldsOf(sample).map(({ field }) => field);
  const missing = Object.keys(definition.fields ?? {}).find((name) => !fields.includes(name));
  if (missing !== undefined)
    throw new TypeError(`${clazz} has no field ${missing} to describe${didYouMean(missing, fields)}`);
}
