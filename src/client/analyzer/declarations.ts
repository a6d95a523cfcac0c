import type { AnyNode, CallExpression, Pattern, VariableDeclaration } from 'acorn';
import { addMeaning, type Binding, bind, type Environment } from './environment.ts';
import type { Evaluator } from './evaluator.ts';
import { itemsOf, namesIn } from './lists.ts';
import { innermost, namesOf, type Scope, scopesIn } from './scopes.ts';
import { childrenOf, type FunctionNode, isFunctionNode } from './syntax.ts';
import { listOf, type Thing, unknown } from './things.ts';

const adding = ['push', 'unshift', 'add'];
const changing = ['splice', 'set', 'fill', 'copyWithin', 'append'];

/** An assignment that stands in a block as a statement of its own, and where it ends. */
type Straight = { block?: AnyNode | undefined; at?: number };

/** Adds what a function declares: its variables with every value they are given, and its functions. */
export function declare(node: FunctionNode, environment: Environment, evaluator: Evaluator): void {
  const scopes = scopesIn(node);
  const scopeOf = (name: string, place: number): Scope | undefined => innermost(scopes.get(name) ?? [], place);
  const evaluate = (part: AnyNode) => evaluator.evaluate(part, environment);

  /** What a name is given at a place, whether it is declared here or in the code around. */
  function give(
    name: string,
    place: number,
    meaning: Binding | 'changed' | 'grown',
    { block, at = place }: Straight = {},
  ) {
    const scope = scopeOf(name, place);
    // Straight on in the block that the name belongs to: what it was before is over.
    const replaces = block !== undefined && (block === scope || (scope === node && block === node.body));
    addMeaning(environment, name, { ...(scope && { scope }), meaning, at, replaces });
  }

  function take(pattern: Pattern, place: number, value: Binding, straight?: Straight): void {
    bind(pattern, value, { environment, evaluator, add: (name, binding) => give(name, place, binding, straight) });
  }

  function declareVariables({ declarations }: VariableDeclaration, values: Binding | undefined): void {
    for (const { id, init, start } of declarations) {
      if (values) take(id, start, values);
      else if (init) take(id, start, () => evaluate(init));
      // Without a value yet, the name still hides those of the code around.
      else for (const name of namesOf(id)) give(name, start, () => []);
    }
  }

  function call({ callee, arguments: given, start }: CallExpression): void {
    if (callee.type !== 'MemberExpression' || callee.computed || callee.property.type !== 'Identifier') return;
    const { name } = callee.property;
    const [first] = given;
    if (callee.object.type === 'Identifier' && adding.includes(name)) {
      const on = callee.object.name;
      give(on, start, () => [listOf(given.flatMap((each) => listed(evaluate(each), each)))]);
    } else if (callee.object.type === 'Identifier' && changing.includes(name))
      give(callee.object.name, start, 'changed');
    else if (first?.type === 'Identifier' && (name === 'assign' || name === 'defineProperty'))
      give(first.name, start, 'changed');
  }

  /** `block`: where a part stands as a statement of its own. */
  const visit = (part: AnyNode, block: AnyNode | undefined): void => {
    const { start } = part;
    if (isFunctionNode(part) && part !== node) declareInner(part);
    switch (part.type) {
      case 'VariableDeclaration':
        declareVariables(part, undefined);
        break;
      case 'AssignmentExpression': {
        const { left, right, operator } = part;
        const base = left.type === 'MemberExpression' ? baseOf(left) : undefined;
        const isSame = ['=', '??=', '||=', '&&='].includes(operator);
        if (base) give(base, start, 'changed');
        else if (!isSame && left.type === 'Identifier') give(left.name, start, 'grown');
        else if (left.type !== 'MemberExpression')
          take(left, start, () => evaluate(right), operator === '=' ? { block, at: part.end } : {});
        break;
      }
      case 'UpdateExpression':
        if (part.argument.type === 'Identifier') give(part.argument.name, start, 'grown');
        break;
      case 'ForOfStatement':
      case 'ForInStatement': {
        const { left, right, type } = part;
        const each: Binding = () =>
          evaluate(right).flatMap((thing) => itemsOf(type === 'ForInStatement' ? namesIn(thing, evaluator) : thing));
        if (left.type === 'VariableDeclaration') declareVariables(left, each);
        else if (left.type !== 'MemberExpression') take(left, start, each);
        break;
      }
      case 'CatchClause':
        for (const name of namesOf(part.param)) give(name, start, () => [unknown]);
        break;
      case 'ClassDeclaration':
        if (part.id) give(part.id.name, start, () => [unknown]);
        break;
      case 'CallExpression':
        call(part);
        break;
    }
    const inner = part.type === 'BlockStatement' ? part : isStraight(part) ? block : undefined;
    for (const child of childrenOf(part)) visit(child, inner);
  };

  /** A function inside: its name is this function's, its parameters are nothing that could be known from here. */
  function declareInner(inner: FunctionNode): void {
    const closure: Thing = { kind: 'closure', node: inner, environment };
    if (inner.type === 'FunctionDeclaration' && inner.id) give(inner.id.name, inner.start, () => [closure]);
    if (inner.type === 'FunctionExpression' && inner.id)
      addMeaning(environment, inner.id.name, { scope: inner, meaning: () => [closure] });
    for (const name of inner.params.flatMap(namesOf))
      addMeaning(environment, name, { scope: inner, meaning: () => [unknown] });
  }

  visit(node, undefined);
}

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
