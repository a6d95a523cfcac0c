import type { AnyNode, CallExpression, MemberExpression } from 'acorn';
import { childrenOf, type FunctionNode, functionNodeOf, isFunctionNode } from '../../code/syntax.ts';
import type { Binding, Call, Called, Environment, Evaluator, Thing } from '../interpreter.ts';
import { itemsOf } from '../values/lists.ts';
import { absent, listOf, listOfPlaces, unknown } from '../values/things.ts';
import { declare } from './declarations.ts';
import { addMeaning, bind } from './environment.ts';

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
  const self = calledOn(callee, environment, evaluator);
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

/** The functions an argument may be whose code stands here or can be read. */
export function functionsIn(node: AnyNode, environment: Environment, { evaluate }: Evaluator): Thing[] {
  return evaluate(node, environment).filter(
    (thing) =>
      thing.kind === 'closure' ||
      thing.kind === 'bound' ||
      (thing.kind === 'known' && isCode(thing.value) && functionNodeOf(thing.value) !== undefined),
  );
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
  const add = (name: string, binding: Binding) => addMeaning(environment, name, { scope: node, meaning: binding });
  for (const [index, pattern] of node.params.entries()) {
    const around = { environment, evaluator, add };
    if (pattern.type === 'RestElement') bind(pattern.argument, () => [all(given.slice(index))], around);
    else bind(pattern, given[index] ?? (() => [absent]), around);
  }
  // The arguments of a function that is no arrow also go by this name.
  if (node.type !== 'ArrowFunctionExpression') add('arguments', () => [all(given)]);
  declare(node, environment, evaluator);
  return [{ node, environment, local }];
}

const all = (given: Call['given']): Thing => listOfPlaces(given.map((binding) => binding()));

/** How deep a function is followed into calls of itself: what it returns from there is what it returns further out, or unknown. */
const MAX_RETURNS_DEEP = 3;

/** Everything a function may return; what a generator yields, as a list. */
export function returnedBy(called: Called, evaluator: Evaluator): Thing[] {
  const { returning } = evaluator;
  const deep = returning.get(called.node) ?? 0;
  if (deep >= MAX_RETURNS_DEEP) return [unknown];
  returning.set(called.node, deep + 1);
  try {
    return everyReturn(called, evaluator);
  } finally {
    returning.set(called.node, deep);
  }
}

/** Everything that leaves a function by a `return` or a `yield`, one by one. */
export function leaving(called: Called, evaluator: Evaluator): Thing[] {
  const { node, environment } = called;
  const returned = node.generator
    ? everyResult(node, 'ReturnStatement', (part) => evaluator.evaluate(part, environment))
    : [];
  return [...returned, ...returnedBy(called, evaluator)];
}

function everyReturn({ node, environment }: Called, { evaluate }: Evaluator): Thing[] {
  if (node.body.type !== 'BlockStatement') return evaluate(node.body, environment);
  const evaluateHere = (part: AnyNode) => evaluate(part, environment);
  if (node.generator) return [listOf(everyResult(node, 'YieldExpression', evaluateHere))];
  const things = everyResult(node, 'ReturnStatement', evaluateHere);
  return endsByItself(node.body) ? [...things, absent] : things;
}

/** Whether a statement may come to its end, so that the function goes on behind it. */
function endsByItself(statement: AnyNode): boolean {
  switch (statement.type) {
    case 'ReturnStatement':
    case 'ThrowStatement':
      return false;
    case 'BlockStatement':
      return statement.body.every(endsByItself);
    case 'IfStatement':
      return !statement.alternate || endsByItself(statement.consequent) || endsByItself(statement.alternate);
    case 'TryStatement': {
      const { block, handler, finalizer } = statement;
      if (finalizer && !endsByItself(finalizer)) return false;
      return endsByItself(block) || (handler != null && endsByItself(handler.body));
    }
    case 'SwitchStatement': {
      const hasDefault = statement.cases.some(({ test }) => !test);
      const last = statement.cases.at(-1)?.consequent ?? [];
      return !hasDefault || last.every(endsByItself);
    }
    case 'ForStatement':
      return statement.test != null;
    case 'WhileStatement':
      return !(statement.test.type === 'Literal' && statement.test.value === true);
    default:
      return true;
  }
}

/** The values of all statements of one kind in a function's own code: all its `return`s, or all its `yield`s. */
function everyResult(
  { body }: FunctionNode,
  wanted: 'ReturnStatement' | 'YieldExpression',
  evaluate: (part: AnyNode) => Thing[],
): Thing[] {
  const things: Thing[] = [];
  const visit = (part: AnyNode): void => {
    if (part.type === 'ReturnStatement' && part.type === wanted && !part.argument) things.push(absent);
    if ((part.type === 'ReturnStatement' || part.type === 'YieldExpression') && part.type === wanted && part.argument) {
      const given = evaluate(part.argument);
      things.push(...('delegate' in part && part.delegate ? given.flatMap(itemsOf) : given));
    }
    if (!isFunctionNode(part)) for (const child of childrenOf(part)) visit(child);
  };
  visit(body);
  return things;
}

const inside = (parent: Environment): Environment => ({
  ...{ ...parent, parent, names: new Map(), assigned: new Map() },
  code: null,
});

function outermost(code: object, self: Thing, { subject }: Evaluator): Environment {
  return {
    parent: null,
    names: new Map(),
    assigned: new Map(),
    self,
    code,
    home: homeOf(code, subject.leaf.prototype),
  };
}

/** The prototype of the leaf or its ancestors that a method stands on. */
function homeOf(code: object, prototype: object): object | null {
  for (let object: object | null = prototype; object; object = Object.getPrototypeOf(object)) {
    if (Object.values(Object.getOwnPropertyDescriptors(object)).some(({ value }) => value === code)) return object;
  }
  return null;
}

/** The value of `this` in a called function. */
function calledOn(callee: AnyNode, environment: Environment, evaluator: Evaluator): Thing {
  if (callee.type === 'ChainExpression' || callee.type === 'ParenthesizedExpression')
    return calledOn(callee.expression, environment, evaluator);
  if (callee.type !== 'MemberExpression') return unknown;
  const { object }: MemberExpression = callee;
  if (object.type === 'Super') return environment.self;
  const things = evaluator.evaluate(object, environment);
  const [only = unknown] = things;
  return things.find((thing) => thing.kind === 'leaf') ?? (things.length === 1 ? only : unknown);
}

const isCode = (value: unknown): value is object => typeof value === 'function';
