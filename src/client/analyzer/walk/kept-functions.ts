import type { AnyNode } from 'acorn';
import { childrenOf } from '../../code/syntax.ts';
import { givesFirst } from '../built-ins/built-ins.ts';
import type { Called, Evaluator } from '../interpreter.ts';

/**
 * Whether a function that is called does nothing with its argument at a place but call it and give it back, as `withName(work)`
 * and `twice(work)` do. A function given there runs with what is seen in this code, and with nothing else.
 */
export function keepsNothing({ node, environment }: Called, index: number, evaluator: Evaluator): boolean {
  const parameter = node.params[index];
  if (parameter?.type !== 'Identifier' || node.params.some(({ type }) => type === 'RestElement')) return false;
  const { name } = parameter;

  function isHarmless(part: AnyNode, [parent, above]: readonly AnyNode[]): boolean {
    switch (parent?.type) {
      case 'ReturnStatement':
      case 'ArrowFunctionExpression':
        return true;
      case 'CallExpression': {
        if (parent.callee === part) return true;
        const [called] = evaluator.evaluate(parent.callee, environment);
        return parent.arguments[0] === part && called?.kind === 'known' && givesFirst.has(called.value);
      }
      case 'MemberExpression':
        return parent.object !== part || (above?.type === 'CallExpression' && callsIt(parent.property));
      default:
        return false;
    }
  }

  function visit(part: AnyNode, ancestors: readonly AnyNode[]): boolean {
    if (part.type === 'Identifier' && part.name === name) return isHarmless(part, ancestors);
    return childrenOf(part).every((child) => visit(child, [part, ...ancestors]));
  }
  return visit(node.body, [node]);
}

const callsIt = (property: AnyNode): boolean =>
  property.type === 'Identifier' && ['call', 'apply'].includes(property.name);
