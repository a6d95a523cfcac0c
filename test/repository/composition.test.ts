import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { apiWaitMs, readSettings } from '../../src/shared/runtime/settings/settings.ts';

const compose = read('docker-compose.yml');
const gateway = read('deploy/gateway/haproxy.cfg');
const defaults = readSettings({});

it('a call may last longer at the gateway than at the API', () => {
  for (const side of ['client', 'server']) {
    expect(milliseconds(gateway, new RegExp(`timeout ${side} (\\d+)s`))).toBeGreaterThan(apiWaitMs(defaults));
  }
});

it('an API instance gets more time to stop than its open calls may take, and the gateway more than that', () => {
  const api = milliseconds(service('api'), /stop_grace_period: (\d+)s/);
  expect(api).toBeGreaterThan(defaults.SHUTDOWN_GRACE_MS);
  expect(milliseconds(gateway, /hard-stop-after (\d+)s/)).toBeGreaterThan(api);
  expect(milliseconds(service('gateway'), /stop_grace_period: (\d+)s/)).toBeGreaterThan(api);
});

it('the API has no volume but the password of Redis, its keys and its audit log; the worker and the client share one', () => {
  expect(service('api').match(/^ {6}- .*:.*$/gm)).toEqual([
    '      - redis-password:/run/redis:ro',
    '      - ${' + 'KEYS_DIR:-keys}:/keys:ro',
    '      - ${' + 'AUDIT_DIR:-audit}:/audit',
  ]);
  expect(service('api')).not.toContain('*shared-directory');
  expect(service('worker')).toContain('- *shared-directory');
  expect(service('demo-client')).toContain('- *shared-directory');
});

it('every container has bounds, a log that is rotated, and no right that it does not use', () => {
  const limits = compose.split('x-limits: &limits')[1]?.split(/\n\n/, 1)[0] ?? '';
  for (const bound of [
    'read_only: true',
    'cap_drop:',
    'no-new-privileges',
    'mem_limit:',
    'cpus:',
    'pids_limit:',
    'max-size:',
  ])
    expect(limits).toContain(bound);
  const names = [...compose.matchAll(/^ {2}([a-z-]+):\n {4}<<: \*(?:limits|rule-server)$/gm)].map(([, name]) => name);
  const services = compose.split('\nservices:\n')[1]?.split('\nnetworks:\n')[0] ?? '';
  expect(names).toEqual([...services.matchAll(/^ {2}([a-z-]+):$/gm)].map(([, name]) => name));
});

it('Redis is in a network that only the APIs and the workers share, and wants a password', () => {
  const inStore = ['gateway', 'api', 'worker', 'prometheus', 'grafana', 'redis', 'demo-client'].filter((name) =>
    /networks: \[.*store.*\]/.test(service(name)),
  );
  expect(inStore).toEqual(['api', 'worker', 'redis']);
  expect(service('redis')).toContain('- /run/redis/redis.conf');
});

it('every setting of the service can be given to the composition', () => {
  const ownToTheContainer = [
    'QUEUE_URL',
    'SHARED_DIR',
    'EMBEDDED_STORE',
    'EMBEDDED_FLUSH',
    'HOST',
    'PORT',
    'WORKER_PORT',
  ];
  const known = Object.keys(readSettings(everySetting())).filter((name) => !ownToTheContainer.includes(name));
  const given = [...compose.matchAll(/^ {2}([A-Z_]+):/gm)].map(([, name]) => name);
  expect(given.sort()).toEqual(known.sort());
});

/** Settings without a default are only known when they are given. */
function everySetting(): Record<string, string> {
  const url = 'redis://127.0.0.1';
  return {
    QUEUE_URL: url,
    REDIS_URL: url,
    REDIS_PASSWORD_FILE: '/run/redis/password',
    SHARED_DIR: '/data',
    AUDIT_LOG: 'stdout',
    API_KEYS_FILE: '/keys/keys.yaml',
    TRUSTED_USER_HEADER: 'x-user',
    TRUSTED_PROXIES: '127.0.0.1',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318',
  };
}

function read(path: string): string {
  return readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
}

/** The lines of one service: everything indented deeper, up to the next service. */
function service(name: string): string {
  const [, after = ''] = compose.split(`\n  ${name}:\n`);
  return after.split(/\n {2}\S/, 1)[0] ?? '';
}

function milliseconds(text: string, pattern: RegExp): number {
  const [, seconds] = pattern.exec(text) ?? [];
  return Number(seconds) * 1000;
}
