import type { AnyNode, CallExpression } from 'acorn';
import { type Access, accessOf } from './access.ts';
import { iteratedBy } from './built-ins.ts';
import type { Environment } from './environment.ts';
import type { Evaluator } from './evaluator.ts';
import { type Called, enter, functionsCalled } from './functions.ts';
import { carriesData, leavesSight } from './lost-data.ts';
import { childrenOf, type FunctionNode, isFunctionNode } from './syntax.ts';
import { derivedFromSomething, type Thing, unknown } from './things.ts';
import { typeByUse } from './use-types.ts';

const MAX_FUNCTIONS_DEEP = 10;
const MAX_FUNCTIONS = 1000;

/** Says that there may be keys that were not found. */
const somethingElse: Access = {
  ...{ direction: 'read', method: 'get', union: false, type: undefined, result: [] },
  keys: [derivedFromSomething],
};

/** A walk through a leaf's method: what it has found, and where it is. */
type Walk = {
  evaluator: Evaluator;
  decides: boolean;
  accesses: Access[];
  entered: FunctionNode[];
  /** What functions did when they called themselves. */
  again: Map<FunctionNode, Access[]>;
  functions: number;
};

/**
 * Every access to the data in a leaf's method, in the order of the code, through the functions it hands the data to. Where the
 * data goes out of sight, an access to an unknown key stands for what may be missed.
 */
export function accessesIn(method: object, decides: boolean, evaluator: Evaluator): Access[] {
  const walk: Walk = { evaluator, decides, accesses: [], entered: [], again: new Map(), functions: 0 };
  const service = (): Thing[] => [{ kind: 'service', deep: false }];
  const bodies = enter({ kind: 'known', value: method }, { self: { kind: 'leaf' }, given: [service] }, evaluator);
  for (const body of bodies) through(body, walk);
  // A method without a text, such as a bound one, may read anything.
  return bodies.length === 0 ? [somethingElse] : walk.accesses;
}

function through({ node, environment }: Called, walk: Walk): void {
  const { accesses, entered, again } = walk;
  const times = entered.filter((each) => each === node).length;
  if (times > 1) return;
  if (entered.length >= MAX_FUNCTIONS_DEEP || ++walk.functions > MAX_FUNCTIONS) {
    accesses.push(somethingElse);
    return;
  }
  const from = accesses.length;
  entered.push(node);
  for (const part of [...node.params, node.body]) visit(part, { ancestors: [node], environment }, walk);
  entered.pop();
  if (times === 1) again.set(node, [...(again.get(node) ?? []), ...accesses.slice(from)]);
  else if (readsMoreWhenDeeper(again.get(node), accesses.slice(from))) accesses.push(somethingElse);
  if (times === 0) again.delete(node);
}

type Place = { ancestors: AnyNode[]; environment: Environment };

function visit(node: AnyNode, { ancestors, environment }: Place, walk: Walk): void {
  // A function that is only written down does nothing; where it is called or handed over, it is walked.
  if (isFunctionNode(node)) return;
  const inner = { ancestors: [...ancestors, node], environment };
  // Arguments run before the call they are for.
  for (const child of childrenOf(node)) visit(child, inner, walk);
  if (node.type === 'CallExpression') call(node, { ancestors, environment }, walk);
  if (node.type === 'NewExpression') handedOver(node.arguments, { environment, given: [] }, walk);
  const { evaluator, accesses } = walk;
  if (leavesSight(node, ancestors, { environment, evaluator })) accesses.push(somethingElse);
}

function call(node: CallExpression, { ancestors, environment }: Place, walk: Walk): void {
  const { evaluator, entered, accesses } = walk;
  const access = accessOf(node, environment, evaluator);
  if (access) {
    const used = { environment, evaluator, decides: walk.decides && entered.length === 1 };
    const type = access.type ?? (access.direction === 'read' ? typeByUse({ node, ancestors }, used) : undefined);
    accesses.push({ ...access, type });
    return;
  }
  const called = functionsCalled(node, environment, evaluator);
  const takesData = called.some(({ environment: { names } }) =>
    [...names.values()].some((bindings) =>
      bindings.some((binding) => binding().some((thing) => carriesData(thing, evaluator))),
    ),
  );
  for (const each of called) if (each.local || takesData) through(each, walk);
  const given = iteratedBy(node, environment, evaluator) ?? [[unknown]];
  handedOver(node.arguments, { environment, given }, walk);
}

/** Functions given to other functions, which will call them with somebody else's values. */
function handedOver(
  nodes: AnyNode[],
  { environment, given }: { environment: Environment; given: Thing[][] },
  walk: Walk,
): void {
  const { evaluator } = walk;
  const bindings = given.map((things) => () => things);
  for (const node of nodes) {
    const things = evaluator.evaluate(node, environment);
    for (const closure of things.filter(({ kind }) => kind === 'closure' || kind === 'bound'))
      for (const called of enter(closure, { self: unknown, given: bindings }, evaluator)) through(called, walk);
  }
}

/** Whether a function reads other keys when it calls itself: then it may read still others the deeper it goes. */
function readsMoreWhenDeeper(deeper: readonly Access[] = [], all: readonly Access[]): boolean {
  const own = namesOf(all.filter((access) => !deeper.includes(access)));
  return [...namesOf(deeper)].some((name) => !own.has(name));
}

const namesOf = (accesses: readonly Access[]) =>
  new Set(accesses.flatMap(({ keys, method }) => keys.map((key) => method + JSON.stringify(key))));
