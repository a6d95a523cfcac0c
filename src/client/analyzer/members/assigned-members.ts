import type { AnyNode, MemberExpression } from 'acorn';
import { childrenOf, isFunctionNode } from '../../code/syntax.ts';
import type { Called, Evaluator, Thing } from '../interpreter.ts';

import { unknown } from '../values/things.ts';

/** What the methods of a leaf assign to one of its members. `always`: it is assigned before the leaf runs, in any case. */
type Assigned = { values: Thing[]; always: boolean };

type Assignment = { name: string | undefined; value: () => Thing[]; always: boolean };

const kept = new WeakMap<object, readonly Assignment[]>();

/** What `this.name = …` in a leaf's methods makes of a member. */
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
  const visit = (part: AnyNode, depth: number): void => {
    const target =
      part.type === 'AssignmentExpression' ? part.left : part.type === 'UpdateExpression' ? part.argument : null;
    if (target?.type === 'MemberExpression' && target.object.type === 'ThisExpression') {
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

function nameOf({ property, computed }: MemberExpression): string | undefined {
  if (property.type === 'Identifier' && !computed) return property.name;
  // A private member has a name that no public one has.
  return property.type === 'PrivateIdentifier' ? `#${property.name}` : undefined;
}

function onceAtATime(value: () => Thing[]): () => Thing[] {
  let busy = false;
  return () => {
    if (busy) return [unknown];
    busy = true;
    try {
      return value();
    } finally {
      busy = false;
    }
  };
}
