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

/**
 * Every access to the data in a leaf's method, in the order of the code, through the functions it hands the data to. Where the
 * data goes out of sight, an access to an unknown key stands for what may be missed.
 */
export function accessesIn(method: object, decides: boolean, evaluator: Evaluator): Access[] {
  const accesses: Access[] = [];
  const entered: FunctionNode[] = [];
  /** What functions did when they called themselves. */
  const again = new Map<FunctionNode, Access[]>();
  let functions = 0;

  function walk({ node, environment }: Called): void {
    const times = entered.filter((each) => each === node).length;
    if (times > 1) return;
    if (entered.length >= MAX_FUNCTIONS_DEEP || ++functions > MAX_FUNCTIONS) {
      accesses.push(somethingElse);
      return;
    }
    const from = accesses.length;
    entered.push(node);
    for (const part of [...node.params, node.body]) visit(part, [node], environment);
    entered.pop();
    if (times === 1) again.set(node, [...(again.get(node) ?? []), ...accesses.slice(from)]);
    else if (readsMoreWhenDeeper(again.get(node), accesses.slice(from))) accesses.push(somethingElse);
    if (times === 0) again.delete(node);
  }

  function visit(node: AnyNode, ancestors: AnyNode[], environment: Environment): void {
    // A function that is only written down does nothing; where it is called or handed over, it is walked.
    if (isFunctionNode(node)) return;
    const inner = [...ancestors, node];
    // Arguments run before the call they are for.
    for (const child of childrenOf(node)) visit(child, inner, environment);
    if (node.type === 'CallExpression') call(node, ancestors, environment);
    if (node.type === 'NewExpression') handedOver(node.arguments, environment, []);
    if (leavesSight(node, ancestors, { environment, evaluator })) accesses.push(somethingElse);
  }

  function call(node: CallExpression, ancestors: AnyNode[], environment: Environment): void {
    const access = accessOf(node, environment, evaluator);
    if (access) {
      const used = { environment, evaluator, decides: decides && entered.length === 1 };
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
    for (const each of called) if (each.local || takesData) walk(each);
    handedOver(node.arguments, environment, iteratedBy(node, environment, evaluator) ?? [[unknown]]);
  }

  /** Functions given to other functions, which will call them with somebody else's values. */
  function handedOver(nodes: AnyNode[], environment: Environment, given: Thing[][]): void {
    for (const node of nodes) {
      const closures = evaluator
        .evaluate(node, environment)
        .filter(({ kind }) => kind === 'closure' || kind === 'bound');
      for (const closure of closures) {
        const bindings = given.map((things) => () => things);
        for (const called of enter(closure, { self: unknown, given: bindings }, evaluator)) walk(called);
      }
    }
  }

  const service = (): Thing[] => [{ kind: 'service', deep: false }];
  const bodies = enter({ kind: 'known', value: method }, { self: { kind: 'leaf' }, given: [service] }, evaluator);
  for (const body of bodies) walk(body);
  // A method without a text, such as a bound one, may read anything.
  return bodies.length === 0 ? [somethingElse] : accesses;
}

/** Whether a function reads other keys when it calls itself: then it may read still others the deeper it goes. */
function readsMoreWhenDeeper(deeper: readonly Access[] = [], all: readonly Access[]): boolean {
  const own = namesOf(all.filter((access) => !deeper.includes(access)));
  return [...namesOf(deeper)].some((name) => !own.has(name));
}

const namesOf = (accesses: readonly Access[]) =>
  new Set(accesses.flatMap(({ keys, method }) => keys.map((key) => method + JSON.stringify(key))));
