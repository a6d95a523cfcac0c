import type { AnyNode, Identifier, MemberExpression, Pattern } from 'acorn';
import type { Evaluator } from './evaluator.ts';
import { itemsOf, namesIn } from './lists.ts';
import { member } from './members.ts';
import { childrenOf, type FunctionNode, isFunctionNode } from './syntax.ts';
import { type Thing, unknown } from './things.ts';

/** What a name may stand for, worked out when somebody asks. */
export type Binding = () => Thing[];

/** The names of one function, and where to look for the others. */
export type Environment = {
  parent: Environment | null;
  names: Map<string, Binding[]>;
  /** What `this` is. */
  self: Thing;
  /** The running function whose code this is: its outer names can be looked up. Null inside another function's code. */
  code: object | null;
  /** The object the method stands on, for `super`. */
  home: object | null;
};

/** `keys.push(…)`: what is added to a list is in it. */
function isAdding(callee: AnyNode): callee is MemberExpression & { object: Identifier } {
  if (callee.type !== 'MemberExpression' || callee.object.type !== 'Identifier' || callee.computed) return false;
  return callee.property.type === 'Identifier' && ['push', 'unshift', 'add'].includes(callee.property.name);
}

/** Adds what a function declares: its variables with every value they are given, and its functions. */
export function declare(node: FunctionNode, environment: Environment, evaluator: Evaluator): void {
  const visit = (part: AnyNode): void => {
    if (part.type === 'VariableDeclarator' && part.init) {
      const { init } = part;
      bind(part.id, () => evaluator.evaluate(init, environment), environment, evaluator);
    } else if (part.type === 'AssignmentExpression' && part.left.type === 'Identifier') {
      const { right } = part;
      const value: Binding = () => (part.operator === '=' ? evaluator.evaluate(right, environment) : [unknown]);
      bind(part.left, value, environment, evaluator);
    } else if (part.type === 'ForOfStatement' && part.left.type === 'VariableDeclaration') {
      const { right } = part;
      const items: Binding = () => evaluator.evaluate(right, environment).flatMap(itemsOf);
      for (const { id } of part.left.declarations) bind(id, items, environment, evaluator);
    } else if (part.type === 'ForInStatement' && part.left.type === 'VariableDeclaration') {
      const { right } = part;
      const names: Binding = () => evaluator.evaluate(right, environment).flatMap((thing) => itemsOf(namesIn(thing)));
      for (const { id } of part.left.declarations) bind(id, names, environment, evaluator);
    } else if (part.type === 'CallExpression' && isAdding(part.callee)) {
      const given = part.arguments;
      add(environment, part.callee.object.name, () => [
        { kind: 'list', items: given.flatMap((argument) => evaluator.evaluate(argument, environment)) },
      ]);
    } else if (part.type === 'FunctionDeclaration' && part.id && part !== node) {
      add(environment, part.id.name, () => [{ kind: 'closure', node: part, environment }]);
    }
    if (part === node || !isFunctionNode(part)) for (const child of childrenOf(part)) visit(child);
  };
  visit(node);
}

/** Binds a pattern's names to what they take out of a value. */
export function bind(pattern: Pattern, value: Binding, environment: Environment, evaluator: Evaluator): void {
  const part = (inner: Pattern, taken: Binding) => bind(inner, taken, environment, evaluator);
  if (pattern.type === 'Identifier') add(environment, pattern.name, value);
  else if (pattern.type === 'AssignmentPattern') {
    part(pattern.left, () => {
      const given = value();
      const there = given.filter((thing) => !(thing.kind === 'known' && thing.value === undefined));
      const mayBeAbsent =
        there.length < given.length || there.some(({ kind }) => kind === 'unknown' || kind === 'read');
      return mayBeAbsent ? [...there, ...evaluator.evaluate(pattern.right, environment)] : there;
    });
  } else if (pattern.type === 'ObjectPattern') {
    for (const property of pattern.properties) {
      if (property.type !== 'Property') continue;
      const { key } = property;
      const name = key.type === 'Identifier' && !property.computed ? key.name : undefined;
      part(property.value, () =>
        name === undefined ? [unknown] : value().flatMap((thing) => member(thing, name, evaluator)),
      );
    }
  } else if (pattern.type === 'ArrayPattern') {
    for (const [index, element] of pattern.elements.entries()) {
      if (element) part(element, () => value().flatMap((thing) => member(thing, String(index), evaluator)));
    }
  }
}

function add({ names }: Environment, name: string, binding: Binding): void {
  const bindings = names.get(name) ?? [];
  bindings.push(onceAtATime(binding));
  names.set(name, bindings);
}

/** A name that is worked out from itself (`key = key + 'x'`) is not known that way. */
function onceAtATime(binding: Binding): Binding {
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
