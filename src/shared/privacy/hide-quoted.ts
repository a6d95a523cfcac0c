import { mapElements } from '../cases/split-array.ts';
import { joinMembers, scanJson } from '../contract/json/exact-json.ts';
import { HIDDEN } from './hide-at.ts';

/** Shorter values are ordinary words and numbers: replacing them everywhere would make every sentence unreadable. */
const SHORTEST = { word: 4, digits: 6 };
/** With more values than this, the whole text is hidden instead of being searched for each. */
const MAX_SEARCHED = 2000;
const REPLACEMENT = '***';

export type Quotes = ReturnType<typeof createQuotes>;

/**
 * Hides copies of hidden values: quoted in a sentence, under another key, as a number or as a member name. Values below four characters or
 * six digits are not replaced.
 */
export function createQuotes() {
  const values = new Set<string>();
  let pattern: RegExp | null = null;

  /** A text without the values. */
  function text(given: string): string {
    if (values.size === 0) return given;
    if (values.has(given)) return REPLACEMENT;
    if (values.size > MAX_SEARCHED) return given === '' ? given : REPLACEMENT;
    pattern ??= patternOf(values);
    return given.replaceAll(pattern, REPLACEMENT);
  }

  /** JSON text without the values; `found` is told the path of each place. */
  function json(raw: string, found: (path: string) => void = () => {}, path = ''): string {
    // In a text from the history values are hidden already: only their places are collected.
    if (raw === '' || (values.size === 0 && !raw.includes(REPLACEMENT))) return raw;
    const scanned = scanJson(raw);
    if (scanned.kind !== 'complete') return HIDDEN; // cut somewhere: it may hold a value
    switch (scanned.type) {
      case 'string': {
        const given = String(JSON.parse(scanned.raw));
        const shown = text(given);
        if (shown.includes(REPLACEMENT)) found(path);
        return shown === given ? raw : JSON.stringify(shown);
      }
      case 'number':
        if (!values.has(scanned.raw)) return raw;
        found(path);
        return HIDDEN;
      case 'array':
        return mapElements(scanned.raw, (each) => json(each, found, path));
      case 'object':
        return joinMembers(
          scanned.members.map((member) => {
            const inside = path === '' ? member.key : `${path}.${member.key}`;
            return [text(member.key), json(member.raw, found, inside)];
          }),
        );
      default:
        return raw;
    }
  }

  return {
    text,
    json,
    /** A value that is hidden somewhere. */
    add(value: string): void {
      const shortest = /^[\d.+-]+$/.test(value) ? SHORTEST.digits : SHORTEST.word;
      if (value.length < shortest || values.has(value)) return;
      values.add(value);
      pattern = null;
    },
  };
}

/** Longest first, because one value may be a prefix of another. */
function patternOf(values: ReadonlySet<string>): RegExp {
  const escaped = [...values]
    .sort((a, b) => b.length - a.length)
    .map((value) => value.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&'));
  return new RegExp(escaped.join('|'), 'g');
}
