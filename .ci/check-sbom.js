// check-sbom.js FOLDER: ends with an error unless `npm sbom` lists every package installed there, by name, version and digest.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = process.argv[2] ?? '.';
const sbom = execFileSync('npm', ['sbom', '--sbom-format', 'cyclonedx'], { cwd: folder, maxBuffer: 2 ** 26 });
const { components } = JSON.parse(String(sbom));
const listed = new Map(components.map(({ name, version, hashes }) => [`${name}@${version}`, hashes]));
const { packages } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'));
const installed = Object.entries(packages)
  .filter(([path, { optional }]) => path !== '' && !optional)
  .map(([path, { version }]) => `${path.split('node_modules/').at(-1)}@${version}`);
const missing = installed.filter((name) => !listed.get(name)?.length);
console.log(`${installed.length} packages are installed, missing in the list: ${missing.join(', ') || 'none'}`);
process.exitCode = installed.length > 0 && missing.length === 0 ? 0 : 1;
