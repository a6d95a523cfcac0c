/** A test for texts that have every word of a search. A number is a word of its own: 42 is not in 420. */
export function wordSearch(words: string): (text: string) => boolean {
  const tests = words
    .toLowerCase()
    .split(/\s+/)
    .filter(Boolean)
    .map((word) => {
      if (!/^\d+$/.test(word)) return (text: string) => text.includes(word);
      const number = new RegExp(`(?<![\\w.])${word}(?!\\w|\\.\\d)`);
      return (text: string) => number.test(text);
    });
  return (text) => {
    const all = text.toLowerCase();
    return tests.every((isIn) => isIn(all));
  };
}
