import {
  type AnonymousFunctionDeclaration,
  type AnyNode,
  type ArrowFunctionExpression,
  type FunctionDeclaration,
  type FunctionExpression,
  parse,
} from 'acorn';

/** A function's code as a tree. */
export type FunctionNode =
  | FunctionDeclaration
  | AnonymousFunctionDeclaration
  | FunctionExpression
  | ArrowFunctionExpression;

const options = { ecmaVersion: 'latest', checkPrivateFields: false, allowSuperOutsideMethod: true } as const;
const parsed = new WeakMap<object, AnyNode | null>();

/**
 * The tree of a function's own text. The text is what runs, so it is plain JavaScript whatever it was written in. Undefined
 * for what has no text: built-in and bound functions.
 */
export function functionNodeOf(code: object): FunctionNode | undefined {
  const node = expressionOf(code);
  return node && isFunctionNode(node) ? node : undefined;
}

function isFunctionNode(node: AnyNode): node is FunctionNode {
  return ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'].includes(node.type);
}

/** The parts of a node, in the order they stand in the code. */
export function childrenOf(node: AnyNode): AnyNode[] {
  const children: AnyNode[] = [];
  for (const value of Object.values(node)) {
    for (const part of Array.isArray(value) ? value : [value]) if (isNode(part)) children.push(part);
  }
  return children.sort((a, b) => a.start - b.start);
}

function expressionOf(code: object): AnyNode | undefined {
  const known = parsed.get(code);
  if (known !== undefined) return known ?? undefined;
  const text = Function.prototype.toString.call(code);
  const node = parseExpression(`(${text})`) ?? methodIn(parseExpression(`({${text}})`));
  parsed.set(code, node ?? null);
  return node;
}

function parseExpression(text: string): AnyNode | undefined {
  try {
    const [statement] = parse(text, options).body;
    return statement?.type === 'ExpressionStatement' ? statement.expression : undefined;
  } catch {
    return undefined; // the other way to read it, or none
  }
}

function methodIn(node: AnyNode | undefined): AnyNode | undefined {
  const [property] = node?.type === 'ObjectExpression' ? node.properties : [];
  return property?.type === 'Property' ? property.value : undefined;
}

function isNode(value: unknown): value is AnyNode {
  return (
    typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string' && 'start' in value
  );
}
