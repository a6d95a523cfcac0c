import type { AnyNode } from 'acorn';
import { builtInCall } from '../built-ins/built-ins.ts';
import { enter, functionsCalled, returnedBy } from '../environment/functions.ts';
import type { Environment, Evaluator, Subject, Thing } from '../interpreter.ts';
import { member, memberThings, namedThings } from '../members/members.ts';
import { absent, unknown } from '../values/things.ts';
import { accessOf } from './access.ts';
import { binaryThings, conditional, listOfElements, logical, made, templateTexts, unary } from './expressions.ts';

const MAX_ALTERNATIVES = 100;
const MAX_DEPTH = 60;
const MAX_EVALUATIONS = 20_000;

/** Says what expressions of a leaf's code may be when it runs, without running any of it. What cannot be told is `unknown`. */
export function createEvaluator(subject: Subject): Evaluator {
  let depth = 0;
  let evaluations = 0;
  let gaveUp = false;
  const evaluator: Evaluator = {
    subject,
    returning: new Map(),
    evaluate,
    call: (thing, given) => enter(thing, given, evaluator).flatMap((called) => returnedBy(called, evaluator)),
    member: (thing, name) => member(thing, name, evaluator),
    enter: (thing, given) => enter(thing, given, evaluator),
    gaveUp: () => gaveUp,
  };

  function evaluate(node: AnyNode, environment: Environment): Thing[] {
    if (depth >= MAX_DEPTH || ++evaluations > MAX_EVALUATIONS) {
      gaveUp = true;
      return [unknown];
    }
    depth++;
    try {
      const things = evaluateNode(node, environment, evaluator);
      if (things.length > MAX_ALTERNATIVES) return [...things.slice(0, MAX_ALTERNATIVES), unknown];
      return things.length > 0 ? things : [unknown];
    } finally {
      depth--;
    }
  }

  return evaluator;
}

function evaluateNode(node: AnyNode, environment: Environment, evaluator: Evaluator): Thing[] {
  const evaluate = (part: AnyNode) => evaluator.evaluate(part, environment);
  switch (node.type) {
    case 'Literal':
      return [{ kind: 'known', value: node.bigint ? BigInt(node.bigint) : node.value }];
    case 'Identifier':
      return namedThings(node, environment, evaluator);
    case 'ThisExpression':
      return [environment.self];
    case 'MemberExpression':
      return memberThings(node, environment, evaluator);
    case 'CallExpression':
      return (
        accessOf(node, environment, evaluator)?.result ??
        builtInCall(node, environment, evaluator) ??
        functionsCalled(node, environment, evaluator).flatMap((called) => returnedBy(called, evaluator))
      );
    case 'TemplateLiteral':
      return templateTexts(node, evaluate);
    case 'BinaryExpression':
      return binaryThings(node, evaluate);
    case 'LogicalExpression':
      return logical(node, evaluate(node.left), () => evaluate(node.right));
    case 'ConditionalExpression':
      return conditional(evaluate(node.test), node, evaluate);
    case 'AssignmentExpression':
      return evaluate(node.right);
    case 'SequenceExpression':
      return node.expressions.slice(-1).flatMap(evaluate);
    case 'ChainExpression':
      return mayEndEarly(node.expression, evaluate)
        ? [...evaluate(node.expression), absent]
        : evaluate(node.expression);
    case 'ParenthesizedExpression':
      return evaluate(node.expression);
    case 'AwaitExpression':
    case 'SpreadElement':
      return evaluate(node.argument);
    case 'ArrayExpression':
      return [listOfElements(node.elements, evaluate)];
    case 'ObjectExpression':
      return [{ kind: 'object', node, environment }];
    case 'NewExpression':
      return made(node, evaluate);
    case 'FunctionExpression':
    case 'ArrowFunctionExpression':
      return [{ kind: 'closure', node, environment }];
    case 'UnaryExpression':
      return evaluate(node.argument).map((thing) => unary(node, thing));
    default:
      return [unknown];
  }
}

/** Whether a way with `?.` may come to nothing, because something on it is not there. */
function mayEndEarly(node: AnyNode, evaluate: (part: AnyNode) => Thing[]): boolean {
  if (node.type !== 'MemberExpression' && node.type !== 'CallExpression') return false;
  const before = node.type === 'MemberExpression' ? node.object : node.callee;
  const isAbsent = node.optional && evaluate(before).some((thing) => thing.kind === 'known' && thing.value == null);
  return isAbsent || mayEndEarly(before, evaluate);
}
