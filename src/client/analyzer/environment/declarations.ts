import type {
  AnyNode,
  AssignmentExpression,
  CallExpression,
  ForInStatement,
  ForOfStatement,
  Pattern,
  VariableDeclaration,
} from 'acorn';
import { childrenOf, type FunctionNode, isFunctionNode } from '../../code/syntax.ts';
import type { Binding, Environment, Evaluator, Scope, Thing } from '../interpreter.ts';
import { itemsOf, namesIn } from '../values/lists.ts';
import { listOf, unknown } from '../values/things.ts';
import { addMeaning, bind } from './environment.ts';
import { innermost, namesOf, scopesIn } from './scopes.ts';

const adding = ['push', 'unshift', 'add'];
const changing = ['splice', 'set', 'fill', 'copyWithin', 'append'];

/** An assignment: the block in which it stands as a statement of its own, where it ends, and the outermost loop around it. */
type Straight = { block?: AnyNode | undefined; at?: number; again?: Scope };

/** The function whose declarations are collected, and where its names are valid. */
type Declaring = {
  node: FunctionNode;
  environment: Environment;
  evaluator: Evaluator;
  scopes: ReturnType<typeof scopesIn>;
  loops: Scope[];
};

/** Adds what a function declares: its variables with every value they are given, and its functions. */
export function declare(node: FunctionNode, environment: Environment, evaluator: Evaluator): void {
  visit({ node, environment, evaluator, scopes: scopesIn(node), loops: [] }, node, undefined);
}

/** `block`: where a part stands as a statement of its own. */
function visit(declaring: Declaring, part: AnyNode, block: AnyNode | undefined): void {
  if (isFunctionNode(part) && part !== declaring.node) declareInner(declaring, part);
  declarePart(declaring, part, block);
  const inner = part.type === 'BlockStatement' ? part : isStraight(part) ? block : undefined;
  if (isLoop(part)) declaring.loops.push(part);
  for (const child of childrenOf(part)) visit(declaring, child, inner);
  if (isLoop(part)) declaring.loops.pop();
}

function declarePart(declaring: Declaring, part: AnyNode, block: AnyNode | undefined): void {
  switch (part.type) {
    case 'VariableDeclaration':
      declareVariables(declaring, part, undefined);
      break;
    case 'AssignmentExpression':
      assign(declaring, part, block);
      break;
    case 'UpdateExpression':
      if (part.argument.type === 'Identifier') give(declaring, part.argument.name, part.start, 'grown');
      break;
    case 'UnaryExpression':
      if (part.operator === 'delete') lose(declaring, part.argument, part.start);
      break;
    case 'ForOfStatement':
    case 'ForInStatement':
      loop(declaring, part);
      break;
    case 'CatchClause':
      for (const name of namesOf(part.param)) give(declaring, name, part.start, () => [unknown]);
      break;
    case 'ClassDeclaration':
      if (part.id) give(declaring, part.id.name, part.start, () => [unknown]);
      break;
    case 'CallExpression':
      call(declaring, part);
      break;
  }
}

/** What a name is given at a place, whether it is declared here or in the code around. */
function give(
  { node, environment, scopes }: Declaring,
  name: string,
  place: number,
  meaning: Binding | 'changed' | 'grown',
  { block, at = place, again }: Straight = {},
): void {
  const scope = innermost(scopes.get(name) ?? [], place);
  // Straight on in the block that the name belongs to: what it was before is over.
  const replaces = block !== undefined && (block === scope || (scope === node && block === node.body));
  addMeaning(environment, name, { ...(scope && { scope }), meaning, at, replaces, ...(again && { again }) });
}

function take(declaring: Declaring, pattern: Pattern, place: number, value: Binding, straight?: Straight): void {
  const { environment, evaluator } = declaring;
  const add = (name: string, binding: Binding) => give(declaring, name, place, binding, straight);
  bind(pattern, value, { environment, evaluator, add });
}

function declareVariables(
  declaring: Declaring,
  { declarations }: VariableDeclaration,
  values: Binding | undefined,
): void {
  for (const { id, init, start } of declarations) {
    if (values) take(declaring, id, start, values);
    else if (init) take(declaring, id, start, () => evaluate(declaring, init));
    // Without a value yet, the name still hides those of the code around.
    else for (const name of namesOf(id)) give(declaring, name, start, () => []);
  }
}

function assign(declaring: Declaring, part: AssignmentExpression, block: AnyNode | undefined): void {
  const { left, right, operator, start, end } = part;
  const base = left.type === 'MemberExpression' ? baseOf(left) : undefined;
  const isSame = ['=', '??=', '||=', '&&='].includes(operator);
  if (base) give(declaring, base, start, 'changed');
  else if (!isSame && left.type === 'Identifier') give(declaring, left.name, start, 'grown');
  else if (left.type !== 'MemberExpression')
    take(declaring, left, start, () => evaluate(declaring, right), {
      ...(operator === '=' && { block, at: end }),
      again: declaring.loops[0] ?? nowhere,
    });
}

/** Something is taken out of what a name stands for: what is left is not known. */
function lose(declaring: Declaring, target: AnyNode, place: number): void {
  const base = baseOf(target);
  if (base) give(declaring, base, place, 'grown');
}

function loop(declaring: Declaring, { left, right, type, start }: ForOfStatement | ForInStatement): void {
  const { evaluator } = declaring;
  const each: Binding = () =>
    evaluate(declaring, right).flatMap((thing) =>
      itemsOf(type === 'ForInStatement' ? namesIn(thing, evaluator) : thing),
    );
  if (left.type === 'VariableDeclaration') declareVariables(declaring, left, each);
  else if (left.type !== 'MemberExpression') take(declaring, left, start, each);
}

function call(declaring: Declaring, { callee, arguments: given, start }: CallExpression): void {
  if (callee.type !== 'MemberExpression' || callee.computed || callee.property.type !== 'Identifier') return;
  const { name } = callee.property;
  const [first] = given;
  if (callee.object.type === 'Identifier' && adding.includes(name)) {
    const on = callee.object.name;
    give(declaring, on, start, () => [listOf(given.flatMap((each) => listed(evaluate(declaring, each), each)))]);
  } else if (callee.object.type === 'Identifier' && changing.includes(name))
    give(declaring, callee.object.name, start, 'changed');
  else if (first?.type === 'Identifier' && (name === 'assign' || name === 'defineProperty'))
    give(declaring, first.name, start, 'changed');
}

/** A function inside: its name is this function's, its parameters are nothing that could be known from here. */
function declareInner(declaring: Declaring, inner: FunctionNode): void {
  const { environment } = declaring;
  const closure: Thing = { kind: 'closure', node: inner, environment };
  if (inner.type === 'FunctionDeclaration' && inner.id) give(declaring, inner.id.name, inner.start, () => [closure]);
  if (inner.type === 'FunctionExpression' && inner.id)
    addMeaning(environment, inner.id.name, { scope: inner, meaning: () => [closure] });
  for (const name of inner.params.flatMap(namesOf))
    addMeaning(environment, name, { scope: inner, meaning: () => [unknown] });
}

function evaluate({ evaluator, environment }: Declaring, part: AnyNode): Thing[] {
  return evaluator.evaluate(part, environment);
}

const nowhere: Scope = { start: 0, end: 0 };

const isLoop = ({ type }: AnyNode): boolean =>
  ['ForStatement', 'ForOfStatement', 'ForInStatement', 'WhileStatement', 'DoWhileStatement'].includes(type);

const isStraight = ({ type }: AnyNode): boolean => type === 'ExpressionStatement' || type === 'SequenceExpression';

/** What is added to a list by one argument. */
function listed(things: Thing[], node: AnyNode): Thing[] {
  return node.type === 'SpreadElement' ? things.flatMap(itemsOf) : things;
}

/** The name at which a way through members begins: `table` of `table.a.b`. */
function baseOf(node: AnyNode): string | undefined {
  if (node.type === 'MemberExpression') return baseOf(node.object);
  return node.type === 'Identifier' ? node.name : undefined;
}
