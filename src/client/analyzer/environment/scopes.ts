import type { AnyNode, Pattern } from 'acorn';
import { childrenOf, type FunctionNode, isFunctionNode } from '../../code/syntax.ts';
import type { Scope } from '../interpreter.ts';

const kept = new WeakMap<FunctionNode, ReadonlyMap<string, readonly Scope[]>>();

/** The scopes that declare each name in a function's code, also in the functions and blocks inside it. */
export function scopesIn(node: FunctionNode): ReadonlyMap<string, readonly Scope[]> {
  const known = kept.get(node);
  if (known) return known;
  const scopes = new Map<string, Scope[]>();
  const add = (pattern: Pattern | null | undefined, scope: Scope) => {
    for (const name of namesOf(pattern)) scopes.set(name, [...(scopes.get(name) ?? []), scope]);
  };
  const visit = (part: AnyNode, block: Scope, whole: Scope): void => {
    const inFunction = isFunctionNode(part) ? part : whole;
    const inBlock = isFunctionNode(part) || isBlock(part) ? part : block;
    if (isFunctionNode(part)) for (const parameter of part.params) add(parameter, part);
    if (part.type === 'FunctionExpression') add(part.id, part);
    if (part.type === 'FunctionDeclaration' || part.type === 'ClassDeclaration') add(part.id, block);
    if (part.type === 'CatchClause') add(part.param, part);
    if (part.type === 'VariableDeclaration')
      for (const { id } of part.declarations) add(id, part.kind === 'var' ? inFunction : inBlock);
    for (const child of childrenOf(part)) visit(child, inBlock, inFunction);
  };
  visit(node, node, node);
  kept.set(node, scopes);
  return scopes;
}

/** The innermost of some scopes that a place is in. */
export function innermost(scopes: Iterable<Scope>, place: number): Scope | undefined {
  let best: Scope | undefined;
  for (const scope of scopes)
    if (scope.start <= place && place < scope.end && (!best || scope.start >= best.start)) best = scope;
  return best;
}

/** The names that a pattern declares. */
export function namesOf(pattern: Pattern | null | undefined): string[] {
  switch (pattern?.type) {
    case 'Identifier':
      return [pattern.name];
    case 'AssignmentPattern':
      return namesOf(pattern.left);
    case 'RestElement':
      return namesOf(pattern.argument);
    case 'ArrayPattern':
      return pattern.elements.flatMap(namesOf);
    case 'ObjectPattern':
      return pattern.properties.flatMap((property) =>
        namesOf(property.type === 'Property' ? property.value : property.argument),
      );
    default:
      return [];
  }
}

function isBlock({ type }: AnyNode): boolean {
  return ['BlockStatement', 'ForStatement', 'ForOfStatement', 'ForInStatement', 'SwitchStatement'].includes(type);
}
