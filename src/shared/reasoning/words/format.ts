export type Parameters = Record<string, string | number>;

/** A sentence with `{names}` in it; where a number decides, one for a single thing, one for several, and perhaps one for two. */
export type Template = string | { one: string; two?: string; other: string };

/** The template for these parameters: `one` is for the parameter `n` being 1, `two` for 2, in every language this page speaks. */
export function templateFor(template: Template, parameters: Parameters): string {
  if (typeof template === 'string') return template;
  const n = Number(parameters.n);
  return n === 1 ? template.one : (n === 2 && template.two) || template.other;
}

/** A template cut at its `{names}`: text stays text, names become `{name}` objects. */
export function partsOf(template: string): (string | { name: string })[] {
  return template
    .split(/(\{\w+\})/)
    .filter((part) => part !== '')
    .map((part) => (/^\{\w+\}$/.test(part) ? { name: part.slice(1, -1) } : part));
}

/**
 * The sentence with its parameters put in; a name without a parameter stays as it is, so that a mistake is seen. `count`: how a number is
 * written.
 */
export function format(template: Template, parameters: Parameters, count: (n: number) => string = String): string {
  const written = (name: string) => {
    const value = parameters[name] ?? `{${name}}`;
    return typeof value === 'number' ? count(value) : value;
  };
  return partsOf(templateFor(template, parameters))
    .map((part) => (typeof part === 'string' ? part : written(part.name)))
    .join('');
}
