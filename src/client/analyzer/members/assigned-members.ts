import type { AnyNode, MemberExpression } from 'acorn';
import { childrenOf, isFunctionNode } from '../../code/syntax.ts';
import { onceAtATime } from '../environment/environment.ts';
import { mutationBy } from '../environment/mutations.ts';
import type { Called, Evaluator, Thing } from '../interpreter.ts';
import { unknown } from '../values/things.ts';

/** The assignments of a leaf's methods to one of its members. `always`: it is assigned before the leaf runs, in any case. */
type Assigned = { values: Thing[]; always: boolean };

type Assignment = { name: string | undefined; value: () => Thing[]; always: boolean };

const kept = new WeakMap<object, readonly Assignment[]>();

/** The values that `this.name = …` in a leaf's methods gives a member. */
export function assignedTo(name: string, evaluator: Evaluator): Assigned {
  const { sample } = evaluator.subject;
  let assignments = kept.get(evaluator.subject);
  if (assignments === undefined) {
    assignments = methodsOf(sample).flatMap((method) => assignmentsIn(method, evaluator));
    kept.set(evaluator.subject, assignments);
  }
  const found = assignments.filter((each) => each.name === name || each.name === undefined);
  return { values: found.flatMap(({ value }) => value()), always: found.some(({ always }) => always) };
}

type Method = { name: string; code: object };

/** The methods of a leaf and its ancestors. What a constructor assigns is in the instance already. */
function methodsOf(sample: object): Method[] {
  const methods: Method[] = [];
  for (
    let object: object | null = sample;
    object && object !== Object.prototype;
    object = Object.getPrototypeOf(object)
  ) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(object)))
      if (typeof value === 'function' && name !== 'constructor') methods.push({ name, code: value });
  }
  return methods;
}

function assignmentsIn({ name, code }: Method, evaluator: Evaluator): Assignment[] {
  const given = Array.from({ length: 4 }, () => () => [unknown]);
  const called = evaluator.enter({ kind: 'known', value: code }, { self: { kind: 'leaf' }, given });
  return called.flatMap((each) => assignmentsOf(each, name === 'afterPropertiesSet', evaluator));
}

function assignmentsOf({ node, environment }: Called, isBefore: boolean, evaluator: Evaluator): Assignment[] {
  const found: Assignment[] = [];
  /** Names of the leaf itself: `const self = this`. */
  const selves = new Set<string>();
  const isSelf = (part: AnyNode) =>
    part.type === 'ThisExpression' || (part.type === 'Identifier' && selves.has(part.name));
  const visit = (part: AnyNode, depth: number): void => {
    if (part.type === 'VariableDeclarator' && part.id.type === 'Identifier' && part.init?.type === 'ThisExpression')
      selves.add(part.id.name);
    const target =
      part.type === 'AssignmentExpression' ? part.left : part.type === 'UpdateExpression' ? part.argument : null;
    const changed = changedMember(part);
    if (changed) found.push({ name: changed.name, value: () => [unknown], always: false });
    if (target?.type === 'MemberExpression' && isSelf(target.object)) {
      // The statements of a body lie one level below it, the expressions in them one more.
      const always = isBefore && depth <= 2 && part.type === 'AssignmentExpression' && part.operator === '=';
      const value = () =>
        part.type === 'AssignmentExpression' ? evaluator.evaluate(part.right, environment) : [unknown];
      found.push({ name: nameOf(target), value: onceAtATime(value), always });
    }
    const isSame = part.type === 'SequenceExpression';
    const inner = isFunctionNode(part) ? depth + 100 : depth + (isSame ? 0 : 1);
    for (const child of childrenOf(part)) visit(child, inner);
  };
  visit(node.body, 0);
  return found;
}

/** The member of the leaf that something is put into or taken out of: `this.keys.push(…)`, `this.table.key = …`, `Object.assign(this, …)`. */
function changedMember(part: AnyNode): { name: string | undefined } | undefined {
  if (part.type === 'ArrayPattern' || part.type === 'ObjectPattern')
    return childrenOf(part).map(memberBelow).find(Boolean);
  const mutation = mutationBy(part);
  if (!mutation) return undefined;
  // An assignment to the member itself is seen with its value.
  if (mutation.target.type === 'ThisExpression')
    return part.type === 'CallExpression' ? { name: undefined } : undefined;
  return memberBelow(mutation.target);
}

/** The member of the leaf at which a way begins: `keys` of `this.keys.first`. */
function memberBelow(node: AnyNode): { name: string | undefined } | undefined {
  if (node.type !== 'MemberExpression') return undefined;
  return node.object.type === 'ThisExpression' ? { name: nameOf(node) } : memberBelow(node.object);
}

function nameOf({ property, computed }: MemberExpression): string | undefined {
  if (property.type === 'Identifier' && !computed) return property.name;
  // A private member has a name that no public one has.
  return property.type === 'PrivateIdentifier' ? `#${property.name}` : undefined;
}
