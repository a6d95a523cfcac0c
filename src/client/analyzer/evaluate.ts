import { isProxy } from 'node:util/types';
import type {
  AnyNode,
  AssignmentExpression,
  BinaryExpression,
  ForInStatement,
  ForOfStatement,
  MemberExpression,
  ObjectExpression,
  ObjectPattern,
  SpreadElement,
  UnaryExpression,
  VariableDeclaration,
} from 'acorn';
import { dataMethods } from '../code/only-computes.ts';
import { childrenOf, functionNodeOf } from '../code/syntax.ts';
import type { ValueType } from '../leaves/leaf.ts';
import { memberSafely } from './outer-names.ts';
import {
  absent,
  add,
  addUnder,
  blockScope,
  type Closure,
  carriesData,
  configured,
  entriesOf,
  entryAt,
  everythingIn,
  idOf,
  inside,
  isNothing,
  isTruthy,
  itemsOf,
  keyPartOf,
  known,
  listAt,
  type Made,
  madeAt,
  notUnderstood,
  ofType,
  opened,
  placesOf,
  plainValue,
  prototypes,
  type Scan,
  type Scope,
  type Site,
  siteOf,
  textsOf,
  typeNamed,
  typeOf,
  unknown,
  use,
  type Value,
} from './values.ts';

/** Walks a statement on every way that its conditions may take. False for a node that is no statement. */
export function executeStatement(node: AnyNode, scope: Scope): boolean {
  const { scan } = scope;
  switch (node.type) {
    case 'VariableDeclaration':
      for (const { id, init } of node.declarations) {
        // A `var` in a block is there outside of it, too.
        const isAbsent = id.type === 'Identifier' && (!init || node.kind === 'var');
        const values = [...(init ? scan.evaluate(init, scope) : []), ...(isAbsent ? [absent] : [])];
        bind(id, values, scope, namesFor(node, scope));
      }
      return true;
    case 'FunctionDeclaration':
      if (node.id) bind(node.id, [closure(node, scope)], scope, scope.names);
      return true;
    case 'ReturnStatement':
      add(scan, scope.returned, node.argument ? scan.evaluate(node.argument, scope) : [absent]);
      return true;
    case 'ThrowStatement':
      scan.lose(scan.evaluate(node.argument, scope));
      return true;
    case 'ForOfStatement':
    case 'ForInStatement':
      loop(node, blockScope(node, scope));
      return true;
    case 'CatchClause': {
      const inner = blockScope(node, scope);
      if (node.param) bind(node.param, [unknown], inner, inner.names);
      scan.evaluate(node.body, inner);
      return true;
    }
    case 'BlockStatement':
    case 'ForStatement':
    case 'SwitchStatement': {
      const inner = blockScope(node, scope);
      // The functions of a block are there from its beginning.
      const isFunction = ({ type }: AnyNode) => Number(type === 'FunctionDeclaration');
      for (const child of childrenOf(node).sort((one, other) => isFunction(other) - isFunction(one)))
        scan.evaluate(child, inner);
      return true;
    }
    default:
      if (!/Statement$|^SwitchCase$/.test(node.type) || node.type === 'WithStatement') return false;
      for (const child of childrenOf(node)) scan.evaluate(child, scope);
      return true;
  }
}

const namesFor = ({ kind }: VariableDeclaration, { vars, names }: Scope) => (kind === 'var' ? vars : names);

function loop(node: ForOfStatement | ForInStatement, scope: Scope): void {
  const { scan } = scope;
  const over = scan.evaluate(node.right, scope);
  const site = siteOf(node, scope);
  const isOf = node.type === 'ForOfStatement';
  if (isOf) use(scan, over, 'List');
  const entries = over.flatMap((each) =>
    isOf ? itemsOf(each, site) : entriesOf(each, site).flatMap(({ name }) => name),
  );
  if (node.left.type !== 'VariableDeclaration') bind(node.left, entries, scope);
  else for (const { id } of node.left.declarations) bind(id, entries, scope, namesFor(node.left, scope));
  scan.evaluate(node.body, scope);
}

/** The values that an expression may have. Of an expression of any other kind the parts are evaluated, and it counts as not understood. */
export function evaluateExpression(node: AnyNode, scope: Scope): Value[] {
  const { scan } = scope;
  const evaluate = (part: AnyNode) => scan.evaluate(part, scope);
  switch (node.type) {
    case 'Literal':
      return [known(node.bigint ? BigInt(node.bigint) : node.value)];
    case 'Identifier':
      return named(node.name, scope);
    case 'ThisExpression':
      return scope.self;
    case 'MemberExpression':
      return memberValues(node, scope);
    case 'TemplateLiteral':
      return textsOf(childrenOf(node).map(evaluate));
    case 'TemplateElement':
      return [known(node.value.cooked ?? '')];
    case 'BinaryExpression':
      return binary(node, scope);
    case 'LogicalExpression': {
      const [left, right] = [evaluate(node.left), evaluate(node.right)];
      return choice(node.operator, left, () => right, scope);
    }
    case 'ConditionalExpression':
      evaluate(node.test);
      return [...evaluate(node.consequent), ...evaluate(node.alternate)];
    case 'AssignmentExpression':
      return assign(node, scope);
    case 'UpdateExpression':
      bind(node.argument, [unknown], scope);
      return [unknown];
    case 'UnaryExpression':
      return unary(node, scope);
    case 'ArrayExpression':
      return [listOf(node.elements, siteOf(node, scope), scope)];
    case 'ObjectExpression':
      return [object(node, scope)];
    case 'FunctionExpression':
    case 'ArrowFunctionExpression':
      return [closure(node, scope)];
    case 'SequenceExpression':
      return node.expressions.map(evaluate).at(-1) ?? [];
    case 'ChainExpression':
      return [...evaluate(node.expression), absent];
    case 'AwaitExpression':
      return evaluate(node.argument);
    default:
      scan.lose(childrenOf(node).flatMap(evaluate));
      return notUnderstood(scan);
  }
}

function closure(node: Closure['node'], scope: Scope): Closure {
  const made: Closure = { kind: 'closure', node, scope };
  scope.scan.created.set(idOf(made), made);
  return made;
}

/** A name that is declared in the code, else in the module around it. */
function named(name: string, scope: Scope): Value[] {
  const { scan, code } = scope;
  for (let at: Scope | null = scope; at; at = at.parent) {
    const values = at.names.get(name);
    if (values) return values;
  }
  const { outerNames } = scan.subject;
  const outer = outerNames.valueOf(code, name);
  if (!outer) return [unknown];
  const isChanged = scan.changes.has(name) || outerNames.isAssigned(code, name);
  return [known(outer.value), ...(isChanged ? [unknown] : [])];
}

function memberValues(node: MemberExpression, scope: Scope): Value[] {
  const objects = scope.scan.evaluate(node.object, scope);
  return namesOf(node.property, node.computed, scope).flatMap((name) => {
    use(scope.scan, objects, typeByMember(name));
    return objects.flatMap((each) => member(each, name, siteOf(node, scope)));
  });
}

/** The type of a value with such a member: the only one of text, list and number that has it, else a map. */
function typeByMember(name: string | null): ValueType | undefined {
  if (name === null || ['then', 'catch', 'finally'].includes(name)) return undefined;
  const having = [String, Array, Number].filter(({ prototype }) => name in prototype);
  if (having.length !== 1) return having.length > 1 || /^\d+$/.test(name) ? undefined : 'Map';
  return having[0] === String ? 'String' : having[0] === Array ? 'List' : 'Double';
}

/** The list of what stands in brackets or in the parentheses of a call. */
export function listOf(elements: readonly (AnyNode | SpreadElement | null)[], site: Site, scope: Scope): Made {
  const places: Value[][] = [];
  const others: Value[] = [];
  for (const element of elements) {
    const isSpread = element?.type === 'SpreadElement';
    const values = element ? scope.scan.evaluate(isSpread ? element.argument : element, scope) : [absent];
    const spread = isSpread ? placesOf(values, scope.scan) : [values];
    if (spread && others.length === 0) places.push(...spread);
    else others.push(...(isSpread ? values.flatMap((each) => itemsOf(each, site)) : values));
  }
  return listAt(site, places, others);
}

function object(node: ObjectExpression, scope: Scope): Made {
  const { scan } = scope;
  const made = madeAt(siteOf(node, scope), 'object');
  for (const property of node.properties) {
    if (property.type === 'SpreadElement') {
      copyInto(made, scan.evaluate(property.argument, scope), siteOf(property, scope), true);
      continue;
    }
    const values = scan.evaluate(property.value, scope);
    const names = namesOf(property.key, property.computed, scope);
    // An accessor runs unseen, and so may a prototype.
    if (property.kind !== 'init' || names.includes('__proto__')) scan.lose([made, ...values]);
    else for (const name of names) setMember(made, name, values, scan, true);
  }
  return made;
}

/** Copies the members of objects. Where several have one name, each of them may be the one that counts. */
export function copyInto(target: Value, from: readonly Value[], site: Site, isNew: boolean): void {
  for (const { name, values } of from.flatMap((each) => entriesOf(each, site)))
    for (const each of name) setMember(target, nameFrom(each), values, site.scan, isNew);
}

function unary({ operator, argument }: UnaryExpression, scope: Scope): Value[] {
  const { scan } = scope;
  const values = scan.evaluate(argument, scope);
  if (operator === 'delete') bind(argument, [absent], scope);
  if (operator === 'void') return [absent];
  if (operator === '-' || operator === '+') use(scan, values, 'Double');
  const plain = plainValue(values, scan);
  if (operator === '-' && typeof plain?.value === 'number') return [known(-plain.value)];
  if (operator === '!') return [plain ? known(!plain.value) : ofType('Boolean')];
  return [ofType(operator === 'typeof' ? 'String' : undefined)];
}

/** `a ?? b`, `a || b`, `a && b`: both, or the left one where it decides. What is false now, such as a flag, may be true when the leaf runs. */
function choice(operator: string, left: Value[], right: () => Value[], { scan }: Scope): Value[] {
  const isAnd = operator.startsWith('&&');
  const isLeft = (value: Value): boolean | undefined => {
    const decided = operator.startsWith('??') && value.kind === 'known' ? !isNothing(value) : isTruthy(value);
    return isAnd && decided !== undefined ? !decided : decided;
  };
  if (!isAnd && left.length > 0 && left.every(isLeft)) return left;
  const others = right();
  if (!isAnd) use(scan, left, typeOf(others));
  return [...left.filter((value) => isLeft(value) !== false), ...others];
}

function binary({ operator, left, right }: BinaryExpression, scope: Scope): Value[] {
  const { scan } = scope;
  const [a, b] = [scan.evaluate(left, scope), scan.evaluate(right, scope)];
  for (const [node, values, other] of [
    [left, a, b],
    [right, b, a],
  ] as const) {
    if (operator === 'in' || operator === 'instanceof') break;
    const asked = node.type === 'UnaryExpression' && node.operator === 'typeof' ? node.argument : undefined;
    if (asked) use(scan, scan.evaluate(asked, scope), typeNamed(String(plainValue(other, scan)?.value)));
    else use(scan, values, typeOf(other) ?? (/^[-*/%]|\*\*$/.test(operator) ? 'Double' : undefined));
  }
  const [x, y] = [plainValue(a, scan)?.value, plainValue(b, scan)?.value];
  const isComparable = x !== undefined && typeof x === typeof y && typeof x !== 'object';
  if (isComparable && /^[=!]==?$/.test(operator)) return [known((x === y) === operator.startsWith('='))];
  if (/[=<>]|^in/.test(operator)) return [ofType('Boolean')];
  const types = [...a, ...b].flatMap((value) => typeOf([value]) ?? []);
  const isNumeric = types.length > 0 && types.every((type) => ['Integer', 'Long', 'Double'].includes(type));
  return operator === '+' && !isNumeric ? textsOf([a, b]) : [ofType(types.includes('Long') ? 'Long' : 'Double')];
}

function assign({ left, right, operator }: AssignmentExpression, scope: Scope): Value[] {
  const { scan } = scope;
  const before = operator === '=' ? [] : scan.evaluate(left, scope);
  const isChoice = /^(\?\?|\|\||&&)=$/.test(operator);
  const values = scan.evaluate(right, scope);
  const given = isChoice ? choice(operator, before, () => values, scope) : values;
  if (operator === '=' || isChoice) {
    bind(left, given, scope);
    return given;
  }
  scan.lose(given);
  bind(left, [unknown], scope);
  return [unknown];
}

/** Gives the names of a pattern their values; `names`: where it declares them. */
export function bind(pattern: AnyNode, values: Value[], scope: Scope, names?: Scope['names']): void {
  const { scan } = scope;
  const site = siteOf(pattern, scope);
  if (pattern.type === 'Identifier') bindName(pattern.name, values, scope, names);
  else if (pattern.type === 'MemberExpression') {
    for (const each of scan.evaluate(pattern.object, scope))
      for (const name of namesOf(pattern.property, pattern.computed, scope)) setMember(each, name, values, scan);
  } else if (pattern.type === 'AssignmentPattern') {
    const given = choice('??', values, () => scan.evaluate(pattern.right, scope), scope);
    bind(pattern.left, given, scope, names);
  } else if (pattern.type === 'ArrayPattern') {
    for (const [index, element] of pattern.elements.entries())
      if (element?.type === 'RestElement') bind(element.argument, [restOf(values, index, site)], scope, names);
      else if (element)
        bind(
          element,
          values.flatMap((each) => member(each, String(index), site)),
          scope,
          names,
        );
  } else if (pattern.type === 'ObjectPattern') bindMembers(pattern, values, scope, names);
  else notUnderstood(scan);
}

/** The list of the entries behind a place. */
export function restOf(values: readonly Value[], index: number, site: Site): Made {
  const places = placesOf(values, site.scan);
  const others = places ? [] : values.flatMap((each) => itemsOf(each, site));
  return listAt(inside(site, 'rest'), places?.slice(index) ?? [], others);
}

function bindMembers({ properties }: ObjectPattern, values: Value[], scope: Scope, names?: Scope['names']): void {
  use(scope.scan, values, 'Map');
  for (const property of properties) {
    const site = siteOf(property, scope);
    if (property.type === 'RestElement') {
      const rest = madeAt(site, 'object');
      copyInto(rest, values, site, true);
      bind(property.argument, [rest], scope, names);
      continue;
    }
    const asked = namesOf(property.key, property.computed, scope);
    const found = asked.flatMap((name) => values.flatMap((each) => member(each, name, site)));
    bind(property.value, found, scope, names);
  }
}

function bindName(name: string, values: Value[], scope: Scope, names?: Scope['names']): void {
  const { scan } = scope;
  let at: Scope | null = names ? null : scope;
  while (at && !at.names.has(name)) at = at.parent;
  const declared = names ?? at?.names;
  if (declared) {
    addUnder(scan, declared, name, values);
    return;
  }
  // A name of the module: others may read it, and assign it.
  if (!scan.changes.has(name)) scan.changed = true;
  scan.changes.add(name);
  scan.lose(values);
}

/** The names that an expression or a pattern asks for; null: one that the code does not tell. */
export function namesOf(key: AnyNode, isComputed: boolean, scope: Scope): (string | null)[] {
  if (key.type === 'PrivateIdentifier') return [`#${key.name}`];
  if (!isComputed && key.type === 'Identifier') return [key.name];
  return [...new Set(scope.scan.evaluate(key, scope).map(nameFrom))];
}

function nameFrom(value: Value): string | null {
  const part = keyPartOf(value);
  return part.type === 'literal' ? part.value : null;
}

const promiseMethods = ['then', 'catch', 'finally'];

/** The values of a member, read without running anybody's code; of a name that is not known, everything that is in there. */
export function member(value: Value, name: string | null, site: Site): Value[] {
  const { scan } = site;
  const isOfPromise = name !== null && promiseMethods.includes(name);
  if (value.kind === 'data' && value.method === null && !isOfPromise) {
    if (name === 'deep') return [{ kind: 'data', deep: true, method: null }];
    if (name !== null && dataMethods.has(name)) return [{ kind: 'data', deep: value.deep, method: name }];
    return ['ts', 'scene', 'signal'].includes(name ?? '') ? [unknown] : notUnderstood(scan);
  }
  const ofConfigured = value.kind === 'part' && name !== null ? configuredMember(value, name) : undefined;
  if (ofConfigured) return [ofConfigured];
  const made = opened(value, scan);
  if (name === null) return made?.isWhole ? [...everythingIn(made), absent] : [unknown];
  if (made && made.shape !== 'object' && name === 'length')
    return [made.others.length === 0 ? known(made.members.size) : unknown];
  if (made && made.shape !== 'object' && /^\d+$/.test(name)) return entryAt(made, Number(name));
  const own = made?.shape === 'object' ? [...(made.members.get(name) ?? []), ...made.others] : [];
  const isOwn = made?.shape === 'object' && (made.of ? Object.hasOwn(made.of, name) : made.members.has(name));
  if (isOwn && made.others.length === 0) return own;
  const inherited = isOwn ? [] : inheritedMember(value, name, site);
  return [
    ...own,
    ...(inherited.length > 0 ? inherited : [made?.isWhole && made.shape === 'object' ? absent : unknown]),
  ];
}

function configuredMember({ part, sample }: Extract<Value, { kind: 'part' }>, name: string): Value | undefined {
  if (part.type !== 'field' || typeof sample !== 'object' || sample === null || Array.isArray(sample)) return undefined;
  return configured(`${part.ref}.${name}`, memberSafely(sample, name)?.value ?? null);
}

function inheritedMember(value: Value, name: string, site: Site): Value[] {
  const { scan } = site;
  for (let at = prototypeOf(value, scan); at; at = Object.getPrototypeOf(at)) {
    const found = Object.getOwnPropertyDescriptor(at, name);
    if (found?.get && !functionNodeOf(found.get)) return [unknown];
    if (found?.get) return scan.apply(known(found.get), [value], listAt(site, []), site);
    // The length of a text is not that of its prototype.
    if (found) return [typeof found.value === 'function' || opened(value, scan) ? known(found.value) : unknown];
  }
  // What a promise comes to counts as the promise.
  return promiseMethods.includes(name) ? [known(Reflect.get(Promise.prototype, name))] : [];
}

function prototypeOf(value: Value, scan: Scan): object | null {
  const made = opened(value, scan);
  if (made) return made.of ? Object.getPrototypeOf(made.of) : prototypes[made.shape];
  if (value.kind === 'known')
    return value.value == null || isProxy(value.value) ? null : Object.getPrototypeOf(value.value);
  if (value.kind === 'part') return String.prototype;
  return value.kind === 'closure' || value.kind === 'data' ? Function.prototype : null;
}

/** An assignment to a member; `isNew`: of an object that has no such member before. */
function setMember(object: Value, name: string | null, values: readonly Value[], scan: Scan, isNew = false) {
  if (object.kind === 'data') notUnderstood(scan);
  const { sample } = scan.subject;
  // A configured object is the leaf's.
  const made = opened(object.kind === 'part' ? known(sample) : object, scan);
  if (object.kind === 'part' && made) add(scan, made.others, [unknown]);
  else if (made?.shape === 'object' && name !== null)
    addUnder(scan, made.members, name, isNew || made.of || made.members.has(name) ? values : [absent, ...values]);
  else if (made) add(scan, made.others, values);
  // The setters of the leaf are walked, those of others are not.
  if (made?.of && made.of !== sample && mayRunSetter(made.of, name)) add(scan, made.others, [unknown]);
  // Other code may have the leaf: it may call a function that it finds there, and use the data.
  if (made?.of === sample && !made.shared) scan.lose(values.filter((each) => carriesData(each)));
  else if (!made || made.shared) scan.lose(values);
}

/** Private members are not seen. */
function mayRunSetter(of: object, name: string | null): boolean {
  if (name?.startsWith('#')) return true;
  for (let at: object | null = of; at && at !== Object.prototype; at = Object.getPrototypeOf(at))
    for (const [own, { set }] of Object.entries(Object.getOwnPropertyDescriptors(at)))
      if (set && (name === null || name === own)) return true;
  return name === '__proto__';
}
