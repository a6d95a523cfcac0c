import type { Data } from '../../../src/client/engine/data/data.ts';

/** Keys and functions that leaves import: they stand in another module than the leaf that uses them. */
export const KEYS = { level: 'level', city: 'city' };
export const PREFIX = 'user.';
export const listed = ['first', 'second'];

export function spentOf(service: Data): number {
  return service.double('spent', 0);
}

export const readText = (service: Data, key: string, fallback = ''): string => service.string(key) ?? fallback;

export function keyOf(name: string): string {
  return `${PREFIX}${name}`;
}
