import { execFile } from 'node:child_process';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { openQueueBackend } from '../../src/shared/queue/open-queue-backend.ts';
import { redisAddress } from '../../src/shared/runtime/settings/redis-address.ts';
import { createMasterFinder } from '../../src/shared/store/redis/master-finder.ts';
import { freePort } from '../support/free-port.ts';
import { startRedisCluster } from '../support/redis-cluster.ts';
import { redisCommand } from '../support/redis-command.ts';
import { type RedisProcessOptions, startRedisProcess } from '../support/redis-process.ts';
import { portOf, SENTINEL_PASSWORD, startSentinels } from '../support/redis-sentinels.ts';
import { runDoctor } from '../support/run-doctor.ts';
import { startSlowPipe } from '../support/slow-pipe.ts';

const run = promisify(execFile);
const BIN = join(import.meta.dirname, '../../bin/rule-server.js');

describe.skipIf(!inject('hasRedisBinary'))('a Redis that can never serve', () => {
  it('stops the start of every process, which says what to change', async () => {
    const redis = await start();
    await redisCommand(redis.url, 'CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
    for (const role of ['api', 'worker'])
      expect(await refusedStart(role, { REDIS_URL: redis.url, PORT: '0' })).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/cannot be used: .*maxmemory-policy allkeys-lru.*noeviction\.\n$/),
      });
  });

  it('is a replica, a server without scripts, or a node of a Cluster that is named as one server', async () => {
    const [master, replica] = await Promise.all([start(), start()]);
    await redisCommand(replica.url, 'REPLICAOF', '127.0.0.1', portOf(master));
    expect(await refusal(replica.url)).toMatch(/^it is a replica, .* let REDIS_URL lead to the master/);
    const without = await start({ more: ['--rename-command', 'EVAL', ''] });
    expect(await refusal(without.url)).toMatch(/^EVAL cannot be used here .*not to a proxy/);
    await using cluster = await startRedisCluster({ masters: 1, replicas: 0 });
    const [node] = cluster.nodes;
    expect(await refusal(node?.url ?? '')).toBe('this is a node of a Cluster: use redis+cluster://');
    expect(await refusal(`redis+cluster://127.0.0.1:${portOf(master)}`)).toContain('cluster support disabled');
    expect(await refusal(cluster.url)).toBeUndefined();
  });
});

describe.skipIf(!inject('hasRedisBinary'))('doctor', () => {
  it('says of a replica far away that it is one: its own write has made all connections anew meanwhile', async () => {
    const [master, replica] = await Promise.all([start(), start()]);
    await redisCommand(replica.url, 'REPLICAOF', '127.0.0.1', portOf(master));
    await using far = await startSlowPipe(replica.url, { roundTripMs: 100, jitterMs: 0 });
    expect(await doctor({ REDIS_URL: far.url })).toMatchObject({
      'redis role': { level: 'fail', message: expect.stringContaining('READONLY') },
      workers: { message: expect.any(String) },
    });
  });
});

describe.skipIf(!inject('hasRedisBinary'))('Sentinels', () => {
  it('are named in the URL, have a password of their own, and doctor says what they say', async () => {
    await using sentinels = await startSentinels();
    const [first = ''] = sentinels.url.replace('redis+sentinel://', '').split(/[,/]/);
    expect(await refusal(`redis://:${SENTINEL_PASSWORD}@${first}`)).toMatch(/^this is a Sentinel: use redis\+sentinel/);
    expect(await refusedStart('worker', { REDIS_URL: sentinels.url })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('NOAUTH'),
    });
    const unknown = { REDIS_URL: `redis+sentinel://${first}/other`, SENTINEL_PASSWORD };
    expect(await refusedStart('worker', unknown)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the Sentinels know no master named "other"'),
    });

    const findings = await doctor({ REDIS_URL: sentinels.url, SENTINEL_PASSWORD });
    const { url } = await sentinels.master();
    expect(findings).toMatchObject({
      'redis role': { level: 'ok' },
      'redis use': { level: 'ok' },
      'redis master': { level: 'ok', message: `the Sentinels say that mymaster is at ${new URL(url).host}` },
      'redis replicas': { level: 'warn', message: '2 connected, min-replicas-to-write 0' },
    });
    await redisCommand(url, 'CONFIG', 'SET', 'min-replicas-to-write', '1');
    expect(await doctor({ REDIS_URL: sentinels.url, SENTINEL_PASSWORD })).toMatchObject({
      'redis replicas': { level: 'ok', message: '2 connected, min-replicas-to-write 1' },
    });
  });
});

describe.skipIf(!inject('hasRedisBinary'))('a Cluster', () => {
  it('is named by some of its nodes, and doctor says which one has the keys', async () => {
    await using cluster = await startRedisCluster({ masters: 3, replicas: 0 });
    const owner = await cluster.ownerOf('{orders}');
    expect(await doctor({ REDIS_URL: cluster.url, QUEUE_PREFIX: 'orders' })).toMatchObject({
      'redis role': { level: 'ok' },
      'redis use': { level: 'ok' },
      'redis master': { level: 'ok', message: `{orders} lies at ${new URL(owner.url).host}` },
      'redis replicas': { level: 'warn', message: 'the master has none' },
    });
  });

  it.each(['its nodes', 'this process'])('is not away because %s stood still for a second', async (who) => {
    await using cluster = await startRedisCluster({ masters: 3, replicas: 0 });
    const address = redisAddress(cluster.url, '{orders}');
    const finder = createMasterFinder(address);
    onTestFinished(() => finder.close());
    const master = await finder.find();
    for (const node of cluster.nodes) if (who === 'its nodes') await node.pause();
    const found = finder.find();
    found.catch(() => {}); // it is looked at later
    if (who === 'this process') for (const until = performance.now() + 1000; performance.now() < until; );
    else await delay(1000);
    for (const node of cluster.nodes) await node.resume();
    expect(await found).toEqual(master);
  });
});

describe.skipIf(!inject('hasRedisBinary'))('Redis over TLS', () => {
  it('is reached with an authority and a client certificate from files, and with nothing less', async () => {
    const files = await certificates();
    const port = String(await freePort());
    const keys = ['--tls-cert-file', files.cert, '--tls-key-file', files.key, '--tls-ca-cert-file', files.ca];
    await start({ more: ['--tls-port', port, ...keys] });
    const REDIS_URL = `rediss://localhost:${port}`;
    const full = { REDIS_URL, REDIS_CA_FILE: files.ca, REDIS_CERT_FILE: files.cert, REDIS_KEY_FILE: files.key };
    expect(await doctor(full)).toMatchObject({ redis: { level: 'ok' }, 'redis role': { level: 'ok' } });
    const { REDIS_CA_FILE, ...withoutAuthority } = full;
    expect(await doctor(withoutAuthority)).toMatchObject({
      redis: { level: 'fail', message: expect.stringMatching(/certificate/) },
    });
    expect(await doctor({ REDIS_URL, REDIS_CA_FILE })).toMatchObject({ redis: { level: 'fail' } });
  });
});

async function start(options: RedisProcessOptions = {}) {
  const redis = await startRedisProcess(options);
  onTestFinished(() => redis.stop());
  return redis;
}

async function refusal(url: string): Promise<string | undefined> {
  const backend = await openQueueBackend(url);
  onTestFinished(() => backend.close());
  return backend.examined;
}

async function refusedStart(role: string, environment: Record<string, string>) {
  const env = { PATH: process.env.PATH, ...environment };
  return run(process.execPath, [BIN, role], { env, timeout: 60_000 }).catch((error: unknown) => error);
}

async function doctor(environment: Record<string, string>): Promise<Record<string, unknown>> {
  const { findings } = await runDoctor(environment);
  return Object.fromEntries(findings.map((finding) => [finding.check, finding]));
}

/** An authority, and one certificate for localhost that serves both sides. */
async function certificates() {
  const folder = await mkdtemp(join(tmpdir(), 'rule-server-tls-'));
  const at = (name: string) => join(folder, name);
  const key = (name: string) => ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', at(name)];
  await writeFile(at('names'), 'subjectAltName=DNS:localhost\n');
  await run('openssl', [
    'req',
    '-x509',
    ...key('ca.key'),
    '-out',
    at('ca.pem'),
    '-days',
    '1',
    '-subj',
    '/CN=authority',
  ]);
  await run('openssl', ['req', ...key('server.key'), '-out', at('server.csr'), '-subj', '/CN=localhost']);
  await run('openssl', [
    ...['x509', '-req', '-in', at('server.csr'), '-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-CAcreateserial'],
    ...['-extfile', at('names'), '-days', '1', '-out', at('server.pem')],
  ]);
  return { ca: at('ca.pem'), cert: at('server.pem'), key: at('server.key') };
}
