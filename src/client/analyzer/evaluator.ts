import type { AnyNode, ArrayExpression, BinaryExpression, NewExpression, TemplateLiteral } from 'acorn';
import type { Field } from '../leaves/fields.ts';
import type { LeafClass, ValueType } from '../leaves/leaf.ts';
import { accessOf } from './access.ts';
import { builtInCall } from './built-ins.ts';
import type { Environment } from './environment.ts';
import { enter, functionsCalled, returnedBy } from './functions.ts';
import { itemsOf } from './lists.ts';
import { memberThings, namedThings } from './members.ts';
import type { OuterNames } from './outer-names.ts';
import { absent, type Call, type Thing, textsOf, typeOfThing, unknown } from './things.ts';

/** The leaf whose code is looked at. */
export type Subject = { leaf: LeafClass; sample: object; fields: readonly Field[]; outerNames: OuterNames };

export type Evaluator = {
  subject: Subject;
  /** What an expression may be; several things when it depends on a condition. */
  evaluate(node: AnyNode, environment: Environment): Thing[];
  /** What a call of a thing may give back. */
  call(thing: Thing, call: Call): Thing[];
};

const MAX_ALTERNATIVES = 24;
const MAX_DEPTH = 60;
const MAX_EVALUATIONS = 20_000;

/** Says what expressions of a leaf's code may be when it runs, without running any of it. What cannot be told is `unknown`. */
export function createEvaluator(subject: Subject): Evaluator {
  let depth = 0;
  let evaluations = 0;
  const evaluator: Evaluator = {
    subject,
    evaluate,
    call: (thing, given) => enter(thing, given, evaluator).flatMap((called) => returnedBy(called, evaluator)),
  };

  function evaluate(node: AnyNode, environment: Environment): Thing[] {
    if (depth >= MAX_DEPTH || ++evaluations > MAX_EVALUATIONS) return [unknown];
    depth++;
    try {
      const things = evaluateNode(node, environment, evaluator);
      return things.length > 0 ? things.slice(0, MAX_ALTERNATIVES) : [unknown];
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
      return namedThings(node.name, environment, evaluator);
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
      return binary(
        node,
        node.left.type === 'PrivateIdentifier' ? [unknown] : evaluate(node.left),
        evaluate(node.right),
      );
    case 'LogicalExpression':
      return [...evaluate(node.left), ...evaluate(node.right)];
    case 'ConditionalExpression':
      return [...evaluate(node.consequent), ...evaluate(node.alternate)];
    case 'AssignmentExpression':
      return evaluate(node.right);
    case 'SequenceExpression':
      return node.expressions.slice(-1).flatMap(evaluate);
    case 'ChainExpression':
    case 'ParenthesizedExpression':
      return evaluate(node.expression);
    case 'AwaitExpression':
    case 'SpreadElement':
      return evaluate(node.argument);
    case 'ArrayExpression':
      return [{ kind: 'list', items: listed(node, evaluate) }];
    case 'ObjectExpression':
      return [{ kind: 'object', node, environment }];
    case 'NewExpression':
      return made(node, evaluate);
    case 'FunctionExpression':
    case 'ArrowFunctionExpression':
      return [{ kind: 'closure', node, environment }];
    case 'UnaryExpression':
      return [ofType(node.operator === '!' ? 'Boolean' : node.operator === 'typeof' ? 'String' : undefined)];
    default:
      return [unknown];
  }
}

type Evaluate = (part: AnyNode) => Thing[];

function templateTexts({ quasis, expressions }: TemplateLiteral, evaluate: Evaluate): Thing[] {
  return textsOf(
    quasis.flatMap(({ value: { cooked } }, index) => {
      const expression = expressions[index];
      const text: Thing[] = [{ kind: 'known', value: cooked ?? '' }];
      return expression ? [text, evaluate(expression)] : [text];
    }),
  );
}

function listed({ elements }: ArrayExpression, evaluate: Evaluate): Thing[] {
  return elements.flatMap((element) => {
    if (element?.type === 'SpreadElement') return evaluate(element.argument).flatMap(itemsOf);
    return element ? evaluate(element) : [absent];
  });
}

/** A new Set or Array of something holds what that holds. */
function made({ callee, arguments: [first] }: NewExpression, evaluate: Evaluate): Thing[] {
  const isList = evaluate(callee).some(
    (thing) => thing.kind === 'known' && (thing.value === Set || thing.value === Array),
  );
  return isList && first ? evaluate(first) : [unknown];
}

const ofType = (type: ValueType | undefined): Thing => ({ kind: 'unknown', type });

function binary({ operator }: BinaryExpression, left: Thing[], right: Thing[]): Thing[] {
  if (['==', '!=', '===', '!==', '<', '<=', '>', '>=', 'in', 'instanceof'].includes(operator))
    return [ofType('Boolean')];
  const types = [...left, ...right].map(typeOfThing).filter((type) => type !== undefined);
  const isNumeric = types.length > 0 && types.every((type) => ['Integer', 'Long', 'Double'].includes(type));
  if (operator === '+' && !isNumeric) return textsOf([left, right]);
  return [ofType(types.includes('Long') ? 'Long' : 'Double')];
}
