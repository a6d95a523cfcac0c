// What the lockfiles may bring in: packages that are pinned by a digest and come from the registry, that nobody has withdrawn,
// whose licence lets everybody use them, and that run scripts only where package.json says so. Known vulnerabilities are
// asked for as well, of registries that know them.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const read = (path) => JSON.parse(readFileSync(new URL(`../${path}`, import.meta.url), 'utf8'));
const folders = ['.', 'test/compat'];
const allowed = new Set(folders.flatMap((folder) => Object.keys(read(`${folder}/package.json`).allowScripts)));
const packages = folders
  .flatMap((folder) => Object.entries(read(`${folder}/package-lock.json`).packages))
  .filter(([path]) => path !== '');
const LICENCES = new Set(['MIT', 'Apache-2.0', 'ISC', '0BSD', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0']);

const problems = packages.flatMap(([path, { resolved, integrity, deprecated, license, hasInstallScript, dev }]) => {
  const name = path.split('node_modules/').at(-1) ?? path;
  return [
    !/^sha512-/.test(integrity ?? '') && 'has no sha512 digest',
    resolved && 'comes from elsewhere than the registry',
    deprecated && `is withdrawn: ${deprecated}`,
    !dev && !LICENCES.has(license) && `has the licence ${license}`,
    hasInstallScript && !allowed.has(name) && 'runs a script when it is installed',
  ]
    .filter(Boolean)
    .map((problem) => `${name} ${problem}`);
});

const audit = spawnSync('npm', ['audit', '--omit=dev', '--audit-level=moderate'], {
  encoding: 'utf8',
  timeout: 60_000,
});
const said = `${audit.stdout}${audit.stderr}`;
if (audit.status !== 0) {
  if (/audit endpoint returned an error/.test(said)) console.log('This registry knows no advisories: not asked for.');
  else problems.push(said);
}

for (const problem of problems) console.error(problem);
console.log(`${packages.length} packages, ${problems.length} problems`);
process.exitCode = problems.length > 0 ? 1 : 0;
