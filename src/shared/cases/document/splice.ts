import { isMap, isScalar, isSeq, type Node, type Pair, type YAMLMap, type YAMLSeq } from 'yaml';
import { type Problem, problemAt, problemText } from '../../reasons/problems.ts';
import { parsePath, type Step } from '../path.ts';
import { parseYaml } from './parse-yaml.ts';

/** A value of a document to be replaced: its place, and the JSON text that takes its place. */
export type Replacement = { path: string; json: string };

/** A document that cannot be changed in this way; says why. */
export class CannotSplice extends Error {
  readonly problem: Problem;
  constructor(problem: Problem) {
    super(`${problem.field} ${problemText(problem)}`);
    this.problem = problem;
  }
}

/**
 * Replaces values of a document in its source text. Every other byte stays: the library's own printer rounds large numbers,
 * turns 1e400 into .inf and wraps lines. JSON is YAML, so a value is written as JSON in a document of either kind.
 */
export function replaceValues(text: string, replacements: readonly Replacement[]): string {
  const root = rootOf(text);
  const edits = replacements.map(({ path, json }) => {
    const node = nodeAt(root, parsePath(path) ?? []);
    if (!node?.range) throw new CannotSplice(problemAt(path, 'no-such-place', {}));
    return { from: node.range[0], to: node.range[1], json: inPlaceOf(text, node, json) };
  });
  return applied(text, edits);
}

/** Puts a case, given as JSON text, in the place of the one with its name, or at the end. */
export function upsertCase(text: string, { name, json }: { name: string; json: string }): string {
  const root = rootOf(text);
  const cases = casesOf(root);
  const known = cases.items.find((item) => nameOf(item) === name);
  if (known?.range)
    return applied(text, [{ from: known.range[0], to: known.range[1], json: inPlaceOf(text, known, json) }]);
  const last = cases.items.at(-1);
  if (!last?.range || !cases.range) return applied(text, [firstCase(text, { root, cases, json })]);
  if (cases.flow) return applied(text, [{ from: last.range[1], to: last.range[1], json: `, ${json}` }]);
  const indent = ' '.repeat(columnOf(text, cases.range[0]));
  const end = endOfValue(text, last);
  return applied(text, [{ from: end, to: end, json: `${text[end - 1] === '\n' ? '' : '\n'}${indent}- ${json}\n` }]);
}

/** Takes the case with this name out of the document. The last one leaves an empty list. */
export function removeCase(text: string, name: string): string {
  const cases = casesOf(rootOf(text));
  const index = cases.items.findIndex((item) => nameOf(item) === name);
  const item = cases.items[index];
  if (!item?.range || !cases.range)
    throw new CannotSplice(problemAt('cases', 'no-such-case', { name: JSON.stringify(name) }));
  if (cases.items.length === 1)
    return applied(text, [{ from: cases.range[0], to: cases.range[1], json: cases.flow ? '[]' : '[]\n' }]);
  if (!cases.flow)
    return applied(text, [{ from: startOfEntry(text, item.range[0]), to: endOfValue(text, item), json: '' }]);
  const previous = cases.items[index - 1];
  const next = cases.items[index + 1];
  if (previous?.range) return applied(text, [{ from: previous.range[1], to: item.range[1], json: '' }]);
  return applied(text, [{ from: item.range[0], to: next?.range?.[0] ?? item.range[1], json: '' }]);
}

/** The first case of an empty list: in YAML on a line of its own, where the next ones will follow. */
function firstCase(text: string, { root, cases, json }: { root: Node; cases: Node; json: string }): Edit {
  if (isMap(root) && root.flow) return { from: from(cases), to: to(cases), json: `[${json}]` };
  return { from: text.slice(0, from(cases)).trimEnd().length, to: to(cases), json: `\n  - ${json}` };
}

type Edit = { from: number; to: number; json: string };

function rootOf(text: string): Node {
  const parsed = parseYaml(text);
  const document = parsed.kind === 'parsed' ? parsed.documents[0] : undefined;
  const [error] = document?.errors ?? [];
  if (error) throw new CannotSplice(problemAt('document', 'not-yaml', { message: error.message }));
  if (!document?.contents) throw new CannotSplice(problemAt('document', 'no-document', {}));
  return document.contents;
}

function casesOf(root: Node): YAMLSeq<Node> {
  const node = nodeAt(root, ['cases']);
  if (!isSeq<Node>(node)) throw new CannotSplice(problemAt('document', 'no-list-of-cases', {}));
  return node;
}

function nodeAt(root: Node, path: readonly Step[]): Node | null {
  let node: Node | null = root;
  for (const step of path) {
    if (typeof step === 'number') node = isSeq<Node>(node) ? (node.items[step] ?? null) : null;
    else node = isMap<Node, Node | null>(node) ? memberOf(node, step) : null;
  }
  return node;
}

function memberOf({ items }: YAMLMap<Node, Node | null>, name: string): Node | null {
  const pair: Pair<Node, Node | null> | undefined = items.find(
    ({ key }) => isScalar(key) && (key.value === name || key.source === name),
  );
  return pair?.value ?? null;
}

function nameOf(item: Node): string | null {
  const name = nodeAt(item, ['name']);
  return isScalar(name) ? String(name.value) : null;
}

const from = (node: Node) => node.range?.[0] ?? 0;
const to = (node: Node) => node.range?.[1] ?? 0;

/** The end of an entry of a block list, with what follows it on its last line: never the comment of the next one. */
function endOfValue(text: string, node: Node): number {
  const end = to(node);
  if (text[end - 1] === '\n') return end;
  const newline = text.indexOf('\n', end);
  return newline < 0 ? text.length : newline + 1;
}

function startOfEntry(text: string, start: number): number {
  return text.lastIndexOf('\n', start - 1) + 1;
}

function columnOf(text: string, at: number): number {
  return at - (text.lastIndexOf('\n', at - 1) + 1);
}

/** A block value ends after its line's end, which JSON in its place must keep. */
function inPlaceOf(text: string, node: Node, json: string): string {
  return text[to(node) - 1] === '\n' ? `${json}\n` : json;
}

function applied(text: string, edits: readonly Edit[]): string {
  return [...edits]
    .sort((a, b) => b.from - a.from)
    .reduce((changed, edit) => changed.slice(0, edit.from) + edit.json + changed.slice(edit.to), text);
}
