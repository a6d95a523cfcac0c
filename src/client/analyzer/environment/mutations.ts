import type { AnyNode, CallExpression, Pattern } from 'acorn';
import { childrenOf, type FunctionNode } from '../../code/syntax.ts';
import { namesOf, scopesIn } from './scopes.ts';

/**
 * Something that is changed in place. `added`: entries are put into it; `moved`: entries leave it, or change their order; `lost`: a
 * member is taken out of it; `changed`: anything else.
 */
export type Mutation = {
  target: AnyNode;
  how: 'added' | 'moved' | 'lost' | 'changed';
  given: CallExpression['arguments'];
};

const adding = new Set(['push', 'unshift', 'add']);
/** Methods that remove entries from a list, or change their order. */
const moving = new Set(['sort', 'reverse', 'shift', 'pop']);
const changing = new Set(['splice', 'delete', 'clear', 'set', 'fill', 'copyWithin', 'append']);
/** Functions that change what they are given first: `Object.assign`, `Reflect.set`. */
const changingFirst = new Set(['assign', 'defineProperty', 'defineProperties', 'set', 'deleteProperty']);

/** The change that a part of the code makes itself; undefined when it makes none. */
export function mutationBy(part: AnyNode): Mutation | undefined {
  const given: CallExpression['arguments'] = [];
  switch (part.type) {
    case 'AssignmentExpression':
      return part.left.type === 'MemberExpression' ? { target: part.left.object, how: 'changed', given } : undefined;
    case 'UpdateExpression':
      return part.argument.type === 'MemberExpression'
        ? { target: part.argument.object, how: 'changed', given }
        : undefined;
    case 'UnaryExpression':
      if (part.operator !== 'delete' || part.argument.type !== 'MemberExpression') return undefined;
      return { target: part.argument.object, how: 'lost', given };
    case 'CallExpression':
      return byCall(part);
    default:
      return undefined;
  }
}

function byCall({ callee, arguments: given }: CallExpression): Mutation | undefined {
  if (callee.type !== 'MemberExpression') return undefined;
  const { object } = callee;
  const [first] = given;
  const name = nameOf(callee);
  // `names.push.apply(names, …)`, `Array.prototype.push.call(names, …)`.
  if (name === 'call' || name === 'apply') {
    const called = object.type === 'MemberExpression' ? nameOf(object) : '';
    return first && isChanging(called) ? { target: first, how: 'changed', given } : undefined;
  }
  const isOfLanguage = object.type === 'Identifier' && (object.name === 'Object' || object.name === 'Reflect');
  if (first && changingFirst.has(name) && (isOfLanguage || name === 'assign' || name === 'defineProperty'))
    return { target: first, how: 'changed', given };
  if (adding.has(name)) return { target: object, how: 'added', given };
  if (moving.has(name)) return { target: object, how: 'moved', given };
  return changing.has(name) ? { target: object, how: 'changed', given } : undefined;
}

const isChanging = (name: string): boolean => adding.has(name) || moving.has(name) || changing.has(name);

function nameOf({ property, computed }: AnyNode & { type: 'MemberExpression' }): string {
  if (property.type === 'Identifier' && !computed) return property.name;
  return property.type === 'Literal' ? String(property.value) : '';
}

/** The name at which a way through members begins: `table` of `table.a.b`. */
export function baseOf(node: AnyNode): string | undefined {
  if (node.type === 'MemberExpression') return baseOf(node.object);
  return node.type === 'Identifier' ? node.name : undefined;
}

/** Whether a function changes what it is given at a place, as far as its own code tells. */
export function changesParameter({ params, body }: FunctionNode, index: number): boolean {
  const parameter = params[index];
  if (parameter?.type !== 'Identifier') return false;
  const { name } = parameter;
  const isChanged = (part: AnyNode): boolean => {
    const mutation = mutationBy(part);
    return (mutation !== undefined && baseOf(mutation.target) === name) || childrenOf(part).some(isChanged);
  };
  return isChanged(body);
}

const changedNames = new WeakMap<FunctionNode, readonly string[]>();

/** The names of the code around that a function assigns to, or changes what they stand for. */
export function outerNamesChangedBy(node: FunctionNode): readonly string[] {
  const known = changedNames.get(node);
  if (known) return known;
  const names = new Set<string>();
  const visit = (part: AnyNode): void => {
    if (part.type === 'AssignmentExpression') for (const name of namesOf(asPattern(part.left))) names.add(name);
    if (part.type === 'UpdateExpression' && part.argument.type === 'Identifier') names.add(part.argument.name);
    const mutation = mutationBy(part);
    const base = mutation && baseOf(mutation.target);
    if (base) names.add(base);
    for (const child of childrenOf(part)) visit(child);
  };
  visit(node.body);
  const declared = scopesIn(node);
  const outer = [...names].filter((name) => !declared.has(name));
  changedNames.set(node, outer);
  return outer;
}

const asPattern = (target: Pattern): Pattern | null => (target.type === 'MemberExpression' ? null : target);
