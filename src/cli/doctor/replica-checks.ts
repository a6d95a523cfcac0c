import type { Redis } from 'ioredis';
import type { RedisAddress } from '../../shared/runtime/settings/redis-address.ts';
import { createMasterFinder, nameOf } from '../../shared/store/redis/master-finder.ts';
import { type Finding, ok, warn } from './finding.ts';

/** Checks what a fail-over would rely on: the master's address, its replicas, and whether writes wait for them. */
export async function checkReplicas(redis: Redis, address: RedisAddress): Promise<Finding[]> {
  const findings = address.kind === 'single' ? [] : [await checkMaster(address)];
  const [role, , replicas] = await redis.role().catch(() => ['unknown']);
  const count = role === 'master' && Array.isArray(replicas) ? replicas.length : 0;
  if (count === 0)
    return address.kind === 'single'
      ? []
      : [...findings, warn('redis replicas', 'the master has none', 'No fail-over is possible: start a replica.')];
  return [...findings, checkWaiting(count, await redis.config('GET', 'min-replicas-to-write').catch(() => []))];
}

async function checkMaster(address: RedisAddress): Promise<Finding> {
  const finder = createMasterFinder(address);
  try {
    const by =
      address.kind === 'sentinel' ? `the Sentinels say that ${address.masterName} is` : `${address.prefix} lies`;
    return ok('redis master', `${by} at ${nameOf(await finder.find())}`);
  } finally {
    finder.close();
  }
}

function checkWaiting(replicas: number, setting: unknown): Finding {
  const least = Array.isArray(setting) ? Number(setting[1] ?? 0) : 0;
  const message = `${replicas} connected, min-replicas-to-write ${least}`;
  return least > 0
    ? ok('redis replicas', message)
    : warn(
        'redis replicas',
        message,
        'CONFIG SET min-replicas-to-write 1: a master that is cut off from its replicas goes on to take what a fail-over then loses.',
      );
}
