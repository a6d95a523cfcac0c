import type { Telemetry } from 'bullmq';
import { type RedisAddress, redisAddress } from '../runtime/settings/redis-address.ts';
import type { QueueBackend } from './queue-backend.ts';
import { openRedis } from './redis/redis-backend.ts';
import { type EmbeddedFolder, openEmbedded } from './sqlite/sqlite-backend.ts';
/**
 * Opens the queue store at an address or a redis:// URL, or the embedded one when there is none: in `kept`, or in memory.
 * `telemetry` carries traces. Only `rule-server all` has no address, where neither `QUEUE_URL` nor `REDIS_URL` is set.
 */
export async function openQueueBackend(
  where: RedisAddress | string | undefined,
  telemetry?: Telemetry,
  kept?: EmbeddedFolder,
): Promise<QueueBackend> {
  if (where === undefined) return openEmbedded(telemetry, kept);
  return openRedis(typeof where === 'string' ? redisAddress(where) : where, telemetry);
}
