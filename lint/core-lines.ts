import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { join, relative } from 'node:path';
import { type AnyNode, parse, type Token } from 'acorn';
import { findCircle } from './find-circle.ts';
import { readImports } from './read-imports.ts';

// `node lint/core-lines.ts`: how large the core is and which is its longest function, without comments and empty lines,
// and whether its files import each other in a circle, types included. The core is what an execution passes between the queue and
// the files of a client.
const CORE = ['src/worker/execution', 'src/worker/placement', 'src/worker/files', 'src/worker/process/worker.ts'];

type CoreFile = { path: string; lines: number; longest: { name: string; lines: number } };

const root = join(import.meta.dirname, '..');
const files = (await Promise.all(CORE.map(pathsIn))).flat().map(measure);
for (const part of CORE) {
  const own = files.filter(({ path }) => path.startsWith(part));
  console.log(`${part}: ${own.length} files, ${sum(own)} lines, longest function ${longestOf(own)}`);
}
console.log(`Together: ${files.length} files, ${sum(files)} lines, longest function ${longestOf(files)}`);
const imports = (await readImports(root)).filter(({ from }) => files.some(({ path }) => path === from));
console.log(`Circles of imports: ${findCircle(imports)?.join(' imports ') ?? 'none'}`);

async function pathsIn(part: string): Promise<string[]> {
  if (part.endsWith('.ts')) return [part];
  const entries = await readdir(join(root, part), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(root, join(parentPath, name)));
}

function measure(path: string): CoreFile {
  const text = readFileSync(join(root, path), 'utf8');
  // Types become spaces: every line stays where it is.
  const code = new Set<number>();
  const onToken = ({ loc }: Token) => void (loc && code.add(loc.start.line) && code.add(loc.end.line));
  const options = { ecmaVersion: 'latest', sourceType: 'module', locations: true, onToken } as const;
  const program = parse(stripTypeScriptTypes(text), options);
  const found = functionsIn(program, 'a function', code).toSorted((one, other) => other.lines - one.lines);
  return { path, lines: code.size, longest: found[0] ?? { name: 'none', lines: 0 } };
}

/** Every function below a node. `code`: the lines that have some. */
function functionsIn(node: AnyNode, name: string, code: ReadonlySet<number>): CoreFile['longest'][] {
  const named = nameOf(node) ?? name;
  const { start, end } = node.loc ?? { start: { line: 0 }, end: { line: 0 } };
  const lines = [...code].filter((line) => start.line <= line && line <= end.line).length;
  const own = node.type.includes('Function') ? [{ name: named, lines }] : [];
  const parts = Object.values(node).flat().filter(isNode);
  return [...own, ...parts.flatMap((part) => functionsIn(part, named, code))];
}

function nameOf(node: AnyNode): string | undefined {
  if (node.type === 'FunctionDeclaration' || node.type === 'FunctionExpression') return node.id?.name;
  if (node.type === 'VariableDeclarator') return node.id.type === 'Identifier' ? node.id.name : undefined;
  return node.type === 'Property' && node.key.type === 'Identifier' ? node.key.name : undefined;
}

function isNode(value: unknown): value is AnyNode {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}

function sum(some: readonly CoreFile[]): number {
  return some.reduce((total, { lines }) => total + lines, 0);
}

function longestOf(some: readonly CoreFile[]): string {
  const [file] = some.toSorted((one, other) => other.longest.lines - one.longest.lines);
  return file ? `${file.longest.lines} lines (${file.longest.name} in ${file.path})` : 'none';
}
