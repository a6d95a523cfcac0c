/**
 * Characters that a reader cannot tell from nothing or from a plain space, or that a terminal obeys: controls, format and bidirectional marks,
 * every space but U+0020, zero-width and other default-ignorable characters, the blank Braille pattern, and halves of a surrogate pair.
 */
const UNSEEN = String.raw`(?! )[\p{Cc}\p{Cf}\p{Cs}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]`;
const UNSEEN_ONE = new RegExp(UNSEEN, 'u');
const UNSEEN_ALL = new RegExp(UNSEEN, 'gu');
const UNSEEN_IN_LINES = new RegExp(`(?![\n\t])${UNSEEN}`, 'gu');
/** White space between the tokens of JSON stays as it is. */
const UNSEEN_IN_STRINGS = new RegExp(String.raw`(?![\u0000-\u001f])${UNSEEN}`, 'gu');

/** Whether a text holds a character that is not seen as one. */
export function hasUnseen(text: string): boolean {
  return UNSEEN_ONE.test(text);
}

/** One line of text, every unseen character as the escape JSON has for it. */
export function visible(text: string): string {
  return text.replace(UNSEEN_ALL, escaped);
}

/** The same for a text of several lines: line ends and tabs stay. */
export function visibleLines(text: string): string {
  return text.replace(UNSEEN_IN_LINES, escaped);
}

/** The same for JSON text, which stays JSON of the same value: outside its strings none of these may stand. */
export function visibleJson(json: string): string {
  return json.replace(UNSEEN_IN_STRINGS, escaped);
}

/** A text as far as it is repeated to somebody else than its author. */
export function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}

function escaped(character: string): string {
  return character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}
