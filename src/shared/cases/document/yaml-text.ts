import { isAlias, isMap, isScalar, isSeq, type LineCounter, type Node, type Scalar } from 'yaml';
import { joinMembers } from '../../contract/json/exact-json.ts';
import { MAX_DEPTH } from '../../contract/json/json-scan.ts';
import { printPath, type Step } from '../path.ts';
import { parseYaml } from './parse-yaml.ts';
import { createRefusals, type LineOf, type Refusal } from './refusal.ts';

/** YAML as JSON text in which every number is written as it was, and the line each path begins in. */
type YamlText = { kind: 'read'; json: string; lineOf: LineOf } | { kind: 'refused'; refusals: Refusal[] };

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** Node ids may be written as keys without quotes. */
const NODES = /^cases\[\d+\]\.expect\.nodes$/;

/** Turns one YAML document into JSON text. What JSON does not know (aliases, tags, other numbers) is refused with its line. */
export function readYaml(text: string): YamlText {
  const parsed = parseYaml(text);
  if (parsed.kind === 'too-deep') return refused([alone(`is nested deeper than ${MAX_DEPTH} levels`)]);
  const { documents, lines } = parsed;
  const [document] = documents;
  if (document === undefined) return refused([alone('is empty')]);
  if (documents.length > 1) return refused([alone('holds several YAML documents: keep one in a file')]);
  const [error] = document.errors;
  if (error)
    return refused([{ path: 'document', line: lines.linePos(error.pos[0]).line, message: firstLine(error.message) }]);
  if (document.contents === null) return refused([alone('is empty')]);
  if (document.directives.yaml.explicit && document.directives.yaml.version !== '1.2')
    return refused([alone('must be YAML 1.2: remove the %YAML line')]);
  const at = new Map<string, number>();
  const refusals = createRefusals((path) => at.get(path) ?? null);
  const json = createPrinter({ at, lines, add: refusals.add }).print(document.contents, []);
  return refusals.all.length > 0
    ? refused(refusals.all)
    : { kind: 'read', json, lineOf: (path) => at.get(path) ?? null };
}

type Tools = { at: Map<string, number>; lines: LineCounter; add: (path: readonly Step[], message: string) => void };

function createPrinter({ at, lines, add }: Tools) {
  function print(node: Node | null, path: readonly Step[]): string {
    if (node?.range) at.set(printPath(path), lines.linePos(node.range[0]).line);
    if (path.length > MAX_DEPTH) return refuse(path, `is nested deeper than ${MAX_DEPTH} levels`);
    if (node === null) return 'null';
    if (isAlias(node)) return refuse(path, `is an alias (*${node.source}): write the value again`);
    if (node.tag !== undefined) return refuse(path, `has a tag (${node.tag}): write the value without it`);
    if (isMap<Node, Node | null>(node)) return printMap(node.items, path);
    if (isSeq<Node>(node)) return `[${node.items.map((item, index) => print(item, [...path, index])).join(',')}]`;
    return isScalar(node) ? printScalar(node, path) : refuse(path, 'cannot be read');
  }

  function printMap(items: readonly { key: Node; value: Node | null }[], path: readonly Step[]): string {
    const seen = new Set<string>();
    const members = items.map(({ key, value }): [string, string] => {
      const name = nameOf(key, path);
      const inside = [...path, name];
      if (seen.has(name)) refuse(inside, 'is given twice', key);
      seen.add(name);
      const printed = print(value, inside);
      if (key.range) at.set(printPath(inside), lines.linePos(key.range[0]).line);
      return [name, printed];
    });
    return joinMembers(members);
  }

  function nameOf(key: Node, path: readonly Step[]): string {
    if (isScalar(key) && typeof key.value === 'string' && key.tag === undefined) return key.value;
    const source = isScalar(key) ? (key.source ?? '') : '';
    if (NODES.test(printPath(path)) && /^\d+$/.test(source)) return source;
    refuse([...path, source || '?'], 'is a key that is not text: put it in quotes', key);
    return source;
  }

  function printScalar(node: Scalar, path: readonly Step[]): string {
    const { value, source = '' } = node;
    if (typeof value === 'string') {
      if (value.isWellFormed()) return JSON.stringify(value);
      return refuse(path, 'holds half of a surrogate pair');
    }
    if (typeof value === 'number' || typeof value === 'bigint')
      return JSON_NUMBER.test(source)
        ? source
        : refuse(path, `is a number JSON does not know (${source}): put text in quotes`);
    return value === true ? 'true' : value === false ? 'false' : 'null';
  }

  function refuse(path: readonly Step[], message: string, node?: Node): string {
    const printed = printPath(path);
    if (node?.range) at.set(printed, lines.linePos(node.range[0]).line);
    add(path, message);
    return 'null';
  }

  return { print };
}

function alone(message: string): Refusal {
  return { path: 'document', line: null, message };
}

function refused(refusals: Refusal[]): YamlText {
  return { kind: 'refused', refusals };
}

const firstLine = (message: string) => message.split('\n')[0] ?? message;
