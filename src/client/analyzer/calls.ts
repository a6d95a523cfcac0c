import type { CallExpression, NewExpression } from 'acorn';
import { functionNodeOf } from '../code/syntax.ts';
import type { ValueType } from '../leaves/leaf.ts';
import { builtIn, isOfNode } from './built-ins.ts';
import { bind, listOf, member, namesOf, restOf } from './evaluate.ts';
import {
  absent,
  add,
  type Closure,
  carriesData,
  describe,
  entryAt,
  everythingIn,
  functionScope,
  idOf,
  inside,
  isNothing,
  itemsOf,
  type KeyPart,
  keyPartOf,
  keysOf,
  listAt,
  type Made,
  notUnderstood,
  numberOf,
  opened,
  placesOf,
  type Scan,
  type Scope,
  type Site,
  siteOf,
  sole,
  typeOf,
  unknown,
  type Value,
} from './values.ts';

const MAX_DEEP = 40;

export function call({ callee, arguments: parts }: CallExpression, scope: Scope): Value[] {
  const { scan } = scope;
  const site = siteOf(callee, scope);
  if (callee.type !== 'MemberExpression') {
    // Code in a text has all names around it.
    if (callee.type === 'Identifier' && callee.name === 'eval') notUnderstood(scan);
    const called = scan.evaluate(callee, scope);
    const given = listOf(parts, site, scope);
    return called.flatMap((each) => scan.apply(each, [unknown], given, site));
  }
  const objects = scan.evaluate(callee.object, scope);
  const names = namesOf(callee.property, callee.computed, scope);
  const given = listOf(parts, site, scope);
  return objects.flatMap((object) =>
    names.flatMap((name) => {
      const ofName = inside(site, String(name));
      const methods = member(object, name, ofName);
      // It may be put there later.
      if (methods.every(isNothing)) scan.lose(everythingIn(given));
      return methods.flatMap((each) => scan.apply(each, [object], given, ofName));
    }),
  );
}

export function construct(node: NewExpression, scope: Scope): Value[] {
  const { scan } = scope;
  const site = siteOf(node, scope);
  const made = sole(scan.evaluate(node.callee, scope));
  const given = listOf(node.arguments, inside(site, 'given'), scope);
  const held = entryAt(given, 0).filter((each) => !isNothing(each));
  if (made?.kind === 'known' && made.value === Set) {
    // A set keeps each value once.
    const places = new Map(placesOf(held, scan)?.map((each) => [each.map(idOf).join(), each]));
    const items = places.size > 0 ? [] : held.flatMap((each) => itemsOf(each, site));
    return [listAt(site, [...places.values()], items, 'set')];
  }
  scan.lose(everythingIn(given));
  return [unknown];
}

/** The values that a call may return; where the code of what is called is not seen, what is given to it is lost. */
export function apply(called: Value, self: Value[], given: Made, site: Site): Value[] {
  const { scan, key } = site;
  if (called.kind === 'data' && called.method !== null) return access(called.method, called.deep, given, site);
  if (called.kind === 'closure') return invoke(called, self, given, site);
  // Calling nothing fails, or does not happen behind a `?.`.
  if (isNothing(called)) return [absent];
  const code = called.kind === 'known' && typeof called.value === 'function' ? called.value : undefined;
  const results = code && self.map((each, index) => builtIn(code, each, given, { ...site, key: `${key}.${index}` }));
  if (results?.every((each) => each !== undefined)) return results.flat();
  const node = code && !isOfNode(code) ? functionNodeOf(code) : undefined;
  if (code && node) {
    const scope = functionScope({ scan, key: `of ${numberOf(code)}`, code }, null);
    return invoke({ kind: 'closure', node, scope }, self, given, site);
  }
  const held = self.filter((each) => carriesData(each) || opened(each, scan));
  scan.lose([called, ...held, ...everythingIn(given)]);
  return [unknown];
}

/** Walks a function: in one scope for all calls from this place of the code, once in each walk. */
function invoke(closure: Closure, self: Value[], given: Made, { scan, key }: Site): Value[] {
  const { node, scope: around } = closure;
  const id = idOf(closure);
  scan.invoked.add(id);
  const running = scan.running.get(id);
  if (!running && scan.running.size >= MAX_DEEP) return notUnderstood(scan);
  const scope = running ?? functionScope({ scan, key: `${key} ${id}`, code: around.code }, around);
  const isArrow = node.type === 'ArrowFunctionExpression';
  add(scan, scope.self, isArrow && around.self.length > 0 ? around.self : self);
  if (!isArrow) bind({ type: 'Identifier', name: 'arguments', start: 0, end: 0 }, [given], scope, scope.names);
  if (node.type === 'FunctionExpression' && node.id) bind(node.id, [closure], scope, scope.names);
  for (const [index, pattern] of node.params.entries())
    if (pattern.type !== 'RestElement') bind(pattern, entryAt(given, index), scope, scope.names);
    else bind(pattern.argument, [restOf([given], index, siteOf(pattern, scope))], scope, scope.names);
  if (!running) {
    scan.running.set(id, scope);
    const values = scan.evaluate(node.body, scope);
    const last = node.body.type === 'BlockStatement' ? node.body.body.at(-1)?.type : 'ReturnStatement';
    add(scan, scope.returned, last === 'ReturnStatement' || last === 'ThrowStatement' ? values : [absent]);
    scan.running.delete(id);
  }
  if (!node.generator) return [...scope.returned];
  scan.lose(scope.returned);
  return [unknown];
}

/** The types that methods of the data read. */
const readers: Readonly<Record<string, ValueType>> = {
  ...{ string: 'String', int: 'Integer', long: 'Long', double: 'Double', boolean: 'Boolean', list: 'List', map: 'Map' },
};

/** A call of a method of the data: notes the keys it names, and gives its result. */
function access(name: string, isDeepData: boolean, given: Made, { scan, key: site }: Site): Value[] {
  if (name === 'keys') return [unknown];
  const asked = entryAt(given, 0);
  // Nothing is known of the key in this walk of the code yet. If it is the last walk, nobody sees where it comes from.
  if (asked.length === 0) scan.incomplete = true;
  // `resolve` reads a key only behind an `@`: anything else is the value itself.
  const union = name === 'resolve';
  const named = asked.filter((value) => !union || mayBeReference(value));
  const keys = keysOf(named);
  const isDeep = isDeepData || name.endsWith('Deep');
  if (name.startsWith('put')) {
    const written = entryAt(given, 1);
    scan.lose(written.filter((value) => carriesData(value)));
    const method = isDeep ? 'putDeep' : 'put';
    scan.accesses.push({ direction: 'write', method, union, keys, type: typeOf(written), site });
    return [unknown];
  }
  const type = readers[name];
  scan.accesses.push({ direction: 'read', method: isDeep ? 'getDeep' : 'get', union, keys, type, site });
  const derived = keys.map((key): KeyPart => ({ type: 'roamDerived', fromKey: describe(key) }));
  const read = derived.map((part): Value => ({ kind: 'part', part, site, type }));
  return [...read, ...asked.filter((value) => !named.includes(value))];
}

function mayBeReference(value: Value): boolean {
  const part = keyPartOf(value);
  const first = part.type === 'composite' ? part.parts[0] : part;
  return first?.type !== 'literal' || first.value.startsWith('@');
}

export function lose(values: readonly Value[], scan: Scan): void {
  for (const value of values) {
    if (value.kind === 'data') scan.incomplete = true;
    const made = value.kind === 'known' && typeof value.value === 'function' ? undefined : opened(value, scan);
    const id = idOf(value);
    if (!(made || value.kind === 'closure') || scan.lost.has(id)) continue;
    scan.lost.add(id);
    const site = { scan, key: `lost ${id}`, code: Object };
    if (value.kind === 'closure') lose(apply(value, [unknown], listAt(site, [], [unknown]), site), scan);
    if (!made) continue;
    made.shared = true;
    add(scan, made.others, [unknown]);
    if (value.kind === 'made') lose(everythingIn(value), scan);
  }
}
