import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');

it.each([
  ['api', 'in a folder that is not there', 'missing/audit.jsonl'],
  ['all', 'in a folder that is not there', 'missing/audit.jsonl'],
  ['api', 'that is a folder', '.'],
])('%s: an audit log %s is named in one sentence, and ends the start with 1', async (role, _, path) => {
  const folder = await mkdtemp(join(tmpdir(), 'rule-server-'));
  const child = spawn(process.execPath, ['bin/rule-server.js', role], {
    cwd: ROOT,
    env: {
      PATH: process.env.PATH,
      PORT: '0',
      SHARED_DIR: folder,
      EMBEDDED_STORE: 'memory',
      AUDIT_LOG: join(folder, path),
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  });
  let said = '';
  child.stderr.on('data', (chunk) => {
    said += chunk;
  });
  const [code] = await once(child, 'exit');
  expect(code).toBe(1);
  expect(said).toMatch(/^[^\n]*AUDIT_LOG[^\n]*\n$/);
});
