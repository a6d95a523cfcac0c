import type { AnyNode, CallExpression, MemberExpression } from 'acorn';
import { type Binding, bind, declare, type Environment } from './environment.ts';
import type { Evaluator } from './evaluator.ts';
import { childrenOf, type FunctionNode, functionNodeOf, isFunctionNode } from './syntax.ts';
import { type Thing, unknown } from './things.ts';

/** A function that a call leads to, with its parameters bound to what it is given. `local`: it stands in the caller's code. */
export type Called = { node: FunctionNode; environment: Environment; local: boolean };

/** The functions a call may lead to. */
export function functionsCalled(node: CallExpression, environment: Environment, evaluator: Evaluator): Called[] {
  if (node.callee.type === 'Super') return [];
  const self: Thing = isOnLeaf(node.callee, environment, evaluator) ? { kind: 'leaf' } : unknown;
  const given = node.arguments.map(
    (argument): Binding =>
      () =>
        evaluator.evaluate(argument, environment),
  );
  return evaluator.evaluate(node.callee, environment).flatMap((thing) => enter(thing, { self, given }, evaluator));
}

/** What a function is called with. */
type Call = { self: Thing; given: readonly Binding[] };

/** A function ready to be looked at from the inside, none when the thing is no function whose code can be read. */
export function enter(thing: Thing, { self, given }: Call, evaluator: Evaluator): Called[] {
  const local = thing.kind === 'closure';
  const node = local
    ? thing.node
    : thing.kind === 'known' && isCode(thing.value)
      ? functionNodeOf(thing.value)
      : undefined;
  if (node === undefined) return [];
  const environment = local
    ? { ...inside(thing.environment), self: node.type === 'ArrowFunctionExpression' ? thing.environment.self : self }
    : outermost(thing.kind === 'known' && isCode(thing.value) ? thing.value : {}, self, evaluator);
  for (const [index, pattern] of node.params.entries()) {
    bind(pattern, given[index] ?? (() => [unknown]), environment, evaluator);
  }
  declare(node, environment, evaluator);
  return [{ node, environment, local }];
}

/** Everything a function may return. */
export function returnedBy({ node, environment }: Called, { evaluate }: Evaluator): Thing[] {
  if (node.body.type !== 'BlockStatement') return evaluate(node.body, environment);
  const things: Thing[] = [];
  const visit = (part: AnyNode): void => {
    if (part.type === 'ReturnStatement' && part.argument) things.push(...evaluate(part.argument, environment));
    if (!isFunctionNode(part)) for (const child of childrenOf(part)) visit(child);
  };
  visit(node.body);
  return things.length > 0 ? things : [unknown];
}

const inside = (parent: Environment): Environment => ({ ...parent, parent, names: new Map(), code: null });

function outermost(code: object, self: Thing, { subject }: Evaluator): Environment {
  return { parent: null, names: new Map(), self, code, home: homeOf(code, subject.leaf.prototype) };
}

/** The prototype of the leaf or its ancestors that a method stands on. */
function homeOf(code: object, prototype: object): object | null {
  for (let object: object | null = prototype; object; object = Object.getPrototypeOf(object)) {
    if (Object.values(Object.getOwnPropertyDescriptors(object)).some(({ value }) => value === code)) return object;
  }
  return null;
}

function isOnLeaf(callee: AnyNode, environment: Environment, { evaluate }: Evaluator): boolean {
  if (callee.type !== 'MemberExpression') return false;
  const { object }: MemberExpression = callee;
  return object.type === 'Super' || evaluate(object, environment).some((thing) => thing.kind === 'leaf');
}

const isCode = (value: unknown): value is object => typeof value === 'function';
