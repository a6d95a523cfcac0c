import type {
  AnyNode,
  AssignmentExpression,
  BinaryExpression,
  Class,
  Identifier,
  MemberExpression,
  ObjectExpression,
  Pattern,
  UnaryExpression,
} from 'acorn';
import { childrenOf, isFunctionNode } from '../code/syntax.ts';
import type { ValueType } from '../leaves/leaf.ts';
import { entriesOf, itemsOf, member, nameFrom, namesAsked, setMember } from './members.ts';
import {
  absent,
  add,
  addUnder,
  everythingIn,
  given,
  inner,
  inside,
  isNothing,
  isTruthy,
  known,
  listOf,
  madeAt,
  note,
  ofType,
  placesOf,
  plainValue,
  type Scope,
  type Site,
  siteOf,
  sole,
  textsOf,
  typeNamed,
  typeOf,
  unknown,
  use,
  type Value,
  valueIn,
} from './values.ts';

/** What an expression may be. What is not understood here has `incomplete` say so. */
export function evaluateExpression(node: AnyNode, scope: Scope): Value[] {
  switch (node.type) {
    case 'Literal':
      return [known(node.bigint ? BigInt(node.bigint) : node.value)];
    case 'Identifier':
      return named(node, scope);
    case 'ThisExpression':
      return scope.frame.self;
    case 'MemberExpression':
      return memberValues(node, scope);
    case 'BinaryExpression':
      return binary(node, scope);
    case 'AssignmentExpression':
      return assign(node, scope);
    case 'UpdateExpression':
      bind(node.argument, [unknown], scope);
      return [unknown];
    case 'ArrayExpression':
      return array(node.elements, node, scope);
    case 'ObjectExpression':
      return object(node, scope);
    case 'FunctionExpression':
    case 'ArrowFunctionExpression':
      return [
        { kind: 'closure', node, scope, self: node.type === 'ArrowFunctionExpression' ? scope.frame.self : null },
      ];
    case 'ClassExpression':
    case 'ClassDeclaration':
      return classValue(node, scope);
    case 'UnaryExpression':
      return unary(node, scope);
    case 'MetaProperty':
    case 'ImportExpression':
      return [unknown];
    default:
      return valuesOfParts(node, scope);
  }
}

function valuesOfParts(node: AnyNode, scope: Scope): Value[] {
  const { scan, frame } = scope;
  const evaluate = (part: AnyNode) => scan.evaluate(part, scope);
  switch (node.type) {
    case 'TemplateLiteral':
      return textsOf(
        childrenOf(node).map((part) =>
          part.type === 'TemplateElement' ? [known(part.value.cooked ?? '')] : evaluate(part),
        ),
      );
    case 'LogicalExpression':
      return choice(node.operator, evaluate(node.left), () => evaluate(node.right), scope);
    case 'ConditionalExpression':
      evaluate(node.test);
      return [...evaluate(node.consequent), ...evaluate(node.alternate)];
    case 'SequenceExpression':
      return node.expressions.map(evaluate).at(-1) ?? [];
    case 'ChainExpression':
      return [...evaluate(node.expression), absent];
    case 'ParenthesizedExpression':
      return evaluate(node.expression);
    case 'AwaitExpression':
      return evaluate(node.argument);
    case 'YieldExpression': {
      const values = node.argument ? evaluate(node.argument) : [absent];
      add(scan, frame.yielded, node.delegate ? values.flatMap((each) => itemsOf(each, siteOf(node, scope))) : values);
      return [unknown];
    }
    case 'TaggedTemplateExpression':
      scan.lose([node.tag, ...node.quasi.expressions].flatMap(evaluate));
      return [unknown];
    default:
      scan.incomplete = true;
      return [unknown];
  }
}

/** A name that is declared in the code, else in the module around it. */
function named({ name }: Identifier, scope: Scope): Value[] {
  const { scan, frame } = scope;
  for (let at: Scope | null = scope; at; at = at.parent) {
    const values = at.names.get(name);
    // Without a value in this walk of the code: only in the last one does that mean that nobody sees it assigned.
    if (values) return values.length === 0 && scan.settled ? [unknown] : values;
  }
  const { outerNames, sample } = scan.subject;
  const outer = outerNames.valueOf(frame.code, name);
  if (!outer.found) return [unknown];
  if (outer.value === sample) return [{ kind: 'leaf' }];
  const isChanged = scan.changes.has(name) || outerNames.isAssigned(frame.code, name);
  return [valueIn(outer.value, scan), ...(isChanged ? [unknown] : [])];
}

function memberValues(node: MemberExpression, scope: Scope): Value[] {
  const objects = node.object.type === 'Super' ? superOf(scope) : scope.scan.evaluate(node.object, scope);
  return namesAsked(node, scope).flatMap((name) => {
    use(scope.scan, objects, typeByMember(name));
    return objects.flatMap((each) => member(each, name, siteOf(node, scope)));
  });
}

export const superOf = ({ frame: { home } }: Scope): Value[] =>
  home ? [known(Object.getPrototypeOf(home))] : [unknown];

/** The type of what has such a member. */
function typeByMember(name: string | null): ValueType | undefined {
  if (name === null || ['then', 'catch', 'finally'].includes(name)) return undefined;
  if (/^\d+$/.test(name)) return 'List';
  const having = [String, Array, Number].filter(({ prototype }) => name in prototype);
  if (having.length > 1) return undefined;
  return having[0] === String ? 'String' : having[0] === Array ? 'List' : having[0] === Number ? 'Double' : 'Map';
}

function array(elements: readonly (AnyNode | null)[], node: AnyNode, scope: Scope): Value[] {
  const places: Value[][] = [];
  let isInOrder = true;
  for (const element of elements) {
    const values = element
      ? scope.scan.evaluate(element.type === 'SpreadElement' ? element.argument : element, scope)
      : [absent];
    if (element?.type !== 'SpreadElement') {
      places.push(values);
      continue;
    }
    use(scope.scan, values, 'List');
    const spread = placesOf(sole(values));
    if (!spread) isInOrder = false;
    places.push(...(spread ?? [values.flatMap((each) => itemsOf(each, siteOf(element, scope)))]));
  }
  return listOf(siteOf(node, scope), isInOrder ? places : null, places.flat());
}

function object(node: ObjectExpression, scope: Scope): Value[] {
  const { scan } = scope;
  const site = siteOf(node, scope);
  const made = madeAt(site, 'object');
  for (const property of node.properties) {
    if (property.type === 'SpreadElement') {
      const from = scan.evaluate(property.argument, scope);
      use(scan, from, 'Map');
      copyInto(made, from, site);
      continue;
    }
    const values = scan.evaluate(property.value, scope);
    if (property.kind === 'set') scan.lose([...values, made]);
    const isGetter = property.kind === 'get';
    const held = isGetter
      ? values.flatMap((each) => scan.apply(each, [made], given(), siteOf(property, scope)))
      : values;
    for (const name of namesOfProperty(property.key, property.computed, scope))
      if (name === '__proto__') scan.lose([made, ...held]);
      else setMember(made, name, held, scan, true);
  }
  return [made];
}

/** Of several members of one name any may be the one that counts. */
export function copyInto(target: Value, from: readonly Value[], site: Site, isNew = true): void {
  for (const { name, values } of from.flatMap((each) => entriesOf(each, inside(site, 'copied'))))
    for (const each of name) setMember(target, nameFrom(each), values, site.scan, isNew);
}

function namesOfProperty(key: AnyNode, computed: boolean, scope: Scope): (string | null)[] {
  if (computed) return scope.scan.evaluate(key, scope).map(nameFrom);
  return [key.type === 'Identifier' ? key.name : key.type === 'Literal' ? String(key.value) : null];
}

/** A class in the code: its methods run with what nobody sees, on an object that nobody sees. */
function classValue({ id, superClass, body }: Class & AnyNode, scope: Scope): Value[] {
  const { scan } = scope;
  if (superClass) scan.lose(scan.evaluate(superClass, scope));
  for (const part of body.body) {
    if (part.type !== 'StaticBlock' && part.computed) scan.evaluate(part.key, scope);
    const parts = part.type === 'StaticBlock' ? part.body : part.value ? [part.value] : [];
    for (const each of parts) {
      // There, `this` is the object that nobody sees.
      if (!isFunctionNode(each) || each.type === 'ArrowFunctionExpression') scan.incomplete ||= usesThis(each);
      scan.lose(scan.evaluate(each, inner(part, scope)));
    }
  }
  if (id) bind(id, [unknown], scope);
  return [unknown];
}

const usesThis = (node: AnyNode): boolean => node.type === 'ThisExpression' || childrenOf(node).some(usesThis);

function unary({ operator, argument }: UnaryExpression, scope: Scope): Value[] {
  const values = scope.scan.evaluate(argument, scope);
  if (operator === 'delete') bind(argument, [absent], scope);
  if (operator === 'void') return [absent];
  if (operator === '-' || operator === '+') use(scope.scan, values, 'Double');
  const plain = plainValue(values);
  if (operator === '-' && typeof plain?.value === 'number') return [known(-plain.value)];
  if (operator === '!') return [plain ? known(!plain.value) : ofType('Boolean')];
  return [ofType(operator === 'typeof' ? 'String' : undefined)];
}

/** `a ?? b`, `a || b`, `a && b`: both, or one of them where the left one decides. */
function choice(operator: string, left: Value[], right: () => Value[], { scan }: Scope): Value[] {
  const stops = (value: Value) =>
    operator.startsWith('??')
      ? value.kind === 'known'
        ? !isNothing(value)
        : (isTruthy(value) ?? value.kind === 'text')
      : isTruthy(value);
  if (!operator.startsWith('&&') && left.length > 0 && left.every(stops)) return left;
  const others = right();
  if (operator.startsWith('&&')) return left.every(isTruthy) ? others : [...left, ...others];
  use(scan, left, typeOf(others));
  return [
    ...left.filter((value) => stops(value) !== false || (operator.startsWith('??') && !isNothing(value))),
    ...others,
  ];
}

function binary({ operator, left, right }: BinaryExpression, scope: Scope): Value[] {
  const { scan } = scope;
  const sides: [Value[], Value[]] = [
    left.type === 'PrivateIdentifier' ? [unknown] : scan.evaluate(left, scope),
    scan.evaluate(right, scope),
  ];
  const [a, b] = sides;
  for (const [node, values, other] of [
    [left, a, b],
    [right, b, a],
  ] as const) {
    if (operator === 'in' || operator === 'instanceof') break;
    const asked = node.type === 'UnaryExpression' && node.operator === 'typeof' ? node.argument : undefined;
    if (asked) use(scan, scan.evaluate(asked, scope), typeNamed(String(plainValue(other)?.value)));
    else use(scan, values, typeOf(other) ?? (/^[-*/%]|\*\*$/.test(operator) ? 'Double' : undefined));
  }
  const result = workedOut(operator, plainValue(a)?.value, plainValue(b)?.value);
  if (result !== undefined) return [known(result)];
  if (/[=<>]|^in/.test(operator)) return [ofType('Boolean')];
  const types = [...a, ...b].flatMap((value) => typeOf([value]) ?? []);
  const isNumeric = types.length > 0 && types.every((type) => ['Integer', 'Long', 'Double'].includes(type));
  return operator === '+' && !isNumeric ? textsOf(sides) : [ofType(types.includes('Long') ? 'Long' : 'Double')];
}

/** The result of an operator on two plain values. Others are not worked out: they may be large. */
function workedOut(operator: string, a: unknown, b: unknown): unknown {
  const isComparable = a !== undefined && typeof a === typeof b && typeof a !== 'object';
  if (isComparable && /^===?$/.test(operator)) return a === b;
  if (isComparable && /^!==?$/.test(operator)) return a !== b;
  if (typeof a !== 'number' || typeof b !== 'number') return undefined;
  const results = {
    '+': a + b,
    '-': a - b,
    '*': a * b,
    '/': a / b,
    '%': a % b,
    '<': a < b,
    '<=': a <= b,
    '>': a > b,
    '>=': a >= b,
  };
  return new Map<string, unknown>(Object.entries(results)).get(operator);
}

function assign({ left, right, operator }: AssignmentExpression, scope: Scope): Value[] {
  const { scan } = scope;
  if (operator === '=') {
    const values = scan.evaluate(right, scope);
    // A text that is made of what it was before grows.
    const isGrowing = left.type === 'Identifier' && mentions(right, left.name);
    bind(left, isGrowing ? values.map((each) => (isText(each) ? unknown : each)) : values, scope);
    return values;
  }
  const before = scan.evaluate(left, scope);
  if (!/^(\?\?|\|\||&&)=$/.test(operator)) {
    scan.lose(scan.evaluate(right, scope));
    bind(left, [unknown], scope);
    return [unknown];
  }
  const values = choice(operator, before, () => scan.evaluate(right, scope), scope);
  bind(left, values, scope);
  return values;
}

const mentions = (node: AnyNode, name: string): boolean =>
  (node.type === 'Identifier' && node.name === name) || childrenOf(node).some((child) => mentions(child, name));
export const isText = (value: Value): boolean =>
  value.kind === 'text' || (value.kind === 'known' && ['string', 'number'].includes(typeof value.value));

/** Gives the names of a pattern their values. */
export function bind(pattern: AnyNode, values: Value[], scope: Scope): void {
  const { scan } = scope;
  const site = siteOf(pattern, scope);
  switch (pattern.type) {
    case 'Identifier':
      bindName(pattern.name, values, scope);
      break;
    case 'MemberExpression':
      for (const each of pattern.object.type === 'Super' ? scope.frame.self : scan.evaluate(pattern.object, scope))
        for (const name of namesAsked(pattern, scope))
          if (each.kind === 'made' && each.shape === 'list') scramble(each, values, site);
          else setMember(each, name, values, scan);
      break;
    case 'ParenthesizedExpression':
      bind(pattern.expression, values, scope);
      break;
    case 'AssignmentPattern': {
      const there = values.filter((value) => !isNothing(value));
      const isGiven = there.length > 0 && values.every((value) => isTruthy(value) ?? isText(value));
      bind(pattern.left, isGiven ? there : [...there, ...scan.evaluate(pattern.right, scope)], scope);
      break;
    }
    case 'ObjectPattern':
      use(scan, values, 'Map');
      bindMembers(pattern, values, scope);
      break;
    case 'ArrayPattern':
      for (const [index, element] of pattern.elements.entries()) {
        if (element?.type === 'RestElement') bind(element.argument, listAfter(values, index, site), scope);
        else if (element)
          bind(
            element,
            values.flatMap((each) => entryAt(each, index, site)),
            scope,
          );
      }
      break;
    default:
      scan.incomplete = true;
  }
}

function entryAt(value: Value, index: number, site: Site): Value[] {
  const places = placesOf(value);
  return places ? (places[index] ?? [absent]) : [...itemsOf(value, site), absent];
}

function listAfter(values: readonly Value[], index: number, site: Site): Value[] {
  const places = placesOf(sole(values));
  return listOf(
    inside(site, 'rest'),
    places?.slice(index) ?? null,
    places ? [] : values.flatMap((each) => itemsOf(each, site)),
  );
}

/** Something is put into a list, or its entries change their places. */
export function scramble(list: Value, values: readonly Value[], { scan }: Site): void {
  if (list.kind === 'made') add(scan, list.others, everythingIn(list));
  setMember(list, null, values, scan);
}

function bindMembers({ properties }: Extract<Pattern, { type: 'ObjectPattern' }>, values: Value[], scope: Scope): void {
  for (const property of properties) {
    const site = siteOf(property, scope);
    if (property.type === 'RestElement') {
      const rest = madeAt(site, 'object');
      copyInto(rest, values, site);
      bind(property.argument, [rest], scope);
      continue;
    }
    const names = namesOfProperty(property.key, property.computed, scope);
    bind(
      property.value,
      names.flatMap((name) => values.flatMap((each) => member(each, name, site))),
      scope,
    );
  }
}

function bindName(name: string, values: Value[], scope: Scope): void {
  for (let at: Scope | null = scope; at; at = at.parent)
    if (at.names.has(name)) {
      addUnder(scope.scan, at.names, name, values);
      return;
    }
  // A name of the module: others may read it, and assign it.
  note(scope.scan, scope.scan.changes, name);
  scope.scan.lose(values);
}
