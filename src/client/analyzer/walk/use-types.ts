import type { AnyNode, CallExpression, MemberExpression } from 'acorn';
import { childrenOf } from '../../code/syntax.ts';
import type { ValueType } from '../../leaves/leaf.ts';
import type { Environment, Evaluator } from '../interpreter.ts';
import { propertyNames } from '../members/members.ts';
import { itemsOf } from '../values/lists.ts';
import { typeOfThing } from '../values/things.ts';

/** A node and what it stands in, the outermost first; the first is the function. */
type Placed = { node: AnyNode; ancestors: readonly AnyNode[] };

type Around = { environment: Environment; evaluator: Evaluator; decides: boolean };

const typesByTypeof: Record<string, ValueType> = {
  number: 'Double',
  bigint: 'Long',
  string: 'String',
  boolean: 'Boolean',
};
const ofStrings = new Set(
  'charAt charCodeAt codePointAt endsWith localeCompare match matchAll normalize padEnd padStart replace replaceAll search split startsWith substring toLowerCase toUpperCase trim trimEnd trimStart'.split(
    ' ',
  ),
);
const ofLists = new Set(
  'every filter find findIndex findLast flatMap flat forEach join map pop push reduce reverse shift some sort splice toSorted unshift'.split(
    ' ',
  ),
);
const ofNumbers = new Set(['toFixed', 'toPrecision', 'toExponential']);
const ofBoth = new Set([
  'length',
  'includes',
  'indexOf',
  'lastIndexOf',
  'slice',
  'concat',
  'at',
  'toString',
  'valueOf',
]);

/**
 * The type that code takes a value for, by what it does with it: compares it to, calls on it, returns it as. `decides`: the
 * function is one whose result is TRUE or FALSE.
 */
export function typeByUse(placed: Placed, around: Around): ValueType | undefined {
  let { node } = placed;
  for (const [index, parent] of [...placed.ancestors.entries()].reverse()) {
    const verdict = typeIn(node, parent, { ...around, ancestors: placed.ancestors.slice(0, index) });
    if (verdict !== 'go on') return verdict;
    node = parent;
  }
  return undefined;
}

type Deeper = Around & { ancestors: readonly AnyNode[] };

function typeIn(node: AnyNode, parent: AnyNode, around: Deeper): ValueType | 'go on' | undefined {
  const typeOf = (other: AnyNode) =>
    around.evaluator.evaluate(other, around.environment).map(typeOfThing).find(Boolean);
  switch (parent.type) {
    case 'AwaitExpression':
    case 'ChainExpression':
    case 'ParenthesizedExpression':
      return 'go on';
    case 'LogicalExpression':
      return (parent.left === node && parent.operator !== '&&' ? typeOf(parent.right) : undefined) ?? 'go on';
    case 'ConditionalExpression':
      return parent.test === node ? undefined : 'go on';
    case 'BinaryExpression':
      if (['in', 'instanceof'].includes(parent.operator)) return undefined;
      return (
        typeOf(parent.left === node ? parent.right : parent.left) ??
        (/^[-*/%]|\*\*$/.test(parent.operator) ? 'Double' : undefined)
      );
    case 'UnaryExpression':
      if (parent.operator === 'typeof') return typeofType(parent, around);
      return ['-', '+'].includes(parent.operator) ? 'Double' : undefined;
    case 'CallExpression':
      return parent.callee === node ? undefined : typeAsArgument(parent, around);
    case 'MemberExpression':
      return parent.object === node ? typeAsObject(parent, around) : undefined;
    case 'VariableDeclarator':
      return parent.id.type === 'Identifier'
        ? typeOfVariable(parent.id.name, around)
        : parent.id.type === 'ObjectPattern'
          ? 'Map'
          : undefined;
    case 'ForOfStatement':
      return parent.right === node ? 'List' : undefined;
    case 'SpreadElement':
      return around.ancestors.at(-1)?.type === 'ObjectExpression' ? 'Map' : 'List';
    case 'ReturnStatement':
      return around.decides ? 'Boolean' : undefined;
    case 'ArrowFunctionExpression':
      return around.decides && parent.body === node ? 'Boolean' : undefined;
    default:
      return undefined;
  }
}

function typeofType(node: AnyNode, { ancestors, evaluator, environment }: Deeper): ValueType | undefined {
  const comparison = ancestors.at(-1);
  if (comparison?.type !== 'BinaryExpression') return undefined;
  const [thing] = evaluator.evaluate(comparison.right === node ? comparison.left : comparison.right, environment);
  return thing?.kind === 'known' ? typesByTypeof[String(thing.value)] : undefined;
}

function typeAsArgument(call: CallExpression, { evaluator, environment }: Deeper): ValueType | undefined {
  const { callee } = call;
  const [called] = evaluator.evaluate(callee, environment);
  const value = called?.kind === 'known' ? called.value : undefined;
  if (value === Number || value === Number.parseFloat || value === Number.parseInt) return 'Double';
  if (value === BigInt) return 'Long';
  if (value === Array.isArray) return 'List';
  if (value === Object.keys || value === Object.values || value === Object.entries) return 'Map';
  if (callee.type !== 'MemberExpression' || callee.object.type === 'Super') return undefined;
  const on = evaluator.evaluate(callee.object, environment);
  if (on.some((thing) => thing.kind === 'known' && thing.value === Math)) return 'Double';
  // A value that a list of one type is asked for is of that type.
  const [name = ''] = propertyNames(callee, environment, evaluator);
  if (!['includes', 'indexOf', 'lastIndexOf'].includes(name)) return undefined;
  return on
    .flatMap((thing) =>
      itemsOf(thing)
        .filter(({ kind }) => kind !== 'field')
        .map(typeOfThing),
    )
    .find(Boolean);
}

function typeAsObject(member: MemberExpression, { evaluator, environment }: Deeper): ValueType | undefined {
  const [name] = propertyNames(member, environment, evaluator);
  if (name === undefined || ofBoth.has(name)) return undefined;
  if (ofStrings.has(name)) return 'String';
  if (ofLists.has(name) || /^\d+$/.test(name)) return 'List';
  return ofNumbers.has(name) ? 'Double' : 'Map';
}

/** The first thing a function does with a variable that tells its type. */
function typeOfVariable(name: string, around: Deeper): ValueType | undefined {
  const [root] = around.ancestors;
  if (root === undefined) return undefined;
  const uses: Placed[] = [];
  const visit = (node: AnyNode, ancestors: AnyNode[]): void => {
    const parent = ancestors.at(-1);
    const isName = parent?.type === 'MemberExpression' && parent.property === node && !parent.computed;
    const isDeclared = parent?.type === 'VariableDeclarator' && parent.id === node;
    if (node.type === 'Identifier' && node.name === name && !isName && !isDeclared) uses.push({ node, ancestors });
    for (const child of childrenOf(node)) visit(child, [...ancestors, node]);
  };
  visit(root, []);
  for (const use of uses) {
    // One hop: a variable that only becomes another variable tells nothing.
    if (use.ancestors.at(-1)?.type === 'VariableDeclarator') continue;
    const type = typeByUse(use, around);
    if (type) return type;
  }
  return undefined;
}
