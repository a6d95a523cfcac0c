export type Parameters = Record<string, string | number>;

/** A sentence with `{names}` in it; where a number decides, one for a single thing and one for several. */
export type Template = string | { one: string; other: string };

/** The template for these parameters: `one` is for the parameter `n` being 1, in every language this page speaks. */
export function templateFor(template: Template, parameters: Parameters): string {
  if (typeof template === 'string') return template;
  return Number(parameters.n) === 1 ? template.one : template.other;
}

/** A template cut at its `{names}`: text stays text, names become `{name}` objects. */
export function partsOf(template: string): (string | { name: string })[] {
  return template
    .split(/(\{\w+\})/)
    .filter((part) => part !== '')
    .map((part) => (/^\{\w+\}$/.test(part) ? { name: part.slice(1, -1) } : part));
}

/** The sentence with its parameters put in; a name without a parameter stays as it is, so that a mistake is seen. */
export function format(template: Template, parameters: Parameters): string {
  return partsOf(templateFor(template, parameters))
    .map((part) => (typeof part === 'string' ? part : String(parameters[part.name] ?? `{${part.name}}`)))
    .join('');
}
