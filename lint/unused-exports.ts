import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join, normalize, relative } from 'node:path';

/** A file of code, by its path in this repository. */
export type Source = { path: string; text: string };

const ROOTS = ['src', 'test', 'bench', 'bin', 'lint', 'packages', 'examples'];
const EXPORTED = /^export (?:declare )?(?:async )?(?:const|let|function\*?|class|type|interface) ([\w$]+)/gm;
const NAMED = /\b(?:import|export)\s+(?:type\s+)?\{([^}]*)\}\s*from\s*'(\.[^'\n]+)'/g;
const WHOLE = /\bimport\s*(?:\*\s*as\s+[\w$]+\s*from\s*|\(\s*)'(\.[^'\n]+)'/g;

/** Every file of code that may import something from `src`. */
export async function readSources(root: string): Promise<Source[]> {
  const found = await Promise.all(
    ROOTS.map((folder) => readdir(join(root, folder), { recursive: true, withFileTypes: true }).catch(() => [])),
  );
  return found
    .flat()
    .filter(
      (entry) => entry.isFile() && /\.(tsx?|m?js)$/.test(entry.name) && !entry.parentPath.includes('node_modules'),
    )
    .map(({ parentPath, name }) => relative(root, join(parentPath, name)))
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
}

/** One sentence for each export of `src` that no other file imports. `published`: what users of the package import. */
export function unusedExports(sources: readonly Source[], published: readonly string[]): string[] {
  const used = new Set(sources.flatMap(usedBy));
  const own = sources.filter(({ path }) => path.startsWith('src/') && !published.includes(path));
  return own.flatMap(({ path, text }) =>
    [...text.matchAll(EXPORTED)]
      .map(([, name = '']) => name)
      .filter((name) => !used.has(`${path} ${name}`))
      .map((name) => `${path} exports ${name}, which no other file imports: remove it, or the word export.`),
  );
}

/** What a file imports, each as its file and its name. */
function usedBy({ path, text }: Source): string[] {
  const target = (specifier: string) => normalize(join(dirname(path), specifier));
  const named = [...text.matchAll(NAMED)].flatMap(([, names = '', specifier = '']) =>
    names.split(',').map((name) => `${target(specifier)} ${originalName(name)}`),
  );
  // A module that is imported as a whole: every name of it that stands behind a dot or in a pattern.
  const whole = [...text.matchAll(WHOLE)].flatMap(([, specifier = '']) =>
    [...text.matchAll(/[.{,]\s*([\w$]+)/g)].map(([, name = '']) => `${target(specifier)} ${name}`),
  );
  return [...named, ...whole];
}

const originalName = (name: string): string =>
  name
    .trim()
    .replace(/^type\s+/, '')
    .split(/\s+as\s+/)[0] ?? '';
