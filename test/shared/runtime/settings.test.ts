import { describe, expect, it } from 'vitest';
import { CLAIM_KEPT_MS } from '../../../src/shared/contract/claim-age.ts';
import {
  apiWaitMs,
  BadSettings,
  misspeltSettings,
  queueUrlOf,
  readSettings,
  refuseOpenDoor,
} from '../../../src/shared/runtime/settings/settings.ts';

describe('settings', () => {
  it('have defaults for everything, and an empty variable is one that was not given', () => {
    const settings = readSettings({ PORT: '', QUEUE_URL: '', PATH: '/usr/bin' });
    expect(settings).toMatchObject({
      HOST: '127.0.0.1',
      PORT: 8080,
      RESULT_TIMEOUT_MS: 60_000,
      QUEUE_TIMEOUT_MS: 10_000,
      MAX_BODY_BYTES: 1_048_576,
      MAX_RESULT_BYTES: 8_388_608,
    });
    expect(queueUrlOf(settings)).toBeUndefined();
  });

  it('have no space around them: a secret from a file ends with a newline', () => {
    const given = { PORT: ' 8081\n', REDIS_URL: 'redis://127.0.0.1:6379\r\n' };
    expect(readSettings(given)).toMatchObject({
      PORT: 8081,
      REDIS_URL: 'redis://127.0.0.1:6379',
    });
  });

  it('name the Service of Kubernetes whose address is in the place of a port', () => {
    expect(() => readSettings({ WORKER_PORT: 'tcp://10.0.0.1:9090' })).toThrow(
      /WORKER_PORT .*enableServiceLinks: false/,
    );
  });

  it('that are misspelt are named with the one that was meant, and no other variable is', () => {
    const environment = { RESULT_TIMEOUT: '5', MAX_QUEUD: '1', PATH: '/bin', HOME: '/', NODE_ENV: 'test', PORT: '1' };
    expect(misspeltSettings({ ...environment, RESULT_TIMEOUT_MS: '5' })).toEqual([
      { name: 'RESULT_TIMEOUT', meant: 'RESULT_TIMEOUT_MS' },
      { name: 'MAX_QUEUD', meant: 'MAX_QUEUED' },
    ]);
  });

  it.each([
    ['PORT', '65536'],
    ['PORT', '80a'],
    ['PORT', '-1'],
    ['PORT', '8 0'],
    ['PORT', 'udp://10.0.0.1:80'],
    ['WORKER_PORT', 'tcp://10.0.0.1:9090'],
    ['SHARED_DIR', '~/rule-data'],
    ['API_KEYS_FILE', '~/keys.yaml'],
    ['REDIS_CA_FILE', '~/ca.pem'],
    ['AUDIT_LOG', '~'],
    ['WORKER_PORT', '1e3'],
    ['RESULT_TIMEOUT_MS', '60s'],
    ['RESULT_TIMEOUT_MS', '99'],
    ['RESULT_TIMEOUT_MS', '1.5'],
    ['POLL_INTERVAL_MS', '0'],
    ['CLIENT_TIMEOUT_MS', 'NaN'],
    ['QUEUE_TIMEOUT_MS', 'Infinity'],
    ['SHUTDOWN_GRACE_MS', '99999999999999999999'],
    ['WORKER_CONCURRENCY', '0'],
    ['MAX_QUEUED', '0'],
    ['MAX_WAITS_PER_CLIENT', '0'],
    ['MAX_BODY_BYTES', '1'],
    ['MAX_RESULT_BYTES', '999999999999'],
    ['HISTORY_COUNT', '-1'],
    ['HISTORY_SECONDS', '1'],
    ['HISTORY_BYTES', 'all'],
    ['QUEUE_URL', 'http://127.0.0.1'],
    ['REDIS_URL', '127.0.0.1:6379'],
    ['API_KEYS', 'no-colon'],
    ['API_KEYS', 'name:short'],
    ['API_KEYS', 'name:0123456789abcdefgü'],
    ['API_KEYS', 'a:0123456789abcdef,a:fedcba9876543210'],
    ['API_KEYS', ':0123456789abcdef'],
    ['LOG_LEVEL', 'loud'],
    ['ALLOW_ANONYMOUS', 'yes'],
    ['TRUSTED_PROXIES', 'proxy.internal'],
    ['TRUSTED_PROXIES', '10.0.0.0/33'],
    ['TRUSTED_USER_HEADER', 'X Email'],
    ['MASK', 'customer.phone'],
    ['MASK', '0:customer.phone'],
    ['MASK', '7:customer..phone'],
    ['MASK', '7:'],
    ['MASK', '7:a,8:b['],
    ['MASK', '99999999999:a'],
    ['HISTORY_OFF', 'off'],
    ['HISTORY_OFF', '7,x'],
    ['HISTORY_OFF', '-1'],
  ])('%s=%s stops the start and is named', (name, value) => {
    expect(() => readSettings({ [name]: value })).toThrow(BadSettings);
    expect(() => readSettings({ [name]: value })).toThrow(
      new RegExp(`^Settings that cannot be used: ${name} must be `),
    );
  });

  it('all bad ones are named at once, and no key is ever printed', () => {
    const read = () => readSettings({ PORT: 'x', LOG_LEVEL: 'x', API_KEYS: 'team:top-secret' });
    expect(read).toThrow(/PORT must be .*; API_KEYS must be .*; LOG_LEVEL /);
    expect(read).not.toThrow(/top-secret/);
  });

  it('who listens to the network without keys says so, or does not start', () => {
    for (const HOST of ['0.0.0.0', '::', '10.1.2.3', 'api']) {
      expect(() => refuseOpenDoor(readSettings({ HOST })), HOST).toThrow(/ALLOW_ANONYMOUS=1/);
      for (const more of [{ API_KEYS: 'a:0123456789abcdef' }, { API_KEYS_FILE: 'keys.yaml' }, { ALLOW_ANONYMOUS: '1' }])
        expect(() => refuseOpenDoor(readSettings({ HOST, ...more }))).not.toThrow();
      expect(() => refuseOpenDoor(readSettings({ HOST, ALLOW_ANONYMOUS: '0' }))).toThrow(BadSettings);
    }
    for (const HOST of ['127.0.0.1', 'localhost', '::1', '127.0.0.9'])
      expect(() => refuseOpenDoor(readSettings({ HOST })), HOST).not.toThrow();
  });

  it('a header that names people needs proxies that may send it', () => {
    expect(() => readSettings({ TRUSTED_USER_HEADER: 'X-Email' })).toThrow(/TRUSTED_PROXIES must say/);
  });

  it('QUEUE_URL wins over REDIS_URL', () => {
    const urls = { QUEUE_URL: 'rediss://u:p@one:1/2', REDIS_URL: 'redis://two' };
    expect(queueUrlOf(readSettings(urls))).toBe(urls.QUEUE_URL);
    expect(queueUrlOf(readSettings({ REDIS_URL: urls.REDIS_URL }))).toBe(urls.REDIS_URL);
  });

  it('deadlines nest: the API waits longer than the queue and the client may take together', () => {
    expect(apiWaitMs(readSettings({}))).toBe(80_000);
  });

  it('no wait can be longer than its claim is kept', () => {
    expect(() => readSettings({ RESULT_TIMEOUT_MS: String(CLAIM_KEPT_MS) })).toThrow(/RESULT_TIMEOUT_MS/);
  });
});
