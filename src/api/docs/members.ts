import { html } from 'hono/html';
import { z } from 'zod';

const shownSchema = z.looseObject({
  $ref: z.string().optional(),
  type: z.union([z.string(), z.array(z.string())]).optional(),
  format: z.string().optional(),
  description: z.string().optional(),
  const: z.unknown().optional(),
  enum: z.array(z.unknown()).optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  required: z.array(z.string()).optional(),
  items: z.unknown().optional(),
  anyOf: z.array(z.unknown()).optional(),
});

export function members(schema: unknown) {
  const { description, properties = {}, required = [] } = shownSchema.parse(schema);
  const rows = Object.entries(properties).map(([name, member]) => {
    const { description: text } = shownSchema.parse(member);
    return html`<tr><td><code>${name}</code></td><td class="quiet">${typeOf(member)}${required.includes(name) ? '' : ', optional'}</td><td>${prose(text ?? '')}</td></tr>`;
  });
  return html`${description ? html`<p>${prose(description)}</p>` : ''}<table><tbody>${rows}</tbody></table>`;
}

function typeOf(schema: unknown): string {
  const { $ref, type, format, enum: values, anyOf, items, properties, ...rest } = shownSchema.parse(schema);
  if ($ref) return $ref.slice($ref.lastIndexOf('/') + 1);
  if (anyOf) return anyOf.map(typeOf).join(' or ');
  if (values) return values.map((value) => JSON.stringify(value)).join(' | ');
  if (rest.const !== undefined) return JSON.stringify(rest.const);
  if (type === 'array') return `list of ${typeOf(items)}`;
  if (properties) return `{ ${Object.keys(properties).join(', ')} }`;
  const name = Array.isArray(type) ? type.join(' or ') : (type ?? 'anything');
  return format ? `${name} (${format})` : name;
}

export function prose(text: string) {
  return text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part));
}
