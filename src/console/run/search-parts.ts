/** Words apart at spaces; a text in quotes is one word, also while its end is not typed yet. */
const WORD = /((?:[^\s"]|"(?:[^"\\]|\\.)*"?)+)(\s*)/g;
const ON_INPUT = /^[^\s=<>!":]+(?:=|!=|>=|<=|>|<).+$/s;
const ON_RECORD = /^(by|address|lane|code|state):(.+)$/s;

/** What a search field holds: conditions that are complete, and what is being typed. */
type SearchParts = { conditions: readonly string[]; draft: string };

export function wordsOf(text: string): string[] {
  return [...text.matchAll(WORD)].map(([, word = '']) => word);
}

/** Whether a word is a condition on the input, such as `uid=42`. */
export const isOnInput = (word: string): boolean => ON_INPUT.test(word);

/** A condition on the record, such as `by:ann`, under the name that the service has for it. */
export function onRecord(word: string): { name: string; value: string } | null {
  const [, name, value = ''] = ON_RECORD.exec(word) ?? [];
  return name === undefined ? null : { name, value: value.replace(/^"(.*)"$/s, '$1') };
}

/** Takes the conditions that are complete out of a text: a space follows them. */
export function splitSearch(text: string): SearchParts {
  const conditions: string[] = [];
  const draft = text.replace(WORD, (whole, word: string, space: string) => {
    if (space === '' || (!isOnInput(word) && onRecord(word) === null)) return whole;
    conditions.push(word);
    return '';
  });
  return { conditions, draft };
}

/** The same as one text, as `splitSearch` reads it. */
export function printSearch({ conditions, draft }: SearchParts): string {
  return [...conditions.map((condition) => `${condition} `), draft].join('');
}
