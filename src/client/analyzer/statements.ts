import type { AnyNode, ForInStatement, ForOfStatement } from 'acorn';
import { childrenOf } from '../code/syntax.ts';
import { bind } from './expressions.ts';
import { entriesOf, itemsOf } from './members.ts';
import { absent, add, inner, type Scope, siteOf, unknown, use, type Value } from './values.ts';

/** Walks a statement on every way that its conditions may take. False for what is none. */
export function executeStatement(node: AnyNode, scope: Scope): boolean {
  const { scan, frame } = scope;
  switch (node.type) {
    case 'ExpressionStatement':
      scan.evaluate(node.expression, scope);
      return true;
    case 'VariableDeclaration':
      for (const { id, init } of node.declarations) {
        // A `var` in a block is there outside of it, too.
        if (!init || node.kind === 'var') bindAbsent(id, scope);
        if (init) bind(id, scan.evaluate(init, scope), scope);
      }
      return true;
    case 'ReturnStatement': {
      const values = node.argument ? scan.evaluate(node.argument, scope) : [absent];
      if (frame.isGenerator) scan.lose(values);
      add(scan, frame.returned, values);
      return true;
    }
    case 'ThrowStatement':
      scan.lose(scan.evaluate(node.argument, scope));
      return true;
    case 'ForOfStatement':
    case 'ForInStatement':
      loop(node, inner(node, scope));
      return true;
    case 'CatchClause':
      if (node.param) bind(node.param, [unknown], inner(node, scope));
      scan.evaluate(node.body, inner(node, scope));
      return true;
    case 'LabeledStatement':
      scan.evaluate(node.body, scope);
      return true;
    case 'BreakStatement':
    case 'ContinueStatement':
    case 'EmptyStatement':
    case 'DebuggerStatement':
    case 'FunctionDeclaration':
      return true;
    case 'BlockStatement':
    case 'IfStatement':
    case 'WhileStatement':
    case 'DoWhileStatement':
    case 'ForStatement':
    case 'SwitchStatement':
    case 'SwitchCase':
    case 'TryStatement':
      for (const child of declared(node, inner(node, scope))) scan.evaluate(child, inner(node, scope));
      return true;
    default:
      return false;
  }
}

/** The parts of a block. Its functions are there from its beginning. */
function declared(node: AnyNode, scope: Scope): AnyNode[] {
  const parts = node.type === 'SwitchStatement' ? node.cases.flatMap(childrenOf) : childrenOf(node);
  for (const part of parts)
    if (part.type === 'FunctionDeclaration' && part.id)
      bind(part.id, [{ kind: 'closure', node: part, scope, self: null }], scope);
  return childrenOf(node);
}

function bindAbsent(pattern: AnyNode, scope: Scope): void {
  if (pattern.type === 'Identifier') bind(pattern, [absent], scope);
}

function loop(node: ForOfStatement | ForInStatement, scope: Scope): void {
  const { scan } = scope;
  const over = scan.evaluate(node.right, scope);
  const site = siteOf(node, scope);
  if (node.type === 'ForOfStatement') use(scan, over, 'List');
  const entries = (each: Value): Value[] =>
    node.type === 'ForOfStatement' ? itemsOf(each, site) : entriesOf(each, site).flatMap(({ name }) => name);
  const target = node.left.type === 'VariableDeclaration' ? node.left.declarations[0]?.id : node.left;
  if (target) bind(target, over.flatMap(entries), scope);
  scan.evaluate(node.body, scope);
}
