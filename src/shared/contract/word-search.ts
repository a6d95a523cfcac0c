import { hasUnseen, visible } from './json/visible-text.ts';

/** A text in quotes is one word; any other word ends at a space. */
const WORD = /"((?:[^"\\]|\\.)+)"(?!\S)|\S+/gs;
const STRING = /"(?:[^"\\]|\\.)*"/gs;

/**
 * A test for texts that have every word of a search. A number is a word of its own: 42 is not in 420. A word with a character that cannot be
 * seen is also found as the escape that is shown for it.
 */
export function wordSearch(words: string): (text: string) => boolean {
  const tests = [...words.toLowerCase().matchAll(WORD)].map(([word, quoted]) => testOf(word, quoted));
  return (text) => {
    const plain = text.toLowerCase().replace(/\s+/g, ' ');
    const all = hasUnseen(text) ? `${plain} ${visible(text).toLowerCase()}` : plain;
    return tests.every((isIn) => isIn(all));
  };
}

function testOf(word: string, quoted: string | undefined): (text: string) => boolean {
  if (/^\d+$/.test(quoted ?? word)) {
    const number = new RegExp(`(?<![\\w.])${quoted ?? word}(?!\\w|\\.\\d)`);
    return (text) => number.test(text);
  }
  const wanted = quoted === undefined ? [word] : [quoted, stringOf(word)].map((one) => one.replace(/\s+/g, ' '));
  return (text) => wanted.some((one) => text.includes(one));
}

/** The keys and values of JSON text as they are, not as JSON writes them: C:\temp, not C:\\temp. */
export function valuesText(json: string): string {
  return json.replace(STRING, (raw) => ` ${stringOf(raw)} `);
}

function stringOf(raw: string): string {
  try {
    return String(JSON.parse(raw));
  } catch {
    return raw.slice(1, -1);
  }
}
