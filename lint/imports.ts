import { join } from 'node:path';
import { wrongDirections, wrongLayers } from './check-imports.ts';
import { readImports } from './read-imports.ts';

// Part of `npm run lint`: refuses imports in a direction that lint/import-map.ts does not have, and folders that import each other.
const imports = await readImports(join(import.meta.dirname, '..'));
const complaints = [...wrongDirections(imports), ...wrongLayers(imports)];
for (const complaint of complaints) console.error(complaint);
if (complaints.length > 0) process.exitCode = 1;
else console.log(`Checked ${imports.length} imports.`);
