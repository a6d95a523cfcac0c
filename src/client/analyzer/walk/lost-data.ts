import type { AnyNode, CallExpression, Pattern } from 'acorn';
import { functionNodeOf, isFunctionNode } from '../../code/syntax.ts';
import { isIteration, passesOn } from '../built-ins/built-ins.ts';
import { isDeclared } from '../environment/environment.ts';
import { functionsCalled } from '../environment/functions.ts';
import type { Environment, Evaluator, Thing } from '../interpreter.ts';
import { hasOpenName, member, propertyNames } from '../members/members.ts';
import { isAccess } from '../values/access-names.ts';

type Around = { environment: Environment; evaluator: Evaluator };

/** Questions to the data that name no key. */
const without = new Set(['deep', 'ts', 'scene', 'signal', 'keys']);

/** An object that has itself in it has no end. */
const MAX_OBJECTS_DEEP = 5;

/** Whether a thing is the data of the run, or has it in it. */
export function carriesData(thing: Thing, evaluator: Evaluator, deep = 0): boolean {
  const carries = (each: Thing) => carriesData(each, evaluator, deep + 1);
  if (deep > MAX_OBJECTS_DEEP) return false;
  switch (thing.kind) {
    case 'service':
    case 'method':
      return true;
    case 'list':
      return thing.items.some(carries);
    case 'merged':
      return thing.parts.some(carries);
    case 'bound':
      return carries(thing.target) || thing.given.some((binding) => binding().some(carries));
    case 'object':
      return thing.node.properties.some((property) =>
        evaluator
          .evaluate(property.type === 'Property' ? property.value : property.argument, thing.environment)
          .some(carries),
      );
    default:
      return false;
  }
}

/** Whether the data is used here in a way that the analysis does not follow, so that keys may be missed. */
export function leavesSight(node: AnyNode, ancestors: readonly AnyNode[], around: Around): boolean {
  if (!['Identifier', 'MemberExpression', 'CallExpression', 'TaggedTemplateExpression'].includes(node.type))
    return false;
  if (isOnlyAName(node, ancestors.at(-1)) || isTakenOut(ancestors)) return false;
  const things = around.evaluator.evaluate(node, around.environment);
  if (things.some(({ kind }) => kind === 'service' || kind === 'method')) return !isFollowed(node, ancestors, around);
  const containers = things.filter((thing) => carriesData(thing, around.evaluator));
  return containers.length > 0 && !isFollowedContainer(node, containers, ancestors, around);
}

/** A list or an object that has the data in it: followed where what is taken out of it is known. */
function isFollowedContainer(
  node: AnyNode,
  containers: readonly Thing[],
  ancestors: readonly AnyNode[],
  around: Around,
): boolean {
  const parent = ancestors.at(-1);
  if (parent?.type === 'ForOfStatement') return true;
  if (parent === undefined) return false;
  if (parent.type !== 'MemberExpression') return isFollowed(node, ancestors, around);
  const names = propertyNames(parent, around.environment, around.evaluator);
  const isKnown = (name: string) =>
    ['length', 'push', 'bind', 'call', 'apply'].includes(name) ||
    isIterated(name, ancestors) ||
    (['then', 'catch', 'finally'].includes(name) && ancestors.at(-2)?.type === 'CallExpression') ||
    containers.every((thing) => member(thing, name, around.evaluator).every(({ kind }) => kind !== 'unknown'));
  return names.length > 0 && names.every(isKnown);
}

/** Taken entry by entry: what becomes of an entry is seen. */
function isIterated(name: string, ancestors: readonly AnyNode[]): boolean {
  return isIteration(name) && ancestors.at(-2)?.type === 'CallExpression';
}

/** `const { deep } = service`: the pattern names the methods that it takes. */
function isTakenOut(ancestors: readonly AnyNode[]): boolean {
  const pattern = ancestors.findLast(({ type }) => type !== 'Property' && type !== 'AssignmentPattern');
  return pattern?.type === 'ObjectPattern' || pattern?.type === 'ArrayPattern';
}

function isOnlyAName(node: AnyNode, parent: AnyNode | undefined): boolean {
  switch (parent?.type) {
    case 'MemberExpression':
      return parent.property === node && !parent.computed;
    case 'Property':
      return parent.key === node && parent.value !== node;
    case 'VariableDeclarator':
      return parent.id === node;
    case 'AssignmentExpression':
    case 'AssignmentPattern':
      return parent.left === node;
    case 'RestElement':
    case 'ArrayPattern':
    case 'ObjectPattern':
      return true;
    default:
      return parent === undefined || (isFunctionNode(parent) && parent.body !== node);
  }
}

function isFollowed(node: AnyNode, ancestors: readonly AnyNode[], around: Around): boolean {
  const parent = ancestors.at(-1);
  const above = ancestors.slice(0, -1);
  switch (parent?.type) {
    case 'MemberExpression':
      return isFollowedMember(parent, above.at(-1), around);
    case 'CallExpression':
      return parent.callee === node || isFollowedCall(parent, around);
    case 'VariableDeclarator':
      return isFollowedPattern(parent.id);
    case 'AssignmentExpression':
      // In a name of the module it is out of sight.
      return (
        parent.left.type === 'Identifier' &&
        isDeclared(parent.left.name, parent.start, around.environment) &&
        isFollowed(parent, above, around)
      );
    case 'ConditionalExpression':
    case 'LogicalExpression':
    case 'SequenceExpression':
    case 'ParenthesizedExpression':
    case 'ChainExpression':
    case 'AwaitExpression':
      return isFollowed(parent, above, around);
    case 'Property':
    case 'SpreadElement':
      return isFollowed(parent, above, around);
    case 'ObjectExpression':
    case 'ArrayExpression':
      return isFollowed(parent, above, around);
    case 'AssignmentPattern':
    case 'ReturnStatement': {
      // A generator's return value comes out of `next()`.
      const [code] = ancestors;
      return !(code && isFunctionNode(code) && code.generator);
    }
    case 'ArrowFunctionExpression':
    case 'ExpressionStatement':
    case 'BinaryExpression':
    case 'UnaryExpression':
    case 'IfStatement':
      return true;
    default:
      return false;
  }
}

function isFollowedMember(
  parent: Extract<AnyNode, { type: 'MemberExpression' }>,
  above: AnyNode | undefined,
  { environment, evaluator }: Around,
): boolean {
  if (hasOpenName(parent, environment, evaluator)) return false;
  const names = propertyNames(parent, environment, evaluator);
  // A method of the data is followed from the place where it is written.
  const isCalled = above?.type === 'CallExpression' && above.callee === parent;
  const known = (name: string) =>
    without.has(name) ||
    isAccess(name) ||
    ['bind', 'call', 'apply'].includes(name) ||
    (isCalled && ['then', 'catch', 'finally'].includes(name));
  return names.length > 0 && names.every(known);
}

/** The data as an argument: followed into a function whose code can be read; what prints it reads no key of a rule. */
function isFollowedCall(parent: CallExpression, { environment, evaluator }: Around): boolean {
  if (functionsCalled(parent, environment, evaluator).length > 0 || passesOn(parent, environment, evaluator))
    return true;
  const { callee } = parent;
  if (callee.type !== 'MemberExpression') return false;
  const on = evaluator.evaluate(callee.object, environment);
  const isBinding = callee.property.type === 'Identifier' && ['bind', 'call', 'apply'].includes(callee.property.name);
  if (isBinding) return on.every(isFunction);
  return on.some((thing) => thing.kind === 'known' && thing.value === globalThis.console);
}

/** `helper.bind(null, service)` is followed where the bound helper is called. */
function isFunction(thing: Thing): boolean {
  if (thing.kind === 'known') return typeof thing.value === 'function' && functionNodeOf(thing.value) !== undefined;
  return thing.kind === 'method' || thing.kind === 'closure' || thing.kind === 'bound';
}

function isFollowedPattern(pattern: Pattern): boolean {
  if (pattern.type === 'Identifier') return true;
  if (pattern.type !== 'ObjectPattern') return pattern.type === 'ArrayPattern';
  return pattern.properties.every(
    (property) => property.type === 'Property' && !property.computed && property.key.type === 'Identifier',
  );
}
