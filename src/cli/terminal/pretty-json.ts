import { type ExactValue, RawNumber } from '../../shared/contract/json/raw-number.ts';

/** A value as indented JSON, every number as it was written. */
export function prettyJson(value: ExactValue, indent = ''): string {
  if (value instanceof RawNumber) return value.text;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const deeper = `${indent}  `;
  const lines = Array.isArray(value)
    ? value.map((item) => `${deeper}${prettyJson(item, deeper)}`)
    : Object.entries(value).map(([key, member]) => `${deeper}${JSON.stringify(key)}: ${prettyJson(member, deeper)}`);
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  return lines.length === 0 ? `${open}${close}` : `${open}\n${lines.join(',\n')}\n${indent}${close}`;
}
