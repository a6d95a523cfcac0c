import type { AnyNode, CallExpression, MemberExpression } from 'acorn';
import { type Binding, bind, declare, type Environment } from './environment.ts';
import type { Evaluator } from './evaluator.ts';
import { itemsOf } from './lists.ts';
import { childrenOf, type FunctionNode, functionNodeOf, isFunctionNode } from './syntax.ts';
import { absent, type Call, type Thing, unknown } from './things.ts';

/** A function that a call leads to, with its parameters bound to what it is given. `local`: it stands in the caller's code. */
export type Called = { node: FunctionNode; environment: Environment; local: boolean };

/** The functions a call may lead to. */
export function functionsCalled(node: CallExpression, environment: Environment, evaluator: Evaluator): Called[] {
  const { callee } = node;
  if (callee.type === 'Super') return [];
  const given = node.arguments.flatMap((argument): Binding[] => {
    if (argument.type !== 'SpreadElement') return [() => evaluator.evaluate(argument, environment)];
    // Spread lists as far as they are known: `...args` of a wrapper hands on what it was given.
    const items = evaluator.evaluate(argument.argument, environment).flatMap(itemsOf);
    return items.map((item) => () => [item]);
  });
  const by = callee.type === 'MemberExpression' ? applied(callee, given, { environment, evaluator }) : [];
  const self: Thing = isOnLeaf(callee, environment, evaluator) ? { kind: 'leaf' } : unknown;
  return [
    ...by,
    ...evaluator.evaluate(callee, environment).flatMap((thing) => enter(thing, { self, given }, evaluator)),
  ];
}

type Around = { environment: Environment; evaluator: Evaluator };

/** `function.call(self, …)` and `function.apply(self, […])`. */
function applied(callee: MemberExpression, [self, ...rest]: Binding[], { environment, evaluator }: Around): Called[] {
  if (callee.computed || callee.property.type !== 'Identifier' || callee.object.type === 'Super') return [];
  const { name } = callee.property;
  if (name !== 'call' && name !== 'apply') return [];
  const [list] = rest;
  const given = name === 'call' ? rest : (list?.() ?? []).flatMap(itemsOf).map((item) => () => [item]);
  const [on = unknown] = self?.() ?? [];
  return evaluator
    .evaluate(callee.object, environment)
    .flatMap((thing) => enter(thing, { self: on, given }, evaluator));
}

/** A function ready to be looked at from the inside, none when the thing is no function whose code can be read. */
export function enter(thing: Thing, call: Call, evaluator: Evaluator): Called[] {
  if (thing.kind === 'bound')
    return enter(thing.target, { self: thing.self, given: [...thing.given, ...call.given] }, evaluator);
  const { self, given } = call;
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
    if (pattern.type === 'RestElement') {
      const rest = given.slice(index);
      const items = (): Thing[] => [{ kind: 'list', items: rest.flatMap((binding) => binding()) }];
      bind(pattern.argument, items, environment, evaluator);
    } else bind(pattern, given[index] ?? (() => [absent]), environment, evaluator);
  }
  // What a function that is no arrow is given also goes by this name.
  if (node.type !== 'ArrowFunctionExpression')
    environment.names.set('arguments', [() => [{ kind: 'list', items: given.flatMap((binding) => binding()) }]]);
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
