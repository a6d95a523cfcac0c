import type { Json } from './read-json.ts';

/** Reads members leniently: a value of an unexpected kind counts as missing. */
export function memberOf(json: Json | undefined, key: string): Json | undefined {
  return json?.kind === 'object' ? json.members.find((member) => member.key === key)?.value : undefined;
}

export function textOf(json: Json | undefined): string | null {
  return json?.kind === 'string' ? json.value : null;
}

/** A number as a JavaScript number: for counts and times, never for a rule's data. */
export function numberOf(json: Json | undefined): number | null {
  return json?.kind === 'number' ? Number(json.text) : null;
}

/** An id as decimal text. */
export function idOf(json: Json | undefined): string | null {
  return json?.kind === 'number' ? json.text : null;
}

export function itemsOf(json: Json | undefined): Json[] {
  return json?.kind === 'array' ? json.items : [];
}
