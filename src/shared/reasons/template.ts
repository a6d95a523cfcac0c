export type Params = Record<string, string | number>;

/**
 * The names of the parameters in a template: `{name}` is required, and in brackets it is optional. A part in brackets is left out
 * unless all of its parameters are given.
 */
type Names<Text> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | Names<Rest> : never;
type Outside<Text> = Text extends `${infer Before}[${string}]${infer Rest}` ? `${Before}${Outside<Rest>}` : Text;
type Inside<Text> = Text extends `${string}[${infer Part}]${infer Rest}` ? `${Part}${Inside<Rest>}` : '';
export type ParamsOf<Text> = { [Name in Names<Outside<Text>>]: string | number } & {
  [Name in Names<Inside<Text>>]?: string | number | undefined;
};

/** The parameters that are given. */
export function givenOf(params: { [name: string]: string | number | undefined }): Params {
  const given: Params = {};
  for (const [name, value] of Object.entries(params)) if (value !== undefined) given[name] = value;
  return given;
}

/** The texts among the parameters of a reason, changed. */
export const mapTexts = (params: Params, change: (text: string) => string): Params =>
  Object.fromEntries(
    Object.entries(params).map(([name, value]) => [name, typeof value === 'string' ? change(value) : value]),
  );

/** `worded`: the words for the value of a parameter. */
export function fillTemplate(
  template: string,
  params: Params,
  worded: (name: string, value: string | number) => string = (_, value) => `${value}`,
): string {
  const fill = (text: string) =>
    text.replace(/\{(\w+)\}/g, (given, name) => (params[name] === undefined ? given : worded(name, params[name])));
  const isGiven = (part: string) =>
    [...part.matchAll(/\{(\w+)\}/g)].every(([, name = '']) => params[name] !== undefined);
  return fill(template.replace(/\[([^\]]*)\]/g, (_, part: string) => (isGiven(part) ? part : '')));
}

/** A template for people: its parameters as names, its optional parts in brackets. */
export const withNames = (template: string): string => template.replace(/\{(\w+)\}/g, '‹$1›');

/** The parameters of a reason that names the cause of a fault as `why`, `fault` or `full`. */
export const asWhy = <Of>({ problem, ...params }: Params & { problem: Of }) => ({ ...params, why: problem });
export const asFault = <Of>({ problem, ...params }: Params & { problem: Of }) => ({ ...params, fault: problem });
export const asFull = <Of>({ problem, ...params }: Params & { problem: Of }) => ({ ...params, full: problem });

/** A fault as it is sent. */
export const asReason = <Of>({ problem, ...params }: Params & { problem: Of }, message: string) => ({
  reason: problem,
  params,
  message,
});

/** The parameters whose values are causes. */
const CAUSES: ReadonlySet<string> = new Set(['problem', 'why', 'fault', 'full', 'has', 'expected', 'received']);

type Words = Readonly<Record<string, string>>;

export const isCauseIn = (words: Words, name: string, value: string | number): boolean =>
  CAUSES.has(name) && Object.hasOwn(words, value);

/** A template with the parameters of a reason, among which causes have words of their own. */
export function fillWithCauses(template: string, params: Params, words: Words): string {
  return fillTemplate(template, params, (name, value) => {
    const cause = isCauseIn(words, name, value) ? words[value] : undefined;
    return cause === undefined ? `${value}` : fillWithCauses(cause, params, words);
  });
}
