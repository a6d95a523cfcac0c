import { join } from 'node:path';
import { wrongDirections, wrongLayers } from './check-imports.ts';
import { circles } from './circles.ts';
import { pastPorts } from './past-ports.ts';
import { readImports } from './read-imports.ts';
import { readSources, unusedExports } from './unused-exports.ts';

/** Imported from outside this repository, or by the path of a file that is built. */
const PUBLISHED = ['src/client/client.ts', 'src/client/anywhere.ts', 'src/client/http.ts', 'src/main.ts'];

// Part of `npm run lint`: refuses imports in a direction that lint/import-map.ts does not have, folders and files that import each other,
// exports that no other file imports, and ways past the ports.
const root = join(import.meta.dirname, '..');
const imports = await readImports(root);
const sources = await readSources(root);
const unused = unusedExports(sources, PUBLISHED);
const complaints = [
  ...wrongDirections(imports),
  ...wrongLayers(imports),
  ...circles(imports),
  ...unused,
  ...pastPorts(sources),
];
for (const complaint of complaints) console.error(complaint);
if (complaints.length > 0) process.exitCode = 1;
else console.log(`Checked ${imports.length} imports.`);
