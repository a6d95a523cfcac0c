// Says what keeps a version from being released: `npm run release:check -- 0.2.0`. Everything that names the version must
// name this one, and the changelog must say what is in it.
import { readFileSync } from 'node:fs';

const version = process.argv[2] ?? JSON.parse(read('package.json')).version;
const escaped = version.replaceAll('.', '\\.');
const problems = [
  [/^\d+\.\d+\.\d+$/.test(version), `"${version}" is no version: give three numbers such as 0.2.0`],
  [JSON.parse(read('package.json')).version === version, 'package.json has another version'],
  [JSON.parse(read('package-lock.json')).version === version, 'package-lock.json has another version: run npm install'],
  ...['client', 'cli'].map((name) => [
    JSON.parse(read(`packages/rule-server-${name}/package.json`)).version === version,
    `packages/rule-server-${name}/package.json has another version`,
  ]),
  [chart('version') === version, 'the chart (deploy/helm/rule-server/Chart.yaml) has another version'],
  [chart('appVersion') === version, 'the chart installs another version (appVersion in Chart.yaml)'],
  [changes().length > 0, `CHANGELOG.md has no section "## ${version} - <date>" with an entry`],
  [!/^## Unreleased\n+(?!## )\S/m.test(read('CHANGELOG.md')), 'CHANGELOG.md still has entries under "Unreleased"'],
  [/image\.version="\$\{VERSION\}"/.test(read('Dockerfile')), 'the image has no version label'],
].flatMap(([isRight, problem]) => (isRight ? [] : [problem]));

for (const problem of problems) console.error(`- ${problem}`);
console.log(problems.length === 0 ? `${version} can be released.` : `${version} cannot be released yet.`);
process.exitCode = problems.length === 0 ? 0 : 1;

/** The entries of this version in the changelog. */
function changes() {
  const [, after = ''] = read('CHANGELOG.md').split(new RegExp(`^## ${escaped} - \\d{4}-\\d{2}-\\d{2}$`, 'm'));
  return after.split(/^## /m, 1)[0].match(/^- /gm) ?? [];
}

function chart(name) {
  return new RegExp(`^${name}: "?([^"\\n]+)"?$`, 'm').exec(read('deploy/helm/rule-server/Chart.yaml'))?.[1];
}

function read(path) {
  return readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
}
