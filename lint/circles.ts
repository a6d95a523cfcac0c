import type { Import } from './read-imports.ts';

/**
 * One sentence for each circle of files that import each other, if only for their types: whoever reads one of them has
 * to read all. What such files share belongs into one of them, or into a file below both.
 */
export function circles(imports: readonly Import[]): string[] {
  const importsOf = new Map<string, string[]>();
  for (const { from, to, isPackage } of imports)
    if (!isPackage) importsOf.set(from, [...(importsOf.get(from) ?? []), to]);
  const done = new Set<string>();
  const found: string[] = [];

  function visit(path: string, way: readonly string[]): void {
    const at = way.indexOf(path);
    if (at >= 0) found.push(`${[...way.slice(at), path].join(' → ')}: these files import each other.`);
    if (at >= 0 || done.has(path)) return;
    for (const next of importsOf.get(path) ?? []) visit(next, [...way, path]);
    done.add(path);
  }

  for (const path of importsOf.keys()) visit(path, []);
  return found;
}
