import type { Import } from './read-imports.ts';

/** Files that import each other in a circle, the first one once more at the end; undefined when there are none. */
export function findCircle(imports: readonly Import[]): string[] | undefined {
  const targets = new Map<string, string[]>();
  for (const { from, to, isPackage } of imports) if (!isPackage) targets.set(from, [...(targets.get(from) ?? []), to]);
  const done = new Set<string>();

  function follow(path: string, way: readonly string[]): string[] | undefined {
    if (way.includes(path)) return [...way.slice(way.indexOf(path)), path];
    if (done.has(path)) return undefined;
    for (const target of targets.get(path) ?? []) {
      const circle = follow(target, [...way, path]);
      if (circle) return circle;
    }
    done.add(path);
    return undefined;
  }

  for (const path of targets.keys()) {
    const circle = follow(path, []);
    if (circle) return circle;
  }
  return undefined;
}
