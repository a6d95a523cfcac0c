import type {
  AnyNode,
  ArrayExpression,
  BinaryExpression,
  ConditionalExpression,
  LogicalExpression,
  NewExpression,
  TemplateLiteral,
  UnaryExpression,
} from 'acorn';
import type { Field } from '../leaves/fields.ts';
import type { LeafClass, ValueType } from '../leaves/leaf.ts';
import { accessOf } from './access.ts';
import { builtInCall } from './built-ins.ts';
import type { Environment } from './environment.ts';
import { type Called, enter, functionsCalled, returnedBy } from './functions.ts';
import { itemsOf } from './lists.ts';
import { member, memberThings, namedThings } from './members.ts';
import type { OuterNames } from './outer-names.ts';
import { absent, type Call, listOf, listOfPlaces, sure, type Thing, textsOf, typeOfThing, unknown } from './things.ts';

/** The leaf whose code is looked at. */
export type Subject = { leaf: LeafClass; sample: object; fields: readonly Field[]; outerNames: OuterNames };

export type Evaluator = {
  subject: Subject;
  /** What an expression may be; several things when it depends on a condition. */
  evaluate(node: AnyNode, environment: Environment): Thing[];
  /** What a call of a thing may give back. */
  call(thing: Thing, call: Call): Thing[];
  /** What a thing has under a name. */
  member(thing: Thing, name: string): Thing[];
  /** A function ready to be looked at from the inside. */
  enter(thing: Thing, call: Call): Called[];
  /** Whether something was not looked at because there is too much of it. */
  gaveUp(): boolean;
};

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

type Evaluate = (part: AnyNode) => Thing[];

function binaryThings(node: BinaryExpression, evaluate: Evaluate): Thing[] {
  return binary(node, node.left.type === 'PrivateIdentifier' ? [unknown] : evaluate(node.left), evaluate(node.right));
}

function templateTexts({ quasis, expressions }: TemplateLiteral, evaluate: Evaluate): Thing[] {
  return textsOf(
    quasis.flatMap(({ value: { cooked } }, index) => {
      const expression = expressions[index];
      const text: Thing[] = [{ kind: 'known', value: cooked ?? '' }];
      return expression ? [text, evaluate(expression)] : [text];
    }),
  );
}

/** A new Set or Array of something holds what that holds. */
function made({ callee, arguments: [first] }: NewExpression, evaluate: Evaluate): Thing[] {
  const isList = evaluate(callee).some(
    (thing) => thing.kind === 'known' && (thing.value === Set || thing.value === Array),
  );
  return isList && first ? evaluate(first) : [unknown];
}

/** Both sides, or one of them where the left one is known to decide. */
function logical({ operator }: LogicalExpression, left: Thing[], right: () => Thing[]): Thing[] {
  const values = left.map((thing) => (thing.kind === 'known' ? { value: thing.value } : null));
  const isSure = (settles: (value: unknown) => boolean) => values.every((known) => known && settles(known.value));
  if (operator === '??' && isSure((value) => value != null)) return left;
  if (operator === '||' && isSure(Boolean)) return left;
  if (operator === '&&' && isSure(Boolean)) return right();
  const mayBe = operator === '&&' ? left : left.filter((thing) => !(thing.kind === 'known' && thing.value == null));
  return [...mayBe, ...right()];
}

function listOfElements(elements: ArrayExpression['elements'], evaluate: (part: AnyNode) => Thing[]): Thing {
  const places = elements.map((element) => {
    if (element?.type === 'SpreadElement') return evaluate(element.argument).flatMap(itemsOf);
    return element ? evaluate(element) : [absent];
  });
  return elements.some((element) => element?.type === 'SpreadElement') ? listOf(places.flat()) : listOfPlaces(places);
}

/** One side of a condition where it is sure which, else both. */
function conditional(
  test: readonly Thing[],
  { consequent, alternate }: ConditionalExpression,
  evaluate: (part: AnyNode) => Thing[],
): Thing[] {
  const [only] = test;
  if (test.length !== 1 || only?.kind !== 'known' || typeof only.value !== 'boolean' || !('sure' in only))
    return [...evaluate(consequent), ...evaluate(alternate)];
  return evaluate(only.value ? consequent : alternate);
}

function unary({ operator }: UnaryExpression, thing: Thing): Thing {
  const value = thing.kind === 'known' ? thing.value : undefined;
  if (operator === 'void') return absent;
  if (operator === '-' && typeof value === 'number') return { kind: 'known', value: -value };
  if (operator === '!' && typeof value === 'number') return { kind: 'known', value: !value };
  return ofType(operator === '!' ? 'Boolean' : operator === 'typeof' ? 'String' : undefined);
}

const ofType = (type: ValueType | undefined): Thing => ({ kind: 'unknown', type });

function binary({ operator }: BinaryExpression, left: Thing[], right: Thing[]): Thing[] {
  if (['==', '!=', '===', '!==', '<', '<=', '>', '>=', 'in', 'instanceof'].includes(operator))
    return [isDefined(operator, left, right) ?? isLonger(operator, left, right) ?? ofType('Boolean')];
  const types = [...left, ...right].map(typeOfThing).filter((type) => type !== undefined);
  const isNumeric = types.length > 0 && types.every((type) => ['Integer', 'Long', 'Double'].includes(type));
  if (operator === '+' && !isNumeric) return textsOf([left, right]);
  return [ofType(types.includes('Long') ? 'Long' : 'Double')];
}

/** `arguments[1] !== undefined`, as compilers write a default parameter, where something is given. */
function isDefined(operator: string, left: readonly Thing[], right: readonly Thing[]): Thing | undefined {
  const isUndefined = right.every((thing) => thing.kind === 'known' && thing.value === undefined);
  const isGiven = left.every((thing) => (thing.kind === 'known' ? thing.value !== undefined : thing.kind === 'text'));
  return operator === '!==' && isUndefined && isGiven ? sure(true) : undefined;
}

/** `arguments.length > 1`. */
function isLonger(operator: string, [length]: readonly Thing[], [least]: readonly Thing[]): Thing | undefined {
  if (operator !== '>' || length?.kind !== 'known' || !('sure' in length) || least?.kind !== 'known') return undefined;
  return sure(Number(length.value) > Number(least.value));
}
