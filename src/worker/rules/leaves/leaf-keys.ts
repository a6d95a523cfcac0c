import { valueAt } from '../../../shared/cases/judging/value-at.ts';
import { type ExactObject, RawNumber } from '../../../shared/contract/json/raw-number.ts';
import type { NodeKey } from '../../../shared/contract/rules-and-clients.ts';
import type { KeyPart, LeafKey, LeafNode } from './leaf-nodes.ts';

/**
 * The keys that a leaf accesses with these configured values, in the order its client found them. `dynamic`: a part is only known when the rule
 * runs and stands as `${name}`. `nested`: the dots lead into objects.
 */
export function keysOf(leaf: LeafNode, values: ExactObject): NodeKey[] {
  return leaf.keys.flatMap((leafKey) => {
    const name = nameOf(leafKey, leaf, values);
    if (name.text === '') return [];
    const { direction, accessMethod, union } = leafKey;
    const nested = union || accessMethod === 'getDeep' || accessMethod === 'putDeep';
    // A configuration field of the same name is another value and says nothing about this one.
    const valueType = leafKey.valueType ?? 'Object';
    return [{ key: name.text, direction, accessMethod, dynamic: name.dynamic, nested, valueType }];
  });
}

type Text = { text: string; dynamic: boolean };

/** The name of one key, empty when nothing is accessed by name. */
function nameOf({ parts, union }: LeafKey, leaf: LeafNode, values: ExactObject): Text {
  const name = joined(parts, leaf, values);
  const [field] = parts.filter((part) => part.kind === 'field');
  if (name.text === '' && field) return unknownField(field.ref);
  if (!union) return name;
  // A union is a key behind an `@`, else the value itself: a configured constant reads nothing.
  if (name.text.startsWith('@')) return { ...name, text: name.text.slice(1) };
  return field && !name.dynamic ? { text: '', dynamic: false } : name;
}

function joined(parts: KeyPart[], leaf: LeafNode, values: ExactObject): Text {
  const texts = parts.map((part) => textOf(part, leaf, values));
  return { text: texts.map(({ text }) => text).join(''), dynamic: texts.some(({ dynamic }) => dynamic) };
}

const unknownField = (ref: string): Text => ({ text: `\${${ref}}`, dynamic: true });

function textOf(part: KeyPart, leaf: LeafNode, values: ExactObject): Text {
  switch (part.kind) {
    case 'literal':
      return { text: part.value, dynamic: false };
    case 'field': {
      const configured = configuredText(part.ref, leaf, values);
      return configured === undefined ? unknownField(part.ref) : { text: configured, dynamic: false };
    }
    case 'derived': {
      // The key it is read from may itself be configured, and is then described as `${field}`.
      const ref = /^\$\{(.+)\}$/.exec(part.fromKey)?.[1];
      return unknownField(ref === undefined ? part.fromKey : configuredText(ref, leaf, values) || ref);
    }
    case 'composite':
      return joined(part.parts, leaf, values);
    case 'unknown':
      return unknownField('?');
  }
}

/** The value configured for a field that a client calls by the name it has in its own language. */
function configuredText(ref: string, leaf: LeafNode, values: ExactObject): string | undefined {
  const inside = valueInside(ref, values);
  if (inside !== undefined) return keyText(inside);
  const name = sameName(ref, Object.keys(values));
  if (name !== undefined) return keyText(values[name]);
  // A declared field without a configured value has the default of the client's code, which Node clients publish.
  const declared = sameName(
    ref,
    leaf.fields.map(({ field }) => field),
  );
  if (declared !== undefined) return keyText(leaf.fields.find(({ field }) => field === declared)?.value ?? undefined);
  const strings = leaf.fields.filter(({ type, shown }) => shown && isText(type));
  const [only] = strings;
  return only && strings.length === 1 ? keyText(values[only.field]) : undefined;
}

/** The value at a path into a configured object: `config.key`. */
function valueInside(ref: string, values: ExactObject): ExactObject[string] | undefined {
  return ref.includes('.') ? valueAt(values, ref.split('.')) : undefined;
}

function sameName(ref: string, names: string[]): string | undefined {
  const plain = (name: string) => name.replace(/[_-]/g, '').toLowerCase();
  return (
    names.find((name) => name === ref) ??
    names.find((name) => name.toLowerCase() === ref.toLowerCase()) ??
    names.find((name) => plain(name) === plain(ref))
  );
}

function keyText(value: ExactObject[string] | undefined): string | undefined {
  if (typeof value === 'string') return value;
  if (value instanceof RawNumber) return value.text;
  return typeof value === 'boolean' ? String(value) : undefined;
}

/** Java may name its classes. */
const isText = (fieldType: string) => /(^|\.)string$/i.test(fieldType);
