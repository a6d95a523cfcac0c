// Publishes the packages with their provenance, below the scope of bin/package-scope.js: `node bin/publish-packages.js`. Where a person has to
// do something first, it says what, publishes nothing and ends well. `--dry-run` does everything but the upload.
import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { linkReadme } from './package-readme.js';
import { PLACEHOLDER, SCOPE } from './package-scope.js';

const root = join(import.meta.dirname, '..');
const isDry = process.argv.includes('--dry-run');
const scope = process.env.PACKAGE_SCOPE ?? SCOPE;

const missing = [
  ...(scope === PLACEHOLDER ? ['put the scope that you own on npm into bin/package-scope.js'] : []),
  ...(process.env.NODE_AUTH_TOKEN || isDry ? [] : ['keep a token of its account as the secret NPM_TOKEN']),
];
if (missing.length > 0) tell(`Not published to npm. A person must ${missing.join(', and ')}.`);
else for (const folder of ['packages/rule-server-client', 'packages/rule-server-cli', '.']) publish(folder);

/** A package as `npm pack` makes it, with the scope before its name. */
function publish(folder) {
  const work = mkdtempSync(join(tmpdir(), 'publish-'));
  try {
    const packed = run('npm', ['pack', join(root, folder), '--pack-destination', work, '--loglevel=error']);
    run('tar', ['-xzf', join(work, packed.trim().split('\n').at(-1)), '-C', work]);
    const path = join(work, 'package/package.json');
    const { scripts: _, ...manifest } = JSON.parse(readFileSync(path, 'utf8'));
    const published = { ...manifest, ...repository(), name: `${scope}/${manifest.name}` };
    writeFileSync(path, `${JSON.stringify(published, null, 2)}\n`);
    linkReadme(join(work, 'package'));
    const how = isDry ? ['--dry-run'] : ['--provenance'];
    run('npm', ['publish', join(work, 'package'), '--access', 'public', ...how]);
    tell(`${isDry ? 'Would publish' : 'Published'} ${scope}/${manifest.name} ${manifest.version}.`);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** The registry compares the provenance with it. Only the workflow knows where the repository lies. */
function repository() {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: name } = process.env;
  return server && name ? { repository: { type: 'git', url: `git+${server}/${name}.git` } } : {};
}

function run(program, parameters) {
  const { status, stdout } = spawnSync(program, parameters, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  if (status !== 0) process.exit(status ?? 1);
  return String(stdout);
}

/** To the log, and in GitHub Actions to the page of the run. */
function tell(sentence) {
  console.log(sentence);
  if (process.env.GITHUB_STEP_SUMMARY) appendFileSync(process.env.GITHUB_STEP_SUMMARY, `${sentence}\n`);
}
