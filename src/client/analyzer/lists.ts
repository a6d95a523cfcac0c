import { type Thing, unknown } from './things.ts';

/** The entries of a list, as far as they are known. */
export function itemsOf(thing: Thing): Thing[] {
  if (thing.kind === 'list') return thing.items;
  if (thing.kind === 'text' || thing.kind === 'service') return [unknown];
  if (thing.kind !== 'known') return [unknown];
  const { value } = thing;
  if (Array.isArray(value) || value instanceof Set)
    return Array.from(value, (each) => ({ kind: 'known', value: each }));
  return value instanceof Map ? Array.from(value, (each) => ({ kind: 'known', value: each })) : [unknown];
}

/** The names of an object's members, as a list. */
export function namesIn(thing: Thing): Thing {
  const { value } = thing.kind === 'known' ? thing : { value: undefined };
  if (typeof value === 'object' && value !== null)
    return { kind: 'list', items: Object.keys(value).map((name) => ({ kind: 'known', value: name })) };
  if (thing.kind !== 'object') return { kind: 'list', items: [unknown] };
  const items = thing.node.properties.map((property): Thing => {
    if (property.type !== 'Property' || property.computed) return unknown;
    const { key } = property;
    if (key.type === 'Identifier') return { kind: 'known', value: key.name };
    return key.type === 'Literal' ? { kind: 'known', value: String(key.value) } : unknown;
  });
  return { kind: 'list', items };
}
