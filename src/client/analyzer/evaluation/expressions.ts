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
import type { ValueType } from '../../leaves/leaf.ts';
import type { Thing } from '../interpreter.ts';
import { hasPlaces, itemsOf } from '../values/lists.ts';
import { absent, known, listOf, listOfPlaces, sure, textsOf, typeOfThing, unknown } from '../values/things.ts';

type Evaluate = (part: AnyNode) => Thing[];

export function binaryThings(node: BinaryExpression, evaluate: Evaluate): Thing[] {
  return binary(node, node.left.type === 'PrivateIdentifier' ? [unknown] : evaluate(node.left), evaluate(node.right));
}

export function templateTexts({ quasis, expressions }: TemplateLiteral, evaluate: Evaluate): Thing[] {
  return textsOf(
    quasis.flatMap(({ value: { cooked } }, index) => {
      const expression = expressions[index];
      const text: Thing[] = [{ kind: 'known', value: cooked ?? '' }];
      return expression ? [text, evaluate(expression)] : [text];
    }),
  );
}

/** A new Set or Array of something holds what that holds. */
export function made({ callee, arguments: [first] }: NewExpression, evaluate: Evaluate): Thing[] {
  const isList = evaluate(callee).some(
    (thing) => thing.kind === 'known' && (thing.value === Set || thing.value === Array),
  );
  if (!isList || !first) return [unknown];
  const held = evaluate(first);
  // `new Array(3)` has three empty places.
  return held.some((thing) => thing.kind === 'known' && typeof thing.value === 'number')
    ? [listOf([unknown])]
    : held.map(withoutTwins);
}

/** A list in which every plain value stands once, as a Set keeps them; of a list that may hold other things, the order is lost. */
function withoutTwins(thing: Thing): Thing {
  const items = itemsOf(thing);
  const values = items.flatMap((item) => (item.kind === 'known' ? [item.value] : []));
  if (!hasPlaces(thing) || new Set(values).size === items.length) return thing;
  return values.length === items.length ? known([...new Set(values)]) : listOf(items);
}

/** Both sides, or one of them where the left one is known to decide. */
export function logical({ operator }: LogicalExpression, left: Thing[], right: () => Thing[]): Thing[] {
  const values = left.map((thing) => (thing.kind === 'known' ? { value: thing.value } : null));
  const isSure = (settles: (value: unknown) => boolean) => values.every((known) => known && settles(known.value));
  if (operator === '??' && isSure((value) => value != null)) return left;
  if (operator === '||' && isSure(Boolean)) return left;
  if (operator === '&&' && isSure(Boolean)) return right();
  const mayBe = operator === '&&' ? left : left.filter((thing) => !(thing.kind === 'known' && thing.value == null));
  return [...mayBe, ...right()];
}

export function listOfElements(elements: ArrayExpression['elements'], evaluate: (part: AnyNode) => Thing[]): Thing {
  let isInOrder = true;
  const places = elements.flatMap((element): Thing[][] => {
    if (element?.type !== 'SpreadElement') return [element ? evaluate(element) : [absent]];
    const lists = evaluate(element.argument);
    const [only] = lists;
    if (lists.length === 1 && only && hasPlaces(only)) return itemsOf(only).map((item) => [item]);
    isInOrder = false;
    return [lists.flatMap(itemsOf)];
  });
  return isInOrder ? listOfPlaces(places) : listOf(places.flat());
}

/** One side of a condition where it is sure which, else both. */
export function conditional(
  test: readonly Thing[],
  { consequent, alternate }: ConditionalExpression,
  evaluate: (part: AnyNode) => Thing[],
): Thing[] {
  const [only] = test;
  if (test.length !== 1 || only?.kind !== 'known' || typeof only.value !== 'boolean' || !('sure' in only))
    return [...evaluate(consequent), ...evaluate(alternate)];
  return evaluate(only.value ? consequent : alternate);
}

export function unary({ operator }: UnaryExpression, thing: Thing): Thing {
  const value = thing.kind === 'known' ? thing.value : undefined;
  if (operator === 'void') return absent;
  if (operator === '-' && typeof value === 'number') return { kind: 'known', value: -value };
  if (operator === '!' && ['number', 'boolean'].includes(typeof value)) return { kind: 'known', value: !value };
  return ofType(operator === '!' ? 'Boolean' : operator === 'typeof' ? 'String' : undefined);
}

const ofType = (type: ValueType | undefined): Thing => ({ kind: 'unknown', type });

/** The result of an operator on two plain values. Others are not worked out: they may be anybody's, and large. */
const operations: Readonly<Record<string, (left: number, right: number) => unknown>> = {
  '-': (left, right) => left - right,
  '*': (left, right) => left * right,
  '/': (left, right) => left / right,
  '%': (left, right) => left % right,
  '&': (left, right) => left & right,
  '|': (left, right) => left | right,
  '>>': (left, right) => left >> right,
  '<<': (left, right) => left << right,
  '<': (left, right) => left < right,
  '<=': (left, right) => left <= right,
  '>': (left, right) => left > right,
  '>=': (left, right) => left >= right,
};

/** The result where both sides are one known number each, or one plain value each that is compared. */
function workedOut(operator: string, left: readonly Thing[], right: readonly Thing[]): Thing | undefined {
  const [a, b] = [onlyValue(left), onlyValue(right)];
  if (a === undefined || b === undefined) return undefined;
  if (operator === '===' || operator === '==') return a.type === b.type ? known(a.value === b.value) : undefined;
  if (operator === '!==' || operator === '!=') return a.type === b.type ? known(a.value !== b.value) : undefined;
  if (typeof a.value !== 'number' || typeof b.value !== 'number') return undefined;
  if (operator === '+') return known(a.value + b.value);
  const operation = operations[operator];
  return operation && known(operation(a.value, b.value));
}

function onlyValue(things: readonly Thing[]): { value: unknown; type: string } | undefined {
  const [only] = things;
  if (things.length !== 1 || only?.kind !== 'known') return undefined;
  const type = typeof only.value;
  return ['string', 'number', 'boolean'].includes(type) ? { value: only.value, type } : undefined;
}

function binary({ operator }: BinaryExpression, left: Thing[], right: Thing[]): Thing[] {
  const result = workedOut(operator, left, right);
  if (result) return [result];
  if (['==', '!=', '===', '!==', '<', '<=', '>', '>=', 'in', 'instanceof'].includes(operator))
    return [isDefined(operator, left, right) ?? isLonger(operator, left, right) ?? ofType('Boolean')];
  const types = [...left, ...right].map(typeOfThing).filter((type) => type !== undefined);
  const isNumeric = types.length > 0 && types.every((type) => ['Integer', 'Long', 'Double'].includes(type));
  if (operator === '+' && !isNumeric) return textsOf([left, right]);
  return [ofType(types.includes('Long') ? 'Long' : 'Double')];
}

/** `x !== undefined` and `x !== null`, as compilers write a default parameter and `??`, where something is given. */
function isDefined(operator: string, left: readonly Thing[], [right]: readonly Thing[]): Thing | undefined {
  if (operator !== '!==' && operator !== '!=') return undefined;
  if (right?.kind !== 'known' || (right.value !== undefined && right.value !== null)) return undefined;
  const isOther = (value: unknown) => (operator === '!==' ? value !== right.value : value != null);
  const isGiven = left.every((thing) => (thing.kind === 'known' ? isOther(thing.value) : thing.kind === 'text'));
  return isGiven ? sure(true) : undefined;
}

/** `arguments.length > 1`. */
function isLonger(operator: string, [length]: readonly Thing[], [least]: readonly Thing[]): Thing | undefined {
  if (operator !== '>' || length?.kind !== 'known' || !('sure' in length) || least?.kind !== 'known') return undefined;
  return sure(Number(length.value) > Number(least.value));
}
