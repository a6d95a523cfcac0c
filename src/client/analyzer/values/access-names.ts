import type { ValueType } from '../../leaves/leaf.ts';

/** The methods that read, and the type each gives. */
export const readers: ReadonlyMap<string, ValueType | undefined> = new Map([
  ['get', undefined],
  ['raw', undefined],
  ['string', 'String'],
  ['int', 'Integer'],
  ['long', 'Long'],
  ['double', 'Double'],
  ['boolean', 'Boolean'],
  ['list', 'List'],
  ['map', 'Map'],
]);

/** Whether the data has a method of this name that reads or writes a key. */
export function isAccess(name: string): boolean {
  return readers.has(name) || ['getDeep', 'resolve', 'put', 'putDeep'].includes(name);
}
