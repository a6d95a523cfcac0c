import type { ValueType } from '../../leaves/leaf.ts';
import type { KeyPart, Thing } from '../interpreter.ts';

export const known = (value: unknown): Thing => ({ kind: 'known', value });
export const sure = (value: unknown): Thing => ({ kind: 'known', value, sure: true });
export const unknown: Thing = { kind: 'unknown', type: undefined };
export const listOf = (items: Thing[]): Thing => ({ kind: 'list', items });

/** A list of places that may each hold several things. Its entries keep their places where each holds one. */
export function listOfPlaces(places: readonly Thing[][]): Thing {
  const items = places.flat();
  return places.every(({ length }) => length === 1) ? { kind: 'list', items, closed: true } : { kind: 'list', items };
}
/** The value of a parameter without an argument. */
export const absent: Thing = { kind: 'known', value: undefined };
const MAX_COMBINATIONS = 100;
export const derivedFromSomething: KeyPart = { type: 'roamDerived', fromKey: '?' };

/** A thing as (a part of) a key. */
export function keyPartOf(thing: Thing): KeyPart {
  switch (thing.kind) {
    case 'known':
      return isScalar(thing.value) ? { type: 'literal', value: String(thing.value) } : derivedFromSomething;
    case 'field':
      // A list or an object is no key: only what is in it may be.
      return isKeyLike(thing.field.sample) ? { type: 'field', ref: thing.field.field } : derivedFromSomething;
    case 'text':
      return joined(thing.parts);
    case 'read':
      return { type: 'roamDerived', fromKey: describe(thing.key) };
    default:
      return derivedFromSomething;
  }
}

/** Parts one after the other; neighbours that are known become one. */
function joined(parts: readonly KeyPart[]): KeyPart {
  const flat: KeyPart[] = [];
  for (const part of parts.flatMap((each) => (each.type === 'composite' ? each.parts : [each]))) {
    const last = flat.at(-1);
    if (part.type === 'literal' && last?.type === 'literal')
      flat[flat.length - 1] = { type: 'literal', value: last.value + part.value };
    else if (part.type !== 'literal' || part.value !== '') flat.push(part);
  }
  const [only] = flat;
  if (only === undefined) return { type: 'literal', value: '' };
  return flat.length === 1 ? only : { type: 'composite', parts: flat };
}

/** Without what is absent, where something else may be there: nobody means a key of the name `undefined`. */
function present(things: readonly Thing[]): readonly Thing[] {
  const there = things.filter((thing) => !(thing.kind === 'known' && thing.value === undefined));
  return there.length > 0 ? there : things;
}

/** Arguments that are each one known number; null in the place of any other. */
export function knownNumbers(given: readonly (readonly Thing[])[]): (number | null)[] {
  return given.map(([only, ...others]) =>
    only?.kind === 'known' && typeof only.value === 'number' && others.length === 0 ? only.value : null,
  );
}

/** Texts that are put together of parts which may each be several things: every combination, up to a few. */
export function textsOf(parts: readonly Thing[][]): Thing[] {
  let texts: KeyPart[][] = [[]];
  for (const alternatives of parts) {
    const keyParts = (alternatives.length > 0 ? present(alternatives) : [unknown]).map(keyPartOf);
    const all = texts.flatMap((text) => keyParts.map((part) => [...text, part]));
    if (all.length > MAX_COMBINATIONS) return [unknown];
    texts = all;
  }
  return texts.map((text) => asThing(joined(text)));
}

function asThing(part: KeyPart): Thing {
  return part.type === 'literal' ? { kind: 'known', value: part.value } : { kind: 'text', parts: [part] };
}

/** A key in one line, configured parts as `${field}`. */
function describe(part: KeyPart): string {
  switch (part.type) {
    case 'literal':
      return part.value;
    case 'field':
      return `\${${part.ref}}`;
    case 'roamDerived':
      return '?';
    case 'composite':
      return part.parts.map(describe).join('');
  }
}

/** The type of value a thing is; undefined when nobody knows. */
export function typeOfThing(thing: Thing): ValueType | undefined {
  switch (thing.kind) {
    case 'known':
      return typeOfValue(thing.value);
    case 'field':
      return typeOfValue(thing.field.sample);
    case 'text':
      return 'String';
    case 'list':
      return 'List';
    case 'object':
      return 'Map';
    case 'read':
    case 'unknown':
      return thing.type;
    default:
      return undefined;
  }
}

function typeOfValue(value: unknown): ValueType | undefined {
  if (Array.isArray(value)) return 'List';
  switch (typeof value) {
    case 'string':
      return 'String';
    case 'boolean':
      return 'Boolean';
    case 'number':
      return 'Double';
    case 'bigint':
      return 'Long';
    case 'object':
      return value === null ? undefined : 'Map';
    default:
      return undefined;
  }
}

const isKeyLike = (sample: unknown): boolean => sample == null || isScalar(sample);

function isScalar(value: unknown): boolean {
  return ['string', 'number', 'bigint', 'boolean'].includes(typeof value);
}

/** The possible values of things as a key, each way once. */
export function keysOf(things: readonly Thing[]): KeyPart[] {
  const parts = present(things).map(keyPartOf);
  return [...new Map(parts.map((part) => [JSON.stringify(part), part])).values()];
}
