import type { AnyNode, CallExpression, NewExpression } from 'acorn';
import { functionNodeOf } from '../code/syntax.ts';
import type { ValueType } from '../leaves/leaf.ts';
import { builtIn, isOfNode, listMethod, textMethod } from './built-ins.ts';
import { bind, isText, superOf } from './expressions.ts';
import { itemsOf, member, namesAsked } from './members.ts';
import {
  absent,
  add,
  anything,
  given as args,
  argument,
  type Closure,
  carriesData,
  everyArgument,
  everythingIn,
  frameAt,
  type Given,
  idOf,
  inside,
  isNothing,
  isPlain,
  keyPartOf,
  keysOf,
  listOf,
  numberOf,
  placesOf,
  type Scan,
  type Scope,
  type Site,
  scopeFor,
  siteOf,
  sole,
  typeOf,
  unknown,
  type Value,
} from './values.ts';

const MAX_DEEP = 40;
const MAX_ERRANDS = 100;
const module: AnyNode = { type: 'EmptyStatement', start: 0, end: 0 };

export function call(node: CallExpression, scope: Scope): Value[] {
  const { scan } = scope;
  const callee = unwrapped(node.callee);
  const site = siteOf(node, scope);
  if (callee.type === 'Super') {
    scan.lose(everyArgument(givenIn(node.arguments, scope)));
    return [unknown];
  }
  if (callee.type !== 'MemberExpression') {
    // Code in a text has all names around it.
    if (callee.type === 'Identifier' && callee.name === 'eval') scan.incomplete = true;
    const called = scan.evaluate(callee, scope);
    const given = givenIn(node.arguments, scope);
    return called.flatMap((each) => scan.apply(each, [unknown], given, site));
  }
  const isSuper = callee.object.type === 'Super';
  const objects = isSuper ? superOf(scope) : scan.evaluate(callee.object, scope);
  const names = namesAsked(callee, scope);
  const given = givenIn(node.arguments, scope);
  return objects.flatMap((object) =>
    names.flatMap((name) => callMember(object, name, { self: isSuper ? scope.frame.self : [object], given, site })),
  );
}

function unwrapped(node: AnyNode): AnyNode {
  return node.type === 'ChainExpression' || node.type === 'ParenthesizedExpression' ? unwrapped(node.expression) : node;
}

function givenIn(nodes: CallExpression['arguments'], scope: Scope): Given {
  const places: Value[][] = [];
  let more: Value[] | null = null;
  for (const node of nodes) {
    const values = scope.scan.evaluate(node.type === 'SpreadElement' ? node.argument : node, scope);
    const spread = node.type === 'SpreadElement' ? placesOf(sole(values)) : [values];
    if (spread && !more) places.push(...spread);
    else
      more = [
        ...(more ?? []),
        ...(node.type === 'SpreadElement' ? values.flatMap((each) => itemsOf(each, siteOf(node, scope))) : values),
      ];
  }
  return { places, more };
}

type MemberCall = { self: Value[]; given: Given; site: Site };

function callMember(object: Value, name: string | null, call: MemberCall): Value[] {
  const { self, given, site } = call;
  const { scan } = site;
  const special = name === null ? undefined : methodOfLanguage(object, name, call);
  if (special) return special;
  const methods =
    object.kind === 'made' || object.kind === 'data' || object.kind === 'leaf' || object.kind === 'known'
      ? member(object, name, inside(site, 'own'))
      : [];
  if (methods.some((each) => each.kind !== 'unknown' && !isNothing(each)))
    return methods.flatMap((each) => scan.apply(each, self, given, site));
  const byText = name === null ? undefined : textMethod(object, name, given, inside(site, 'text'));
  if (byText) return byText;
  scan.lose([
    ...everyArgument(given),
    ...(object.kind === 'made' || object.kind === 'leaf' || carriesData(object) ? [object] : []),
  ]);
  return [unknown];
}

/** Methods of functions, lists and promises. What a promise comes to counts as the promise. */
function methodOfLanguage(object: Value, name: string, { given, site }: MemberCall): Value[] | undefined {
  const { scan } = site;
  const isFunction =
    ['closure', 'method', 'bound'].includes(object.kind) ||
    (object.kind === 'known' && typeof object.value === 'function');
  const rest = { ...given, places: given.places.slice(1) };
  if (isFunction && name === 'call') return scan.apply(object, argument(given, 0), rest, site);
  if (isFunction && name === 'apply') {
    const places = placesOf(sole(argument(given, 1)));
    const more = places ? null : argument(given, 1).flatMap((each) => itemsOf(each, inside(site, 'spread')));
    return scan.apply(object, argument(given, 0), { places: places ?? [], more }, site);
  }
  if (isFunction && name === 'bind' && !given.more)
    return [{ kind: 'bound', target: object, self: argument(given, 0), given: rest.places }];
  if (object.kind === 'made' && !object.members.has(name)) {
    const result = listMethod(object, name, given, site);
    if (result) return result;
  }
  const isOther = object.kind === 'known' ? !isPlain(object.value) : object.kind === 'made' && object.members.has(name);
  if (isOther || !['then', 'catch', 'finally'].includes(name)) return undefined;
  const handled = (index: number, values: Value[]) =>
    argument(given, index).flatMap((each, number) =>
      scan.apply(each, [unknown], args(values), inside(site, `${index}.${number}`)),
    );
  if (name === 'finally') handled(0, [absent]);
  if (name !== 'then') return [object, ...(name === 'catch' ? handled(0, [unknown]) : [])];
  return [...handled(0, [object]), ...handled(1, [unknown])];
}

export function construct(node: NewExpression, scope: Scope): Value[] {
  const { scan } = scope;
  const made = sole(scan.evaluate(node.callee, scope));
  const given = givenIn(node.arguments, scope);
  const site = siteOf(node, scope);
  const of = made?.kind === 'known' ? made.value : undefined;
  const lists = argument(given, 0).filter((each) => !isNothing(each));
  if (of === Set || (of === Array && lists.length === 0)) {
    // A set keeps each value once.
    const places = new Map((placesOf(sole(lists)) ?? []).map((each) => [each.map(idOf).join(), each]));
    return listOf(
      site,
      lists.length === 0 || places.size > 0 ? [...places.values()] : null,
      lists.flatMap((each) => itemsOf(each, site)),
    );
  }
  scan.lose(everyArgument(given));
  return [unknown];
}

/** What calling a value gives. */
export function apply(called: Value, self: Value[], given: Given, site: Site): Value[] {
  const { scan } = site;
  if (called.kind === 'method') return access(called, given, site);
  if (called.kind === 'closure') return invoke(called, self, given, site);
  if (called.kind === 'bound')
    return scan.apply(
      called.target,
      called.self,
      { places: [...called.given, ...given.places], more: given.more },
      site,
    );
  const value = called.kind === 'known' ? called.value : undefined;
  // Calling nothing fails, or does not happen behind a `?.`.
  if (isNothing(called)) return [absent];
  const result = called.kind === 'known' ? builtIn(value, given, site) : undefined;
  if (result) return result;
  const node = typeof value === 'function' && !isOfNode(value) ? functionNodeOf(value) : undefined;
  const isErrand = ![...self, ...everyArgument(given)].some((each) => each.kind === 'leaf' || carriesData(each));
  if (node && typeof value === 'function' && !(isErrand && ++scan.errands > MAX_ERRANDS)) {
    const home = homeOf(value, scan.subject.leaf.prototype);
    const frame = frameAt(`of ${numberOf(value)}`, scan, { code: value, home, isGenerator: false });
    return invoke(
      {
        kind: 'closure',
        node,
        scope: scopeFor(module, { scan, frame, parent: null }),
        self: null,
      },
      self,
      given,
      site,
    );
  }
  scan.lose([...self.filter((each) => carriesData(each)), ...everyArgument(given)]);
  return [unknown];
}

/** The prototype of the leaf or its ancestors that a method stands on. */
function homeOf(code: object, prototype: object): object | null {
  for (let object: object | null = prototype; object; object = Object.getPrototypeOf(object))
    for (const { value, get } of Object.values(Object.getOwnPropertyDescriptors(object)))
      if (value === code || get === code) return object;
  return null;
}

/** Walks a function: in one frame for all calls from this place of the code, once in each walk. */
function invoke(closure: Closure, self: Value[], given: Given, site: Site): Value[] {
  const { scan } = site;
  const { node, scope } = closure;
  const id = idOf(closure);
  scan.invoked.add(id);
  const running = scan.running.get(id);
  if (!running && scan.running.size >= MAX_DEEP) {
    scan.incomplete = true;
    return [unknown];
  }
  const frame =
    running ??
    frameAt(`${site.key} ${id}`, scan, { code: scope.frame.code, home: scope.frame.home, isGenerator: node.generator });
  const own = scopeFor(node, { scan, frame, parent: scope });
  add(scan, frame.self, node.type === 'ArrowFunctionExpression' && closure.self ? closure.self : self);
  bindParameters(closure, running ? widened(given) : given, own);
  if (!running) {
    scan.running.set(id, frame);
    const values = scan.evaluate(node.body, own);
    const last = node.body.type === 'BlockStatement' ? node.body.body.at(-1) : undefined;
    if (node.body.type !== 'BlockStatement') add(scan, frame.returned, values);
    else if (last?.type !== 'ReturnStatement' && last?.type !== 'ThrowStatement') add(scan, frame.returned, [absent]);
    scan.running.delete(id);
  }
  return node.generator ? listOf(inside(site, id), null, frame.yielded) : [...frame.returned];
}

/** A function that calls itself with a text that grows is not followed further. */
function widened({ places, more }: Given): Given {
  const wide = (values: Value[]) => values.map((each) => (isText(each) ? unknown : each));
  return { places: places.map(wide), more: more && wide(more) };
}

function bindParameters({ node, scope: around, self }: Closure, given: Given, scope: Scope): void {
  const site = siteOf(node, scope);
  const from = (index: number, at: Site) =>
    given.more ? listOf(at, null, everyArgument(given)) : listOf(at, given.places.slice(index));
  if (scope.names.has('arguments'))
    bind({ type: 'Identifier', name: 'arguments', start: 0, end: 0 }, from(0, site), scope);
  if (node.type === 'FunctionExpression' && node.id)
    bind(node.id, [{ kind: 'closure', node, scope: around, self }], scope);
  for (const [index, pattern] of node.params.entries())
    if (pattern.type === 'RestElement') bind(pattern.argument, from(index, inside(site, index)), scope);
    else bind(pattern, argument(given, index), scope);
}

/** The methods that read, and the type each gives. */
const readers: ReadonlyMap<string, ValueType> = new Map([
  ['string', 'String'],
  ['int', 'Integer'],
  ['long', 'Long'],
  ['double', 'Double'],
  ['boolean', 'Boolean'],
  ['list', 'List'],
  ['map', 'Map'],
]);

/** A call of a method of the data: notes the keys it names, and gives its result. */
function access({ name, deep }: Value & { kind: 'method' }, given: Given, { scan, key: site }: Site): Value[] {
  const asked = argument(given, 0);
  if (name === 'keys') return [unknown];
  // Nothing is known of it in this walk of the code yet.
  if (asked.length === 0 && !scan.settled) return [];
  const isDeep = deep || name.endsWith('Deep');
  if (name.startsWith('put')) {
    const written = argument(given, 1);
    scan.lose(written.filter((value) => carriesData(value)));
    const type = typeOf(written);
    scan.accesses.push({
      direction: 'write',
      method: isDeep ? 'putDeep' : 'put',
      union: false,
      keys: keysOf(asked),
      type,
      site,
    });
    return [unknown];
  }
  // `resolve` reads a key only behind an `@`: anything else is the value itself.
  const union = name === 'resolve';
  const values = union ? asked.filter((value) => !mayBeReference(value)) : [];
  const keys = union && values.length === asked.length ? [] : keysOf(asked.filter((value) => !values.includes(value)));
  const type = readers.get(name);
  scan.accesses.push({ direction: 'read', method: isDeep ? 'getDeep' : 'get', union, keys, type, site });
  return [...keys.map((key): Value => ({ kind: 'read', key, site, type })), ...values];
}

function mayBeReference(value: Value): boolean {
  const part = keyPartOf(value);
  const first = part.type === 'composite' ? part.parts[0] : part;
  return first?.type !== 'literal' || first.value.startsWith('@');
}

export function lose(values: readonly Value[], scan: Scan): void {
  for (const value of values) {
    const { kind } = value;
    if (kind === 'data' || kind === 'method') scan.incomplete = true;
    if (kind === 'leaf') scan.leafLost = true;
    if (!['closure', 'bound', 'made'].includes(kind) || scan.lost.has(idOf(value))) continue;
    scan.lost.add(idOf(value));
    const frame = frameAt('nowhere', scan, { code: Object, home: null, isGenerator: false });
    if (value.kind === 'made') {
      value.lost = true;
      add(scan, value.others, [unknown]);
      lose(everythingIn(value), scan);
    } else lose(apply(value, [unknown], anything, { scan, frame, key: `lost ${idOf(value)}` }), scan);
  }
}
