import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const read = (path: string) => readFileSync(join(import.meta.dirname, '../..', path), 'utf8');

type Package = { resolved?: string; integrity?: string; hasInstallScript?: boolean };
const lockfile: { packages: Record<string, Package> } = JSON.parse(read('package-lock.json'));
const { allowScripts }: { allowScripts: Record<string, boolean> } = JSON.parse(read('package.json'));
const packages = Object.entries(lockfile.packages).filter(([path]) => path !== '');
const nameOf = (path: string) => path.split('node_modules/').at(-1) ?? path;

it('every package is pinned by its digest, wherever a registry mirror has it from', () => {
  expect(packages.length).toBeGreaterThan(100);
  expect(packages.filter(([, { integrity }]) => !integrity?.startsWith('sha512-')).map(([path]) => path)).toEqual([]);
  expect(packages.filter(([, { resolved }]) => resolved).map(([path]) => path)).toEqual([]);
});

it('one package may run a script when it is installed, and every other one that has one is refused by name', () => {
  const withScript = packages.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => nameOf(path));
  expect(withScript.filter((name) => !(name in allowScripts))).toEqual([]);
  expect(Object.keys(allowScripts).filter((name) => allowScripts[name])).toEqual(['node']);
});

it('the image runs as a user of its own, by number, and installs without scripts', () => {
  const dockerfile = read('Dockerfile');
  const last = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '));
  expect([...last.matchAll(/^USER (.+)$/gm)].map(([, user]) => user)).toEqual(['1000:1000']);
  const installs = dockerfile.match(/npm (ci|install).*/g) ?? [];
  expect(installs.length).toBeGreaterThan(0);
  for (const install of installs) expect(install).toContain('--ignore-scripts');
});
