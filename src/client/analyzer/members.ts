import type { MemberExpression } from 'acorn';
import type { Field } from '../leaves/fields.ts';
import { isAccess } from './access-names.ts';
import type { Environment } from './environment.ts';
import type { Evaluator } from './evaluator.ts';
import { memberSafely } from './outer-names.ts';
import { privateMember } from './syntax.ts';
import { absent, keyPartOf, type Thing, unknown } from './things.ts';

/** What a name may stand for: declared in the code, or in the code around it. */
export function namedThings(name: string, environment: Environment, { subject }: Evaluator): Thing[] {
  for (let place: Environment | null = environment; place; place = place.parent) {
    const bindings = place.names.get(name);
    if (bindings) return bindings.flatMap((binding) => binding());
    const outer = place.code ? subject.outerNames.valueOf(place.code, name) : undefined;
    if (outer?.found) return [{ kind: 'known', value: outer.value }];
  }
  return [unknown];
}

/** What `object.name`, `object['name']`, `this.#name` or `super.name` may be. */
export function memberThings(node: MemberExpression, environment: Environment, evaluator: Evaluator): Thing[] {
  const { object, property } = node;
  if (property.type === 'PrivateIdentifier') return privateThings(property.name, environment, evaluator);
  const names = propertyNames(node, environment, evaluator);
  if (object.type === 'Super') {
    const parent: unknown = environment.home && Object.getPrototypeOf(environment.home);
    return names.map((name) => knownMember(parent, name));
  }
  return evaluator
    .evaluate(object, environment)
    .flatMap((thing) => names.flatMap((name) => member(thing, name, evaluator)));
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

/** What a thing has under a name. */
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
      return [thing.items[Number(name)] ?? (/^\d+$/.test(name) ? absent : unknown)];
    case 'object': {
      for (const property of thing.node.properties) {
        if (property.type !== 'Property' || property.key.type !== 'Identifier') continue;
        if (property.key.name === name && !property.computed)
          return evaluator.evaluate(property.value, thing.environment);
      }
      return [unknown];
    }
    default:
      return [unknown];
  }
}

function leafMember(name: string, { subject: { fields, sample }, call }: Evaluator): Thing[] {
  const field = fields.find((candidate) => candidate.field === name);
  if (field) return [{ kind: 'field', field }];
  const getter = getterOf(sample, name);
  return getter
    ? call({ kind: 'known', value: getter }, { self: { kind: 'leaf' }, given: [] })
    : [knownMember(sample, name)];
}

/** The code behind a computed property of a leaf or its ancestors. It is read, not run. */
function getterOf(sample: object, name: string): (() => unknown) | undefined {
  for (let object: object | null = sample; object; object = Object.getPrototypeOf(object)) {
    const descriptor = Object.getOwnPropertyDescriptor(object, name);
    if (descriptor) return descriptor.get;
  }
  return undefined;
}

/** A member of a configured object goes by the way to it: `config.key`. */
function fieldMember(field: Field, name: string): Thing {
  const { sample } = field;
  if (typeof sample !== 'object' || sample === null || Array.isArray(sample)) return unknown;
  const found = memberSafely(sample, name);
  return {
    kind: 'field',
    field: { ...field, field: `${field.field}.${name}`, sample: found.found ? found.value : null },
  };
}

function knownMember(value: unknown, name: string): Thing {
  const isObject = (typeof value === 'object' && value !== null) || typeof value === 'function';
  for (
    let object: unknown = isObject ? value : null;
    object && object !== Object.prototype;
    object = Object.getPrototypeOf(object)
  ) {
    const found = memberSafely(object, name);
    if (found.found) return { kind: 'known', value: found.value };
  }
  return unknown;
}

function privateThings(name: string, { home }: Environment, evaluator: Evaluator): Thing[] {
  const { leaf } = evaluator.subject;
  const owner: unknown = home ? Reflect.get(home, 'constructor') : leaf;
  const found = typeof owner === 'function' ? privateMember(owner, name) : undefined;
  if (!found || found.type === 'StaticBlock' || !found.value) return [unknown];
  const environment: Environment = { parent: null, names: new Map(), self: { kind: 'leaf' }, code: leaf, home };
  return found.type === 'MethodDefinition'
    ? [{ kind: 'closure', node: found.value, environment }]
    : evaluator.evaluate(found.value, environment);
}
