import type { AnyNode, CallExpression, MemberExpression, Pattern } from 'acorn';
import { childrenOf, type FunctionNode, functionNodeOf } from './syntax.ts';

/** Built-ins that call nothing back later. */
const namespaces = new Set(['Math', 'Number', 'String', 'BigInt', 'Boolean', 'Object', 'JSON', 'Date']);
const functions = new Set(['Number', 'String', 'Boolean', 'BigInt', 'parseInt', 'parseFloat', 'isNaN', 'isFinite']);
const constants = new Set(['undefined', 'NaN', 'Infinity']);
/** The methods of a run's data. */
export const dataMethods: ReadonlySet<string> = new Set([
  ...['get', 'raw', 'string', 'int', 'long', 'double', 'boolean', 'list', 'map', 'put', 'keys'],
  ...['getDeep', 'putDeep', 'resolve'],
]);
const prototypes = [String.prototype, Array.prototype, Number.prototype, BigInt.prototype, Boolean.prototype];
const methods = new Set(prototypes.flatMap((prototype) => Object.getOwnPropertyNames(prototype)));
methods.delete('constructor');

/** Parts of code that do what the parts inside of them do. */
const plainParts = new Set([
  ...['BlockStatement', 'ReturnStatement', 'IfStatement', 'ExpressionStatement', 'ThrowStatement', 'EmptyStatement'],
  ...['SwitchStatement', 'SwitchCase', 'VariableDeclaration', 'ForStatement', 'ForOfStatement', 'WhileStatement'],
  ...[
    'BinaryExpression',
    'LogicalExpression',
    'UnaryExpression',
    'ConditionalExpression',
    'ChainExpression',
    'Literal',
  ],
  ...['TemplateLiteral', 'TemplateElement', 'ArrayExpression', 'ObjectExpression', 'SpreadElement'],
]);

/** The values of the names in a method. `fields`: the leaf's fields it reads, gathered on the way. */
type Code = { data: string; self: string | null; names: Set<string>; fields: Set<string> };

const known = new WeakMap<object, ReadonlySet<string> | null>();

/**
 * Whether a leaf's method does nothing but read and write the data and compute with plain values: then no code of it runs after
 * it has returned. False where the text does not tell. `work`: the method, or a function that has the leaf as its second parameter.
 */
export function onlyComputes(leaf: object, work: unknown): boolean {
  if (typeof work !== 'function') return false;
  let fields = known.get(work);
  if (fields === undefined) {
    fields = fieldsRead(functionNodeOf(work));
    known.set(work, fields);
  }
  return fields !== null && [...fields].every((name) => isPlain(Object.getOwnPropertyDescriptor(leaf, name)?.value));
}

/** Null for a method that may do more than compute. */
function fieldsRead(node: FunctionNode | undefined): ReadonlySet<string> | null {
  if (node === undefined || node.async || node.generator) return null;
  const [data, self] = node.params;
  if ((data && data.type !== 'Identifier') || node.params.length > 2) return null;
  const code: Code = { data: data?.name ?? '', self: null, names: new Set(), fields: new Set() };
  if (self?.type === 'Identifier') code.self = self.name;
  else if (self && !takesFields(self, code)) return null;
  return addNames(node.body, code.names) && !code.names.has(code.data) && computes(node.body, code)
    ? code.fields
    : null;
}

/** `(service, { min })`: every name is a field. */
function takesFields(pattern: Pattern, { names, fields }: Code): boolean {
  if (pattern.type !== 'ObjectPattern') return false;
  return pattern.properties.every((part) => {
    if (part.type !== 'Property' || part.computed || part.key.type !== 'Identifier') return false;
    if (part.value.type !== 'Identifier') return false;
    fields.add(part.key.name);
    names.add(part.value.name);
    return true;
  });
}

/** The names that a method declares. False when something declares in another way. */
function addNames(node: AnyNode, names: Set<string>): boolean {
  const declared =
    node.type === 'VariableDeclarator' ? [node.id] : node.type === 'ArrowFunctionExpression' ? node.params : [];
  for (const each of declared) {
    if (each.type !== 'Identifier' || functions.has(each.name) || namespaces.has(each.name)) return false;
    names.add(each.name);
  }
  return childrenOf(node).every((child) => addNames(child, names));
}

function computes(node: AnyNode, code: Code): boolean {
  const all = (parts: readonly AnyNode[]) => parts.every((part) => computes(part, code));
  switch (node.type) {
    case 'Identifier':
      return code.names.has(node.name) || constants.has(node.name);
    case 'VariableDeclarator':
      return node.init == null || computes(node.init, code);
    case 'AssignmentExpression':
      return node.left.type === 'Identifier' && all([node.left, node.right]);
    case 'UpdateExpression':
      return node.argument.type === 'Identifier' && computes(node.argument, code);
    case 'Property':
      return all(node.computed ? [node.key, node.value] : [node.value]);
    case 'ArrowFunctionExpression':
      return !node.async && computes(node.body, code);
    case 'MemberExpression':
      return (
        isField(node, code) || isTime(node, code) || all(node.computed ? [node.object, node.property] : [node.object])
      );
    case 'CallExpression':
      return isHarmless(node, code) && all(node.arguments);
    default:
      return plainParts.has(node.type) && all(childrenOf(node));
  }
}

function isField({ object, property, computed }: MemberExpression, { self, fields }: Code): boolean {
  const isLeaf = object.type === 'ThisExpression' || (object.type === 'Identifier' && object.name === self);
  if (!isLeaf || computed || property.type !== 'Identifier') return false;
  fields.add(property.name);
  return true;
}

function isTime({ object, property, computed }: MemberExpression, { data }: Code): boolean {
  return !computed && isNamed(object, data) && isNamed(property, 'ts');
}

/** A method of the data, a built-in, or a method that plain values have. */
function isHarmless({ callee }: CallExpression, code: Code): boolean {
  if (callee.type === 'Identifier') return functions.has(callee.name);
  if (callee.type !== 'MemberExpression' || callee.computed || callee.property.type !== 'Identifier') return false;
  const { object, property } = callee;
  if (isData(object, code)) return dataMethods.has(property.name);
  if (object.type === 'Identifier' && namespaces.has(object.name)) return true;
  return object.type !== 'Super' && methods.has(property.name) && computes(object, code);
}

function isData(node: AnyNode, { data }: Code): boolean {
  if (node.type === 'MemberExpression')
    return !node.computed && isNamed(node.property, 'deep') && isNamed(node.object, data);
  return isNamed(node, data);
}

const isNamed = (node: AnyNode, name: string) => node.type === 'Identifier' && node.name === name;

/** A value that JSON could hold: it has no code of its own. */
function isPlain(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return value !== undefined && typeof value !== 'function';
  const prototype: unknown = Object.getPrototypeOf(value);
  const isContainer = Array.isArray(value) || prototype === Object.prototype || prototype === null;
  return isContainer && Object.values(value).every(isPlain);
}
