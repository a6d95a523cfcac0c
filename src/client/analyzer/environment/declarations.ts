import type {
  AnyNode,
  AssignmentExpression,
  CallExpression,
  ForInStatement,
  ForOfStatement,
  Pattern,
  VariableDeclaration,
} from 'acorn';
import { childrenOf, type FunctionNode, functionNodeOf, isFunctionNode } from '../../code/syntax.ts';
import type { Binding, Environment, Evaluator, Meaning, Scope, Thing } from '../interpreter.ts';
import { itemsOf, namesIn } from '../values/lists.ts';
import { absent, listOf, unknown } from '../values/things.ts';
import { addMeaning, bind } from './environment.ts';
import { baseOf, changesParameter, type Mutation, mutationBy, outerNamesChangedBy } from './mutations.ts';
import { innermost, namesOf, scopesIn } from './scopes.ts';

/** An assignment: the block in which it stands as a statement of its own, where it ends, and the outermost loop around it. */
type Straight = { block?: AnyNode | undefined; at?: number; again?: Scope };

/** The function whose declarations are collected, and where its names are valid. */
type Declaring = {
  node: FunctionNode;
  environment: Environment;
  evaluator: Evaluator;
  scopes: ReturnType<typeof scopesIn>;
  loops: Scope[];
  /** Declarations whose names a loop gives their values. */
  ofLoops: Set<AnyNode>;
  /** By a name: the name that it was made of, `names` of `const same = names`. */
  aliases: Map<string, string>;
  /** Names of lists and objects that are written down here. */
  written: Set<string>;
  parameters: ReadonlySet<string>;
};

/** Adds what a function declares: its variables with every value they are given, and its functions. */
export function declare(node: FunctionNode, environment: Environment, evaluator: Evaluator): void {
  visit(
    {
      node,
      environment,
      evaluator,
      scopes: scopesIn(node),
      loops: [],
      ofLoops: new Set(),
      aliases: new Map(),
      written: new Set(),
      parameters: new Set(node.params.flatMap(namesOf)),
    },
    node,
    undefined,
  );
}

/** `block`: where a part stands as a statement of its own. */
function visit(declaring: Declaring, part: AnyNode, block: AnyNode | undefined): void {
  if (isFunctionNode(part) && part !== declaring.node) declareInner(declaring, part);
  declarePart(declaring, part, block);
  const mutation = mutationBy(part);
  if (mutation) mutate(declaring, mutation, part.start);
  if (isLoop(part)) declaring.loops.push(part);
  for (const child of childrenOf(part))
    visit(declaring, child, part.type === 'BlockStatement' ? part : isAlways(part, child) ? block : undefined);
  if (isLoop(part)) declaring.loops.pop();
}

function declarePart(declaring: Declaring, part: AnyNode, block: AnyNode | undefined): void {
  switch (part.type) {
    case 'VariableDeclaration':
      if (!declaring.ofLoops.has(part)) declareVariables(declaring, part, undefined, block);
      break;
    case 'AssignmentExpression':
      assign(declaring, part, block);
      break;
    case 'UpdateExpression':
      if (part.argument.type === 'Identifier') give(declaring, part.argument.name, part.start, 'grown');
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

/** The values assigned to a name at a place, whether it is declared here or in the code around. */
function give(
  { node, environment, scopes }: Declaring,
  name: string,
  place: number,
  meaning: Meaning,
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
  { declarations, kind }: VariableDeclaration,
  values: Binding | undefined,
  block?: AnyNode,
): void {
  for (const { id, init, start } of declarations) {
    if (values) take(declaring, id, start, values);
    else if (init) {
      take(declaring, id, start, () => evaluate(declaring, init));
      note(declaring, id, init);
      // A `var` inside of a block is there outside of it, too.
      const isInBlock = kind === 'var' && block !== declaring.node.body;
      if (isInBlock) for (const name of namesOf(id)) give(declaring, name, start, () => [absent]);
    }
    // Without a value yet, the name still hides those of the code around.
    else for (const name of namesOf(id)) give(declaring, name, start, () => [absent]);
  }
}

function assign(declaring: Declaring, part: AssignmentExpression, block: AnyNode | undefined): void {
  const { left, right, operator, start, end } = part;
  const isSame = ['=', '??=', '||=', '&&='].includes(operator);
  if (!isSame && left.type === 'Identifier') give(declaring, left.name, start, 'grown');
  else if (left.type !== 'MemberExpression')
    take(declaring, left, start, () => evaluate(declaring, right), {
      ...(operator === '=' && { block, at: end }),
      again: declaring.loops[0] ?? nowhere,
    });
}

/** Remembers what a name was made of. */
function note({ aliases, written }: Declaring, id: Pattern, init: AnyNode): void {
  const base = baseOf(init);
  if (base) for (const name of namesOf(id)) aliases.set(name, base);
  if (id.type === 'Identifier' && (init.type === 'ArrayExpression' || init.type === 'ObjectExpression'))
    written.add(id.name);
}

/** A change of a name's value also changes the value that the name was made of. */
function mutate(declaring: Declaring, { target, how, given }: Mutation, place: number): void {
  const base = baseOf(target);
  if (!base) return;
  if (target.type !== 'Identifier' || how === 'changed') give(declaring, base, place, 'changed');
  else if (how === 'added')
    give(declaring, base, place, () => [listOf(given.flatMap((each) => listed(evaluate(declaring, each), each)))]);
  else give(declaring, base, place, how === 'moved' ? 'moved' : 'grown');
  const seen = new Set([base]);
  for (let at = declaring.aliases.get(base); at && !seen.has(at); at = declaring.aliases.get(at)) {
    seen.add(at);
    give(declaring, at, place, 'changed');
  }
}

function loop(declaring: Declaring, { left, right, type, start }: ForOfStatement | ForInStatement): void {
  const { evaluator } = declaring;
  const each: Binding = () =>
    evaluate(declaring, right).flatMap((thing) =>
      itemsOf(type === 'ForInStatement' ? namesIn(thing, evaluator) : thing),
    );
  declaring.ofLoops.add(left);
  if (left.type === 'VariableDeclaration') declareVariables(declaring, left, each);
  else if (left.type !== 'MemberExpression') take(declaring, left, start, each);
}

/** A list or an object that is written down here, and given to a function that changes it. */
function call(declaring: Declaring, { callee, arguments: given, start }: CallExpression): void {
  if (callee.type === 'Identifier') forgetChangedBy(declaring, callee.name);
  for (const [index, argument] of given.entries()) {
    if (argument.type !== 'Identifier') continue;
    const isParameter = callee.type === 'Identifier' && declaring.parameters.has(argument.name);
    if (!isParameter && !declaring.written.has(argument.name)) continue;
    const changes = (thing: Thing): boolean => {
      const node = thing.kind === 'closure' ? thing.node : thing.kind === 'known' ? codeOf(thing.value) : undefined;
      return node !== undefined && changesParameter(node, index);
    };
    give(declaring, argument.name, start, () => (evaluate(declaring, callee).some(changes) ? [listOf([unknown])] : []));
  }
}

/** A function of the module may change names of the module: what they stand for is not known then. */
function forgetChangedBy({ environment, evaluator }: Declaring, name: string): void {
  let around: Environment | null = environment;
  while (around && around.code === null) around = around.parent;
  const found = around?.code ? evaluator.subject.outerNames.valueOf(around.code, name) : undefined;
  const node = found?.found ? codeOf(found.value) : undefined;
  for (const changed of node ? outerNamesChangedBy(node) : []) addMeaning(environment, changed, { meaning: 'grown' });
}

const codeOf = (value: unknown): FunctionNode | undefined =>
  typeof value === 'function' ? functionNodeOf(value) : undefined;

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

const ALWAYS = new Set(
  'ExpressionStatement SequenceExpression ReturnStatement VariableDeclaration VariableDeclarator AssignmentExpression CallExpression MemberExpression BinaryExpression UnaryExpression ParenthesizedExpression AwaitExpression TemplateLiteral'.split(
    ' ',
  ),
);

/** Whether a part of an expression or a statement is worked out whenever the whole is. */
function isAlways(whole: AnyNode, part: AnyNode): boolean {
  if (whole.type === 'LogicalExpression') return whole.left === part;
  if (whole.type === 'ConditionalExpression' || whole.type === 'IfStatement') return whole.test === part;
  // After `?.` it may not be.
  if (whole.type === 'CallExpression' || whole.type === 'MemberExpression') return !whole.optional;
  return ALWAYS.has(whole.type);
}

/** The entries that one argument adds to a list. */
function listed(things: Thing[], node: AnyNode): Thing[] {
  return node.type === 'SpreadElement' ? things.flatMap(itemsOf) : things;
}
