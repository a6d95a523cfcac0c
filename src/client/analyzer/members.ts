import type { MemberExpression } from 'acorn';
import { privateMember } from '../code/syntax.ts';
import { memberSafely } from './outer-names.ts';
import {
  absent,
  add,
  addUnder,
  carriesData,
  everythingIn,
  frameAt,
  given,
  inside,
  keyPartOf,
  known,
  listOf,
  type Made,
  note,
  numberOf,
  placesOf,
  type Scan,
  type Scope,
  type Site,
  scopeFor,
  unknown,
  type Value,
  valueIn,
} from './values.ts';

const accesses = new Set('get raw string int long double boolean list map getDeep resolve put putDeep keys'.split(' '));

/** The names that an expression asks for; null: one that the code does not tell. */
export function namesAsked({ property, computed }: MemberExpression, scope: Scope): (string | null)[] {
  if (property.type === 'PrivateIdentifier') return [`#${property.name}`];
  if (!computed && property.type === 'Identifier') return [property.name];
  return scope.scan.evaluate(property, scope).map(nameFrom);
}

export function nameFrom(value: Value): string | null {
  const part = keyPartOf(value);
  return part.type === 'literal' ? part.value : null;
}

/** The values of a member; of a name that is not known, everything that is in there. */
export function member(value: Value, name: string | null, site: Site): Value[] {
  const { scan } = site;
  switch (value.kind) {
    case 'data':
      if (name === 'deep') return [{ kind: 'data', deep: true }];
      if (name !== null && accesses.has(name)) return [{ kind: 'method', name, deep: value.deep }];
      if (!['ts', 'scene', 'signal'].includes(name ?? '')) scan.incomplete = true;
      return [unknown];
    case 'leaf':
      return leafMember(name, site);
    case 'field': {
      const { sample } = value;
      if (typeof sample !== 'object' || sample === null || Array.isArray(sample) || name === null) return [unknown];
      const found = memberSafely(sample, name);
      return [{ kind: 'field', path: `${value.path}.${name}`, sample: found.found ? found.value : null }];
    }
    case 'known':
      return [knownMember(value.value, name, scan), ...(scan.changes.has(value.value) ? [unknown] : [])];
    case 'made':
      return madeMember(value, name);
    default:
      return [unknown];
  }
}

function madeMember(made: Made, name: string | null): Value[] {
  const places = placesOf(made);
  if (name === null) return [...everythingIn(made), absent];
  if (made.shape === 'list' && name === 'length') return [places ? known(places.length) : unknown];
  if (made.shape === 'map' || (made.shape === 'list' && !/^\d+$/.test(name))) return [unknown];
  if (made.shape === 'list' && !places) return [...everythingIn(made), absent];
  const values = made.members.get(name);
  const mayBeAbsent = !values || made.others.length > 0;
  return [...(values ?? []), ...made.others, ...(mayBeAbsent ? [absent] : [])];
}

/** The value of a member of a value of the process, without running anybody's code. */
function knownMember(value: unknown, name: string | null, scan: Scan): Value {
  if (typeof value === 'string' && name === 'length') return known(value.length);
  const isObject = (typeof value === 'object' && value !== null) || typeof value === 'function';
  for (let at: unknown = isObject ? value : null; at && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    if (name === null || !Object.hasOwn(at, name)) continue;
    const found = memberSafely(at, name);
    return found.found ? valueIn(found.value, scan) : unknown;
  }
  return unknown;
}

function leafMember(name: string | null, site: Site): Value[] {
  const { scan } = site;
  const { fields, sample } = scan.subject;
  if (name === null) return [unknown];
  const assigned = [...(scan.leafMembers.get(name) ?? []), ...(scan.leafLost ? [unknown] : [])];
  const field = fields.find((each) => each.field === name);
  if (field) return [{ kind: 'field', path: name, sample: field.sample }, ...assigned];
  if (name.startsWith('#')) return [...privateInitial(name.slice(1), site), ...assigned];
  for (let at: object | null = sample; at; at = Object.getPrototypeOf(at)) {
    const getter = Object.getOwnPropertyDescriptor(at, name)?.get;
    if (getter) return [...scan.apply(known(getter), [{ kind: 'leaf' }], given(), inside(site, name)), ...assigned];
    if (Object.hasOwn(at, name)) break;
  }
  return [knownMember(sample, name, scan), ...assigned];
}

function privateInitial(name: string, site: Site): Value[] {
  const { scan, frame } = site;
  const owner: unknown = frame.home ? Reflect.get(frame.home, 'constructor') : scan.subject.leaf;
  const found = typeof owner === 'function' ? privateMember(owner, name) : undefined;
  if (typeof owner !== 'function' || !found || found.type === 'StaticBlock') return [unknown];
  if (!found.value) return [absent];
  const of = frameAt(`private ${numberOf(found)}`, scan, { code: owner, home: owner.prototype, isGenerator: false });
  const self: Value[] = [{ kind: 'leaf' }];
  add(scan, of.self, self);
  const scope = scopeFor(found, { scan, frame: of, parent: null });
  const values = scan.evaluate(found.value, scope);
  const isGetter = found.type === 'MethodDefinition' && found.kind === 'get';
  return isGetter ? values.flatMap((each) => scan.apply(each, self, given(), inside(site, name))) : values;
}

/** An assignment to a member; `isNew`: of an object that has no such member before. */
export function setMember(
  object: Value,
  name: string | null,
  values: readonly Value[],
  scan: Scan,
  isNew = false,
): void {
  if (object.kind === 'made') {
    if (name === null) add(scan, object.others, values);
    else {
      if (!isNew && !object.members.has(name)) addUnder(scan, object.members, name, [absent]);
      addUnder(scan, object.members, name, values);
    }
    if (object.lost || object.outside) scan.lose(values);
    return;
  }
  if (object.kind === 'leaf' && name !== null) addUnder(scan, scan.leafMembers, name, values);
  else if (object.kind === 'leaf' || object.kind === 'field') scan.leafLost = true;
  if (object.kind === 'data' || object.kind === 'method') scan.incomplete = true;
  if (object.kind === 'known') note(scan, scan.changes, object.value);
  // Of the leaf, only what may be changed or run by others.
  scan.lose(object.kind === 'leaf' ? values.filter((each) => carriesData(each)) : values);
}

/** The entries that a loop over a value sees. */
export function itemsOf(value: Value, site: Site): Value[] {
  const { scan } = site;
  if (value.kind === 'made' && value.shape === 'list') return everythingIn(value);
  if (value.kind === 'made' && value.shape === 'map')
    return entriesOf(value, site).flatMap((each, index) => listOf(inside(site, index), [each.name, each.values]));
  if (value.kind === 'made' || carriesData(value)) scan.lose([value]);
  return [unknown];
}

/** The names of an object's members or the keys of a map, and the values under them. */
export function entriesOf(value: Value, { scan }: Site): { name: Value[]; values: Value[] }[] {
  if (value.kind === 'made') {
    const entries = [...value.members].map(([name, values]) => ({ name: [valueIn(name, scan)], values }));
    return value.others.length > 0 ? [...entries, { name: [unknown], values: value.others }] : entries;
  }
  if (carriesData(value)) scan.lose([value]);
  return isEmpty(value) ? [] : [{ name: [unknown], values: [unknown] }];
}

const isEmpty = (value: Value): boolean => value.kind === 'known' && typeof value.value !== 'object';
