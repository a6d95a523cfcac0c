import { isAlias, isMap, isScalar, isSeq, type Node, type Scalar } from 'yaml';
import { joinMembers } from '../../contract/json/exact-json.ts';
import { MAX_DEPTH } from '../../contract/json/json-scan.ts';
import { type Problem, type ProblemCode, problemAt, type problems } from '../../reasons/problems.ts';
import type { ParamsOf } from '../../reasons/template.ts';
import { printPath, type Step } from '../path.ts';
import { parseYaml } from './parse-yaml.ts';
import { createRefusals, type LineOf, type Refusals } from './refusal.ts';

/** YAML as JSON text in which every number is written as it was, and the line each path begins in. */
type YamlText = { kind: 'read'; json: string; lineOf: LineOf } | { kind: 'refused'; refusals: Problem[] };

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** Node ids may be written as keys without quotes. */
const NODES = /^cases\[\d+\]\.expect\.nodes$/;

/** Turns one YAML document into JSON text. What JSON does not know (aliases, tags, other numbers) is refused with its line. */
export function readYaml(text: string): YamlText {
  const parsed = parseYaml(text);
  if (parsed.kind === 'too-deep') return refused('too-deep', { levels: MAX_DEPTH });
  const [document, ...others] = parsed.documents;
  if (others.length > 0) return refused('several-documents', {});
  const lineOfOffset = (offset: number) => parsed.lines.linePos(offset).line;
  const [error] = document?.errors ?? [];
  if (error) {
    const message = error.message.split('\n')[0] ?? error.message;
    return refused('not-yaml', { message }, lineOfOffset(error.pos[0]));
  }
  if (!document?.contents) return refused('no-document', {});
  if (document.directives.yaml.explicit && document.directives.yaml.version !== '1.2')
    return refused('yaml-version', {});
  const lineAt = new Map<string, number>();
  const lineOf: LineOf = (path) => lineAt.get(path) ?? null;
  const refusals = createRefusals(lineOf);
  const print = createPrinter({
    stands: (path, node) => void (node?.range && lineAt.set(printPath(path), lineOfOffset(node.range[0]))),
    refuse: refusals.at,
  });
  const json = print(document.contents, []);
  return refusals.all.length > 0 ? { kind: 'refused', refusals: refusals.all } : { kind: 'read', json, lineOf };
}

type Tools = {
  /** Notes where something of a path is written. */
  stands: (path: readonly Step[], node: Node | null | undefined) => void;
  refuse: Refusals['at'];
};

function createPrinter({ stands, refuse: at }: Tools) {
  return print;

  function print(node: Node | null, path: readonly Step[]): string {
    stands(path, node);
    if (path.length > MAX_DEPTH) return refuse(path, 'too-deep', { levels: MAX_DEPTH });
    if (node === null) return 'null';
    if (isAlias(node)) return refuse(path, 'yaml-alias', { alias: node.source });
    if (node.tag !== undefined) return refuse(path, 'yaml-tag', { tag: node.tag });
    if (isMap<Node, Node | null>(node)) return printMap(node.items, path);
    if (isSeq<Node>(node)) return `[${node.items.map((item, index) => print(item, [...path, index])).join(',')}]`;
    return isScalar(node) ? printScalar(node, path) : refuse(path, 'no-value', {});
  }

  function printMap(items: readonly { key: Node; value: Node | null }[], path: readonly Step[]): string {
    const seen = new Set<string>();
    const members = items.map(({ key, value }): [string, string] => {
      const name = nameOf(key, path);
      const inside = [...path, name];
      if (seen.has(name)) refuse(inside, 'duplicate', {}, key);
      seen.add(name);
      const printed = print(value, inside);
      stands(inside, key);
      return [name, printed];
    });
    return joinMembers(members);
  }

  function nameOf(key: Node, path: readonly Step[]): string {
    if (isScalar(key) && typeof key.value === 'string' && key.tag === undefined) return key.value;
    const source = isScalar(key) ? (key.source ?? '') : '';
    if (NODES.test(printPath(path)) && /^\d+$/.test(source)) return source;
    refuse([...path, source || '?'], 'no-text-key', {}, key);
    return source;
  }

  function printScalar({ value, source = '' }: Scalar, path: readonly Step[]): string {
    if (typeof value === 'string')
      return value.isWellFormed() ? JSON.stringify(value) : refuse(path, 'lone-surrogate', {});
    if (typeof value !== 'number' && typeof value !== 'bigint') return String(value ?? null);
    return JSON_NUMBER.test(source) ? source : refuse(path, 'no-json-number', { number: source });
  }

  function refuse<Of extends ProblemCode>(
    path: readonly Step[],
    code: Of,
    params: ParamsOf<(typeof problems)[Of]>,
    node?: Node,
  ): string {
    stands(path, node);
    at(...path).refuse(code, params);
    return 'null';
  }
}

function refused<Of extends ProblemCode>(code: Of, params: ParamsOf<(typeof problems)[Of]>, line?: number): YamlText {
  return { kind: 'refused', refusals: [problemAt('document', code, { ...params, line })] };
}
