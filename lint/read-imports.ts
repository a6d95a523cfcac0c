import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { dirname, join, normalize, relative } from 'node:path';

/** One import of a file: `to` is a path of this repository, or the name of a package. */
export type Import = { from: string; to: string; isPackage: boolean };

const SPECIFIER = /(?:\bfrom|\bimport)\s*\(?\s*'([^'\n]+)'/g;
const COMMENT = /^\s*(?:\/\/|\/?\*).*$/gm;

/** Every import below `src`, dynamic ones and those of types included. Biome has put each into the same form. */
export async function readImports(root: string): Promise<Import[]> {
  const entries = await readdir(join(root, 'src'), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map(({ parentPath, name }) => relative(root, join(parentPath, name)))
    .flatMap((from) => importsOf(from, readFileSync(join(root, from), 'utf8')));
}

export function importsOf(from: string, text: string): Import[] {
  const specifiers = [...text.replace(COMMENT, '').matchAll(SPECIFIER)].map(([, specifier = '']) => specifier);
  return specifiers.map((specifier) =>
    specifier.startsWith('.')
      ? { from, to: normalize(join(dirname(from), specifier)), isPackage: false }
      : { from, to: specifier, isPackage: true },
  );
}
