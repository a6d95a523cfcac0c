import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

/** What the containers of the composition say themselves; of Redis they have one of their own, which needs no certificates. */
const OWN = new Set([
  ...['QUEUE_URL', 'REDIS_URL', 'REDIS_PASSWORD_FILE', 'REDIS_CA_FILE', 'REDIS_CERT_FILE', 'REDIS_KEY_FILE'],
  ...['SENTINEL_USERNAME', 'SENTINEL_PASSWORD', 'SENTINEL_PASSWORD_FILE'],
  ...['SHARED_DIR', 'EMBEDDED_STORE', 'EMBEDDED_FLUSH', 'HOST', 'PORT', 'WORKER_PORT'],
]);
/** Also those without a default, which are in no settings unless somebody gives them. */
const settings = ['src/shared/runtime/settings/settings.ts', 'src/shared/runtime/settings/redis-variables.ts'].flatMap(
  (path) => [...read(path).matchAll(/^ {2}([A-Z][A-Z_]+):/gm)].map(([, name = '']) => name),
);
const compose = read('docker-compose.yml');
const shared = compose.split('x-settings: &settings\n')[1]?.split('\n\n', 1)[0] ?? '';

it('the composition passes every setting of the service on', () => {
  expect(settings.length).toBeGreaterThan(45);
  const passed = [...shared.matchAll(/^ {2}([A-Z][A-Z_]+):/gm)].map(([, name = '']) => name);
  expect(settings.filter((name) => !OWN.has(name) && !passed.includes(name))).toEqual([]);
});

it('a file that a setting names can be brought into the containers that read it', () => {
  const [, api = ''] = compose.split('\n  api:\n');
  const volumes = [...(api.split(/\n {2}\S/, 1)[0] ?? '').matchAll(/^ {6}- (.+)$/gm)].map(([, volume = '']) => volume);
  expect(volumes.filter((volume) => /keys/i.test(volume))).not.toEqual([]); // API_KEYS_FILE
  expect(volumes.filter((volume) => /audit|log/i.test(volume))).not.toEqual([]); // AUDIT_LOG: its root is read-only
});
