import type { Json } from './read-json.ts';

/** The same JSON over several lines, two spaces per level. Order and numbers stay as they were written. */
export function prettyJson(json: Json, indent = ''): string {
  const inner = `${indent}  `;
  if (json.kind === 'object' && json.members.length > 0) {
    const members = json.members.map(({ key, value }) => `${inner}${JSON.stringify(key)}: ${prettyJson(value, inner)}`);
    return `{\n${members.join(',\n')}\n${indent}}`;
  }
  if (json.kind === 'array' && json.items.length > 0) {
    return `[\n${json.items.map((item) => inner + prettyJson(item, inner)).join(',\n')}\n${indent}]`;
  }
  return compactJson(json);
}

/** The same JSON without a space between its tokens. */
export function compactJson(json: Json): string {
  switch (json.kind) {
    case 'object':
      return `{${json.members.map(({ key, value }) => `${JSON.stringify(key)}:${compactJson(value)}`).join(',')}}`;
    case 'array':
      return `[${json.items.map(compactJson).join(',')}]`;
    case 'string':
      return JSON.stringify(json.value);
    case 'number':
      return json.text;
    case 'boolean':
      return String(json.value);
    case 'null':
      return 'null';
  }
}
