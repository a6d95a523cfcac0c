import type { AnyNode, Identifier, MemberExpression } from 'acorn';
import { isInClass, privateMember } from '../../code/syntax.ts';
import { meaningsAt, thingsOf } from '../environment/environment.ts';
import { mutationBy } from '../environment/mutations.ts';
import type { Environment, Evaluator, Thing } from '../interpreter.ts';
import { isAccess } from '../values/access-names.ts';
import { itemsOf, namesIn, writtenName } from '../values/lists.ts';
import { absent, keyPartOf, sure, unknown } from '../values/things.ts';
import { assignedTo } from './assigned-members.ts';
import { fieldMember, getterOf, knownMember } from './known-members.ts';

/** The things that a name may stand for: declared in the code, or in the code around it. */
export function namedThings({ name, start }: Identifier, environment: Environment, { subject }: Evaluator): Thing[] {
  const meanings: Parameters<typeof thingsOf>[0][number][] = [];
  for (let place: Environment | null = environment; place; place = place.parent) {
    const declared = meaningsAt(place, name, start, place !== environment);
    meanings.push(...(declared ?? place.assigned.get(name) ?? []));
    if (declared) return thingsOf(meanings);
    const outer = place.code ? subject.outerNames.valueOf(place.code, name) : undefined;
    // `this` may have a name of its own: `const self = this` in a constructor.
    const isLeaf = outer?.found && outer.value === subject.sample;
    if (outer?.found)
      return thingsOf([...meanings, () => [isLeaf ? { kind: 'leaf' } : { kind: 'known', value: outer.value }]]);
  }
  return [...thingsOf(meanings), unknown];
}

/** The things that `object.name`, `object['name']`, `this.#name` or `super.name` may be. */
export function memberThings(node: MemberExpression, environment: Environment, evaluator: Evaluator): Thing[] {
  const { object, property } = node;
  if (property.type === 'PrivateIdentifier') return privateThings(property.name, environment, evaluator);
  const names = propertyNames(node, environment, evaluator);
  if (object.type === 'Super') {
    const parent: unknown = environment.home && Object.getPrototypeOf(environment.home);
    return names.map((name) => knownMember(parent, name));
  }
  const isAny = hasOpenName(node, environment, evaluator);
  return evaluator
    .evaluate(object, environment)
    .flatMap((thing) => [
      ...names.flatMap((name) => member(thing, name, evaluator)),
      ...(isAny ? anyMember(thing, evaluator) : []),
    ]);
}

/** The values of a thing under a name that is not known: any of its entries. */
function anyMember(thing: Thing, evaluator: Evaluator): Thing[] {
  if (thing.kind === 'list' || (thing.kind === 'known' && Array.isArray(thing.value)))
    return [...itemsOf(thing), absent];
  const isTable =
    thing.kind === 'object' || thing.kind === 'merged' || (thing.kind === 'known' && isPlainObject(thing.value));
  return isTable ? [...membersOf(thing, evaluator).map(({ value }) => value), absent] : [unknown];
}

function isPlainObject(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return [null, Object.prototype].includes(Object.getPrototypeOf(value));
}

/** The members of an object, each with its name. */
export function membersOf(thing: Thing, evaluator: Evaluator): { name: Thing; value: Thing }[] {
  return itemsOf(namesIn(thing, evaluator)).flatMap((name) => {
    const values = name.kind === 'known' ? member(thing, String(name.value), evaluator) : [unknown];
    return values.map((value) => ({ name, value }));
  });
}

/** The names a property may have: usually the one that is written. */
export function propertyNames(
  { property, computed }: MemberExpression,
  environment: Environment,
  { evaluate }: Evaluator,
) {
  if (!computed) return property.type === 'Identifier' ? [property.name] : [];
  return evaluate(property, environment).flatMap((thing) => {
    const part = keyPartOf(thing);
    return part.type === 'literal' ? [part.value] : [];
  });
}

/** Whether a property may have names that the code does not tell. */
export function hasOpenName(
  { property, computed }: MemberExpression,
  environment: Environment,
  { evaluate }: Evaluator,
): boolean {
  return computed && evaluate(property, environment).some((thing) => keyPartOf(thing).type !== 'literal');
}

/** The values of a thing under a name. */
export function member(thing: Thing, name: string, evaluator: Evaluator): Thing[] {
  switch (thing.kind) {
    case 'service':
      if (name === 'deep') return [{ kind: 'service', deep: true }];
      return [isAccess(name) ? { kind: 'method', name, deep: thing.deep } : unknown];
    case 'leaf':
      return leafMember(name, evaluator);
    case 'field':
      return [fieldMember(thing.field, name)];
    case 'known':
      return [knownMember(thing.value, name)];
    case 'list':
      return entryOf(thing, name);
    case 'merged':
      return mergedMember(thing.parts, name, evaluator);
    case 'object':
      return writtenMember(thing, name, evaluator);
    default:
      return [unknown];
  }
}

function entryOf({ items, closed }: Thing & { kind: 'list' }, name: string): Thing[] {
  if (name === 'length' && closed) return [sure(items.length)];
  if (!/^\d+$/.test(name)) return [unknown];
  return closed ? [items[Number(name)] ?? absent] : [...items, absent];
}

/** The last object that has the member counts, and before it those that may have it. */
function mergedMember(parts: readonly Thing[], name: string, evaluator: Evaluator): Thing[] {
  const found: Thing[] = [];
  for (const part of parts.toReversed()) {
    const values = member(part, name, evaluator).filter((thing) => thing !== absent);
    found.push(...values);
    if (values.length > 0 && values.every((thing) => thing !== unknown)) return found;
  }
  return found.length > 0 ? found : [absent];
}

/** A member of an object that is written down in the code: the last one of its name counts. */
function writtenMember(thing: Thing & { kind: 'object' }, name: string, evaluator: Evaluator): Thing[] {
  const { node, environment } = thing;
  const found: Thing[] = [];
  for (const property of node.properties.toReversed()) {
    if (property.type === 'SpreadElement') {
      const spread = evaluator
        .evaluate(property.argument, environment)
        .flatMap((each) => member(each, name, evaluator));
      found.push(...spread);
      continue;
    }
    if (property.computed) found.push(unknown, ...evaluator.evaluate(property.value, environment));
    else if (writtenName(property.key) === name) {
      const values = evaluator.evaluate(property.value, environment);
      const isGetter = property.kind === 'get';
      return [
        ...found,
        ...(isGetter ? values.flatMap((value) => evaluator.call(value, { self: thing, given: [] })) : values),
      ];
    }
  }
  return found.length > 0 ? found : [absent];
}

function leafMember(name: string, evaluator: Evaluator): Thing[] {
  const { values, always } = assignedTo(name, evaluator);
  return always ? values : [...values, ...initialMember(name, evaluator).filter((thing) => !isReplaced(thing, values))];
}

/** A variable that begins empty and is assigned later counts as assigned. */
function isReplaced(thing: Thing, values: readonly Thing[]): boolean {
  return values.length > 0 && thing.kind === 'known' && (thing.value == null || thing.value === '');
}

function initialMember(name: string, { subject: { fields, sample }, call }: Evaluator): Thing[] {
  const field = fields.find((candidate) => candidate.field === name);
  if (field) return [{ kind: 'field', field }];
  const getter = getterOf(sample, name);
  return getter
    ? call({ kind: 'known', value: getter }, { self: { kind: 'leaf' }, given: [] })
    : [knownMember(sample, name)];
}

function privateThings(name: string, { home }: Environment, evaluator: Evaluator): Thing[] {
  const { leaf } = evaluator.subject;
  const owner: unknown = home ? Reflect.get(home, 'constructor') : leaf;
  const found = typeof owner === 'function' ? privateMember(owner, name) : undefined;
  if (!found || found.type === 'StaticBlock' || !found.value) return [unknown];
  if (typeof owner === 'function' && isInClass(owner, (node) => changesPrivate(node, name))) return [unknown];
  const environment: Environment = {
    ...{ parent: null, names: new Map(), assigned: new Map(), home },
    ...{ self: { kind: 'leaf' }, code: leaf },
  };
  return found.type === 'MethodDefinition'
    ? [{ kind: 'closure', node: found.value, environment }]
    : evaluator.evaluate(found.value, environment);
}

/** Whether code assigns to a private member, or changes what is in it: `this.#keys.push('b')`. */
function changesPrivate(node: AnyNode, name: string): boolean {
  const isIt = (part: AnyNode): boolean =>
    part.type === 'MemberExpression' &&
    ((part.property.type === 'PrivateIdentifier' && part.property.name === name) || isIt(part.object));
  const assigned =
    node.type === 'AssignmentExpression' ? node.left : node.type === 'UpdateExpression' ? node.argument : null;
  const mutation = mutationBy(node);
  return (assigned !== null && isIt(assigned)) || (mutation !== undefined && isIt(mutation.target));
}
