import { importMap, layers, type Part } from './import-map.ts';
import type { Import } from './read-imports.ts';

/** One sentence for each import in a direction that the map does not have. */
export function wrongDirections(imports: readonly Import[]): string[] {
  return imports.flatMap((one) => {
    const part = importMap.find(({ path }) => one.from.startsWith(path));
    return part === undefined || isAllowed(one, part) ? [] : [`${one.from} imports ${one.to}. ${part.because}`];
  });
}

function isAllowed({ to, isPackage }: Import, { mayImport, refusedPackages = [] }: Part): boolean {
  if (!isPackage) return mayImport.some((path) => to.startsWith(path));
  return !refusedPackages.some((name) => to === name || to.startsWith(name.endsWith(':') ? name : `${name}/`));
}

/** One sentence for each import of a folder that comes later in its part, and for each folder that the map does not have. */
export function wrongLayers(imports: readonly Import[]): string[] {
  return imports.flatMap((one) =>
    Object.entries(layers).flatMap(([part, folders]) => {
      const from = folderIn(part, one.from);
      const to = folderIn(part, one.to);
      if (one.isPackage || from === undefined || to === undefined) return [];
      const unknown = [from, to].find((folder) => !folders.includes(folder));
      if (unknown !== undefined) return [`${part}${unknown} is not in lint/import-map.ts: say what it may import.`];
      if (folders.indexOf(to) <= folders.indexOf(from)) return [];
      return [`${one.from} imports ${one.to}, but ${part}${to} builds on ${part}${from}, not the other way round.`];
    }),
  );
}

/** The name of the folder of a part that a file is in; undefined for a file directly in the part, or elsewhere. */
function folderIn(part: string, path: string): string | undefined {
  if (!path.startsWith(part)) return undefined;
  const [folder, file] = path.slice(part.length).split('/');
  return file === undefined ? undefined : folder;
}
