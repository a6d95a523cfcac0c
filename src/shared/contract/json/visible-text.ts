/** Characters that a terminal obeys instead of showing them: control characters, line separators, bidirectional marks. */
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;
const UNSEEN_ALL = new RegExp(UNSEEN, 'g');
const UNSEEN_IN_LINES = /(?![\n\t])[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

const UNSEEN_IN_STRINGS = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Whether a text holds a character that is not seen as one. */
export function hasUnseen(text: string): boolean {
  return UNSEEN.test(text);
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

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
