import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

/** Where a command or a document makes the shared directory. */
const MADE_BY = ['Dockerfile', 'docker-compose.yml', 'docs/run/kubernetes.md'];
/** `chmod 2775 /data /data/mock` and `install -d … -m 2775 /data /data/mock`. */
const MAKES = /(?:chmod|-m) (\d{3,4})((?: \/\S+)+)/g;
const SHARED = /^\/(data|srv\/rule-data)$/;

it.each(MADE_BY)('%s: no client can put another directory in the place of one at the root of SHARED_DIR', (path) => {
  const modes = [...read(path).matchAll(MAKES)].flatMap(([, mode = '', paths = '']) =>
    paths
      .trim()
      .split(' ')
      .flatMap((each) => (SHARED.test(each) ? [Number.parseInt(mode, 8)] : [])),
  );
  expect(modes.length).toBeGreaterThan(0);
  const open = modes.filter((mode) => (mode & 0o022) !== 0 && (mode & 0o1000) === 0);
  expect(open.map((mode) => mode.toString(8))).toEqual([]);
});

it('the unit of a worker lets nobody else write what it makes for itself', () => {
  const umask = /^UMask=(\d+)$/m.exec(read('deploy/systemd/rule-server-worker@.service'))?.[1] ?? '0022';
  expect(Number.parseInt(umask, 8) & 0o022).toBe(0o022);
});
