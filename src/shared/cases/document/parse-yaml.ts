import { Composer, type CST, type Document, Lexer, LineCounter, Parser } from 'yaml';
import { MAX_DEPTH } from '../../contract/json/json-scan.ts';

/** YAML with the position of everything in it; `too-deep` before the library would follow it down. */
type ParsedYaml = { kind: 'parsed'; documents: Document.Parsed[]; lines: LineCounter } | { kind: 'too-deep' };

/**
 * Parses YAML 1.2. The library composes documents recursively, and the process dies of 20,000 brackets: how deep they are
 * is measured first. Its check for duplicate keys compares each key with each other, so that is left to the reader.
 */
export function parseYaml(text: string): ParsedYaml {
  if (opensTooMuch(text)) return { kind: 'too-deep' };
  const lines = new LineCounter();
  const tokens = [...new Parser(lines.addNewLine).parse(text)];
  if (isTooDeep(tokens)) return { kind: 'too-deep' };
  const composer = new Composer({ version: '1.2', uniqueKeys: false });
  return { kind: 'parsed', documents: [...composer.compose(tokens)], lines };
}

/** Brackets that are open at once, and dashes in one line. */
function opensTooMuch(text: string): boolean {
  let open = 0;
  let inLine = 0;
  for (const lexeme of new Lexer().lex(text)) {
    if (lexeme === '[' || lexeme === '{') open++;
    else if (lexeme === ']' || lexeme === '}') open--;
    else if (lexeme === '-' || lexeme === '?') inLine++;
    else if (lexeme === '\n') inLine = 0;
    if (open + inLine > MAX_DEPTH) return true;
  }
  return false;
}

function isTooDeep(tokens: readonly CST.Token[]): boolean {
  const open = tokens.map((token): [CST.Token | null | undefined, number] => [token, 0]);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [token, depth] = next;
    if (depth > MAX_DEPTH) return true;
    if (!token) continue;
    if (token.type === 'document') open.push([token.value, depth]);
    else if ('items' in token) {
      for (const item of token.items) open.push(['key' in item ? item.key : null, depth + 1], [item.value, depth + 1]);
    }
  }
  return false;
}
