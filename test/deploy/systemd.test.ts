import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { readSettings } from '../../src/shared/runtime/settings/settings.ts';

const api = read('rule-server-api@.service');
const worker = read('rule-server-worker@.service');
const settings = Object.fromEntries(
  read('settings.example')
    .split('\n')
    .filter((line) => /^#?[A-Z]/.test(line))
    .map((line) => line.replace(/^#/, '').split(/=(.*)/, 2)),
);

it('an API gets more time to stop than its open calls may take', () => {
  expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(api)?.[1]) * 1000).toBeGreaterThan(readSettings({}).SHUTDOWN_GRACE_MS);
});

it('the example settings are settings of the service', () => {
  expect(readSettings(settings)).toMatchObject({ SHARED_DIR: '/srv/rule-data', HOST: '127.0.0.1' });
});

it('a worker may write its shared directory and nothing else, an API nothing at all', () => {
  expect(worker).toContain(`ReadWritePaths=${settings.SHARED_DIR}\n`);
  expect(api).not.toContain('ReadWritePaths');
  for (const unit of [api, worker]) expect(unit).toContain('ProtectSystem=strict');
});

it('signals reach the service and not npm', () => {
  for (const unit of [api, worker]) expect(unit).toMatch(/^ExecStart=\S+\/node bin\/rule-server\.js (api|worker)$/m);
});

function read(name: string): string {
  return readFileSync(new URL(`../../deploy/systemd/${name}`, import.meta.url), 'utf8');
}
