import type { AnyNode, CallExpression } from 'acorn';
import { childrenOf, type FunctionNode, isFunctionNode } from '../../code/syntax.ts';
import { givesFirst, iteratedBy, losesReturned } from '../built-ins/built-ins.ts';
import { isDeclared, thingsOf } from '../environment/environment.ts';
import { enter, functionsCalled, functionsIn, leaving } from '../environment/functions.ts';
import { type Access, accessOf } from '../evaluation/access.ts';
import type { Call, Called, Environment, Evaluator, Thing } from '../interpreter.ts';
import { derivedFromSomething, unknown } from '../values/things.ts';
import { keepsNothing } from './kept-functions.ts';
import { carriesData, leavesSight } from './lost-data.ts';
import { typeByUse } from './use-types.ts';

const MAX_FUNCTIONS_DEEP = 10;
const MAX_FUNCTIONS = 1000;

/** Says that there may be keys that were not found. */
const somethingElse: Access = {
  ...{ direction: 'read', method: 'get', union: false, type: undefined, result: [] },
  keys: [derivedFromSomething],
};

/** A walk through a leaf's method: its findings so far, and its place. */
type Walk = {
  evaluator: Evaluator;
  decides: boolean;
  accesses: Access[];
  entered: FunctionNode[];
  /** The effects of functions that called themselves. */
  again: Map<FunctionNode, Access[]>;
  functions: number;
  /** Functions that are written down in the code, and those among them in which something was found. */
  written: Map<FunctionNode, Environment>;
  walked: Set<FunctionNode>;
};

/**
 * Every access to the data in a leaf's method, in the order of the code, through the functions it hands the data to. Where the
 * data goes out of sight, an access to an unknown key stands for what may be missed.
 */
export function accessesIn(method: object, decides: boolean, evaluator: Evaluator): Access[] {
  const walk: Walk = {
    ...{ evaluator, decides, accesses: [], entered: [], again: new Map(), functions: 0 },
    ...{ written: new Map(), walked: new Set() },
  };
  const service = (): Thing[] => [{ kind: 'service', deep: false }];
  const bodies = enter({ kind: 'known', value: method }, { self: { kind: 'leaf' }, given: [service] }, evaluator);
  for (const body of bodies) through(body, walk);
  // A method without a text, such as a bound one, may read anything.
  if (bodies.length === 0 || readsUnseen(walk) || evaluator.gaveUp()) walk.accesses.push(somethingElse);
  return walk.accesses;
}

const MAX_GIVEN = 6;
const anyCall: Call = { self: unknown, given: Array.from({ length: MAX_GIVEN }, () => () => [unknown]) };

/** Whether functions that nobody seems to call use the data: they are kept somewhere, and called in a way that is not seen. */
function readsUnseen(walk: Walk): boolean {
  const { accesses, written, walked, evaluator } = walk;
  const seen = accesses.length;
  for (const [node, environment] of written) {
    if (walked.has(node)) continue;
    for (const called of enter({ kind: 'closure', node, environment }, anyCall, evaluator)) through(called, walk);
  }
  return accesses.splice(seen).length > 0;
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
  if (accesses.length > from) walk.walked.add(node);
  if (times === 1) again.set(node, [...(again.get(node) ?? []), ...accesses.slice(from)]);
  else if (readsMoreWhenDeeper(again.get(node), accesses.slice(from))) accesses.push(somethingElse);
  if (times === 0) again.delete(node);
}

type CodePlace = { ancestors: AnyNode[]; environment: Environment };

function visit(node: AnyNode, { ancestors, environment }: CodePlace, walk: Walk): void {
  // A function that is only written down does nothing; where it is called or handed over, it is walked.
  if (isFunctionNode(node)) {
    walk.written.set(node, environment);
    return;
  }
  const inner = { ancestors: [...ancestors, node], environment };
  // Arguments run before the call they are for.
  for (const child of childrenOf(node)) visit(child, inner, walk);
  if (node.type === 'CallExpression') call(node, { ancestors, environment }, walk);
  if (node.type === 'NewExpression') handedOver(node.arguments, { environment, given: [], loses: true }, walk);
  const { evaluator, accesses } = walk;
  // Kept where somebody else may call it with other keys.
  if (node.type === 'AssignmentExpression' && isKeptElsewhere(node.left, environment))
    handedOver([node.right], { environment, given: [], loses: true }, walk);
  if (leavesSight(node, ancestors, { environment, evaluator })) accesses.push(somethingElse);
}

function isKeptElsewhere(target: AnyNode, environment: Environment): boolean {
  return (
    target.type === 'MemberExpression' ||
    (target.type === 'Identifier' && !isDeclared(target.name, target.start, environment))
  );
}

function call(node: CallExpression, { ancestors, environment }: CodePlace, walk: Walk): void {
  const { evaluator, entered, accesses } = walk;
  const access = accessOf(node, environment, evaluator);
  if (access) {
    const used = { environment, evaluator, decides: walk.decides && entered.length === 1 };
    const type = access.type ?? (access.direction === 'read' ? typeByUse({ node, ancestors }, used) : undefined);
    accesses.push({ ...access, type });
    return;
  }
  const called = functionsCalled(node, environment, evaluator);
  const [callee] = evaluator.evaluate(node.callee, environment);
  const isNoCall = callee?.kind === 'known' && givesFirst.has(callee.value);
  const isSafe = (index: number) =>
    isNoCall || (called.length > 0 && called.every((each) => keepsNothing(each, index, evaluator)));
  const takesFunctions = node.arguments.some(
    (argument, index) => isSafe(index) && functionsIn(argument, environment, evaluator).length > 0,
  );
  const isFollowed = takesFunctions || called.some((each) => takesData(each, evaluator));
  for (const each of called) if (each.local || isFollowed) through(each, walk);
  const given = iteratedBy(node, environment, evaluator) ?? [];
  const others = node.arguments.filter((_, index) => !isSafe(index));
  const loses = losesReturned(node, environment, evaluator);
  handedOver(others, { environment, given, loses }, walk);
}

function takesData({ environment: { names } }: Called, evaluator: Evaluator): boolean {
  return [...names.values()].some((entries) =>
    thingsOf(entries.map(({ meaning }) => meaning)).some((thing) => carriesData(thing, evaluator)),
  );
}

/** `loses`: what the functions return goes where nobody sees it. */
type HandedOver = { environment: Environment; given: Thing[][]; loses: boolean };

/** Functions given to other functions, which will call them with somebody else's values, or with the data. */
function handedOver(nodes: AnyNode[], { environment, given, loses }: HandedOver, walk: Walk): void {
  const { evaluator, accesses } = walk;
  const bindings = Array.from({ length: MAX_GIVEN }, (_, index) => () => given[index] ?? [unknown]);
  const hasData = given.flat().some((thing) => carriesData(thing, evaluator));
  for (const node of nodes) {
    const functions = functionsIn(node, environment, evaluator).filter(({ kind }) => hasData || kind !== 'known');
    // The data goes into a function that nobody can read.
    if (hasData && functions.length === 0) accesses.push(somethingElse);
    for (const called of functions.flatMap((each) => enter(each, { self: unknown, given: bindings }, evaluator))) {
      through(called, walk);
      const isLost = loses && leaving(called, evaluator).some((thing) => carriesData(thing, evaluator));
      if (isLost) accesses.push(somethingElse);
    }
  }
}

/** Whether a function reads other keys when it calls itself: then it may read still others the deeper it goes. */
function readsMoreWhenDeeper(deeper: readonly Access[] = [], all: readonly Access[]): boolean {
  const own = namesOf(all.filter((access) => !deeper.includes(access)));
  return [...namesOf(deeper)].some((name) => !own.has(name));
}

const namesOf = (accesses: readonly Access[]) =>
  new Set(accesses.flatMap(({ keys, method }) => keys.map((key) => method + JSON.stringify(key))));
