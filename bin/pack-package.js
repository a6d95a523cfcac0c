// Packs one package under a version of its own: `node bin/pack-package.js client|cli|server FOLDER`. npm takes a tarball of a version that it has
// seen from its cache, so two states of the sources must never have one version. The checkout is not changed. Prints the tarball's path.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { linkReadme } from './package-readme.js';

const root = join(import.meta.dirname, '..');
const folders = { client: 'packages/rule-server-client', cli: 'packages/rule-server-cli', server: '.' };
const [which = '', to = '.'] = process.argv.slice(2);
const folder =
  folders[which] ??
  fail('say which package, and where the tarball goes: client ../shop, cli ../shop, or server ../shop');
const work = mkdtempSync(join(tmpdir(), 'pack-'));
try {
  const packed = run('npm', ['pack', join(root, folder), '--pack-destination', work, '--loglevel=error']);
  run('tar', ['-xzf', join(work, lastLine(packed)), '-C', work]);
  const path = join(work, 'package/package.json');
  const manifest = JSON.parse(readFileSync(path, 'utf8'));
  writeFileSync(path, `${JSON.stringify({ ...manifest, version: versionOf(manifest.version) }, null, 2)}\n`);
  linkReadme(join(work, 'package'));
  const how = ['--pack-destination', resolve(to), '--ignore-scripts', '--loglevel=error'];
  console.log(join(resolve(to), lastLine(run('npm', ['pack', join(work, 'package'), ...how]))));
} finally {
  rmSync(work, { recursive: true, force: true });
}

/** That of a release for its tag; else the next one's, with the commit: 0.3.0-dev.471.g612cb1e6, and the time where files are changed. */
function versionOf(released) {
  const changed = run('git', ['status', '--porcelain']) !== '';
  const tags = run('git', ['tag', '--points-at', 'HEAD']).split('\n');
  if (!changed && tags.includes(`v${released}`)) return released;
  const [major, minor] = released.split('.').map(Number);
  const commit = `${run('git', ['rev-list', '--count', 'HEAD'])}.g${run('git', ['rev-parse', '--short=8', 'HEAD'])}`;
  const time = changed ? `.changed.${new Date().toISOString().replace(/\D/g, '')}` : '';
  return `${major}.${minor + 1}.0-dev.${commit}${time}`;
}

function lastLine(text) {
  return text.split('\n').at(-1);
}

function run(program, parameters) {
  const { status, stdout } = spawnSync(program, parameters, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  if (status !== 0) fail(`${program} ${parameters.join(' ')} ended with ${status}`);
  return String(stdout).trim();
}

function fail(why) {
  console.error(why);
  process.exit(1);
}
