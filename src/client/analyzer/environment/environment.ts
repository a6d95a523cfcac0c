import type { Pattern } from 'acorn';
import type { Binding, Environment, Evaluator, Meaning, Named, Scope, Thing } from '../interpreter.ts';
import { known, listOf, unknown } from '../values/things.ts';
import { innermost } from './scopes.ts';

/** The value of a name at a place of the code; undefined when it is not one of this function's. `isInner`: in a function inside. */
export function meaningsAt(
  { names }: Environment,
  name: string,
  place: number,
  isInner: boolean,
): Meaning[] | undefined {
  const entries = names.get(name) ?? [];
  const scopes = entries.map(({ scope }) => scope);
  const scope = innermost(scopes, place);
  const here = entries.filter((entry) => entry.scope === scope);
  // A function inside may run at any time.
  if (isInner) return scope && here.map(({ meaning }) => meaning);
  const last = here.findLast(({ at, replaces }) => replaces && at <= place);
  const isOver = ({ at }: Named) => last !== undefined && at < last.at;
  // Code above an assignment runs after it only in a loop around both.
  const isToCome = ({ at, replaces, again }: Named) => at > place && (replaces || (again && !isIn(again, place)));
  return scope && here.filter((entry) => !isOver(entry) && !isToCome(entry)).map(({ meaning }) => meaning);
}

/** Everything that some meanings come to. */
export function thingsOf(meanings: readonly Meaning[]): Thing[] {
  if (meanings.includes('grown')) return [unknown];
  const things = meanings.flatMap((meaning) => (typeof meaning === 'string' ? [] : meaning()));
  const isContained = things.some(isContainer);
  const held = meanings.includes('moved') ? things.map(withoutPlaces) : things;
  return meanings.includes('changed') && isContained ? [...held, listOf([unknown])] : held;
}

const isIn = ({ start, end }: Scope, place: number): boolean => start <= place && place < end;

/** A list of which the entries are known, and not their order. */
function withoutPlaces(thing: Thing): Thing {
  if (thing.kind === 'list') return listOf(thing.items);
  return thing.kind === 'known' && Array.isArray(thing.value) ? listOf(thing.value.map(known)) : thing;
}

function isContainer(thing: Thing): boolean {
  if (thing.kind === 'known')
    return typeof thing.value === 'function' || (typeof thing.value === 'object' && thing.value !== null);
  return thing.kind === 'list' || thing.kind === 'object' || thing.kind === 'merged';
}

/** Adds a meaning of a name: where it is declared in this function's code, else beside what the code around says. */
export function addMeaning(
  environment: Environment,
  name: string,
  { scope, meaning, at = 0, replaces = false, again }: Partial<Named> & { meaning: Meaning },
): void {
  const guarded = typeof meaning === 'string' ? meaning : onceAtATime(meaning);
  if (scope) put(environment.names, name, { scope, meaning: guarded, at, replaces, again });
  else put(environment.assigned, name, guarded);
}

/** Whether a name is declared in the code that is looked at, not in the module around it. */
export function isDeclared(name: string, place: number, environment: Environment): boolean {
  for (let at: Environment | null = environment; at; at = at.parent) if (meaningsAt(at, name, place, true)) return true;
  return false;
}

function put<T>(map: Map<string, T[]>, name: string, entry: T): void {
  const entries = map.get(name);
  if (entries) entries.push(entry);
  else map.set(name, [entry]);
}

type Around = { environment: Environment; evaluator: Evaluator; add: (name: string, binding: Binding) => void };

/** Hands what a pattern's names take out of a value to `add`. */
export function bind(pattern: Pattern, value: Binding, around: Around): void {
  const { environment, evaluator, add } = around;
  const part = (inner: Pattern, taken: Binding) => bind(inner, taken, around);
  if (pattern.type === 'Identifier') add(pattern.name, value);
  else if (pattern.type === 'AssignmentPattern')
    part(pattern.left, () => withDefault(value(), () => evaluator.evaluate(pattern.right, environment)));
  else if (pattern.type === 'RestElement') part(pattern.argument, () => [unknown]);
  else if (pattern.type === 'ObjectPattern') {
    for (const property of pattern.properties) {
      if (property.type !== 'Property') {
        part(property.argument, () => [unknown]);
        continue;
      }
      const { key } = property;
      const name = key.type === 'Identifier' && !property.computed ? key.name : undefined;
      part(property.value, () =>
        name === undefined ? [unknown] : value().flatMap((thing) => evaluator.member(thing, name)),
      );
    }
  } else if (pattern.type === 'ArrayPattern') {
    for (const [index, element] of pattern.elements.entries()) {
      if (element?.type === 'RestElement') part(element.argument, () => value().map((thing) => after(thing, index)));
      else if (element) part(element, () => value().flatMap((thing) => evaluator.member(thing, String(index))));
    }
  }
}

function withDefault(given: Thing[], fallback: () => Thing[]): Thing[] {
  const there = given.filter((thing) => !(thing.kind === 'known' && thing.value === undefined));
  const mayBeAbsent = there.length < given.length || there.some(({ kind }) => kind === 'unknown' || kind === 'read');
  return mayBeAbsent ? [...there, ...fallback()] : there;
}

function after(thing: Thing, index: number): Thing {
  if (thing.kind === 'list') return thing.closed ? { ...thing, items: thing.items.slice(index) } : listOf(thing.items);
  return thing.kind === 'known' && Array.isArray(thing.value)
    ? { kind: 'known', value: thing.value.slice(index) }
    : listOf([unknown]);
}

/** A name that is worked out from itself (`key = key + 'x'`) is not known that way. */
export function onceAtATime(binding: Binding): Binding {
  let busy = false;
  return () => {
    if (busy) return [unknown];
    busy = true;
    try {
      return binding();
    } finally {
      busy = false;
    }
  };
}
