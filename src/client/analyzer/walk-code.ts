import type { AnyNode, CallExpression } from 'acorn';
import { type Access, accessOf } from './access.ts';
import { iteratedBy } from './built-ins.ts';
import type { Environment } from './environment.ts';
import type { Evaluator } from './evaluator.ts';
import { type Called, enter, functionsCalled } from './functions.ts';
import { childrenOf, type FunctionNode, isFunctionNode } from './syntax.ts';
import { unknown } from './things.ts';
import { typeByUse } from './use-types.ts';

const MAX_FUNCTIONS_DEEP = 10;
const MAX_FUNCTIONS = 1000;

/** Every access to the data in a leaf's method, in the order of the code, through the functions it hands the data to. */
export function accessesIn(method: object, decides: boolean, evaluator: Evaluator): Access[] {
  const accesses: Access[] = [];
  const entered: FunctionNode[] = [];
  let functions = 0;

  function walk({ node, environment }: Called): void {
    if (entered.length >= MAX_FUNCTIONS_DEEP || entered.includes(node) || ++functions > MAX_FUNCTIONS) return;
    entered.push(node);
    for (const part of [...node.params, node.body]) visit(part, [node], environment);
    entered.pop();
  }

  function visit(node: AnyNode, ancestors: AnyNode[], environment: Environment): void {
    // A function that is only written down does nothing; where it is called or handed over, it is walked.
    if (isFunctionNode(node)) return;
    const inner = [...ancestors, node];
    // Arguments run before the call they are for.
    for (const child of childrenOf(node)) visit(child, inner, environment);
    if (node.type === 'CallExpression') call(node, ancestors, environment);
    if (node.type === 'NewExpression') handedOver(node.arguments, environment, []);
  }

  function call(node: CallExpression, ancestors: AnyNode[], environment: Environment): void {
    const access = accessOf(node, environment, evaluator);
    if (access) {
      const used = { environment, evaluator, decides: decides && entered.length === 1 };
      const type = access.type ?? (access.direction === 'read' ? typeByUse({ node, ancestors }, used) : undefined);
      accesses.push({ ...access, type });
      return;
    }
    const takesData = node.arguments.some((argument) =>
      evaluator.evaluate(argument, environment).some(({ kind }) => kind === 'service'),
    );
    for (const called of functionsCalled(node, environment, evaluator)) if (called.local || takesData) walk(called);
    const items = iteratedBy(node, environment, evaluator);
    handedOver(node.arguments, environment, items ?? [unknown]);
  }

  /** Functions given to other functions, which will call them with somebody else's values. */
  function handedOver(nodes: AnyNode[], environment: Environment, first: Called['environment']['self'][]): void {
    for (const node of nodes) {
      const closures = evaluator.evaluate(node, environment).filter(({ kind }) => kind === 'closure');
      for (const closure of closures) {
        for (const called of enter(closure, { self: unknown, given: [() => first] }, evaluator)) walk(called);
      }
    }
  }

  const service = () => [{ kind: 'service' as const, deep: false }];
  for (const called of enter(
    { kind: 'known', value: method },
    { self: { kind: 'leaf' }, given: [service] },
    evaluator,
  )) {
    walk(called);
  }
  return accesses;
}
