import { inject } from 'vitest';
import { startRedis } from '../support/redis.ts';
import { type Service, startService } from '../support/start-service.ts';

export type FuzzedService = Service & {
  /** What none of its answers may tell. */
  secrets: string[];
};

/** A service for many cases: on Redis where there is one, so that nothing waits for an embedded database. */
export async function serveCases(settings: Record<string, string | number>): Promise<FuzzedService> {
  const choice = inject('redis');
  const redis = choice.kind === 'unavailable' ? undefined : await startRedis(choice);
  const all = { RESULT_TIMEOUT_MS: 4000, MAX_WAITS_PER_CLIENT: 2000, MAX_BODY_BYTES: 4096, ...settings };
  const service = await startService({ queueUrl: redis?.url, settings: all });
  const secrets = [service.sharedDir, process.cwd(), ...(redis ? [new URL(redis.url).host] : [])];
  const stop = () => service.stop().finally(() => redis?.stop());
  return { ...service, secrets, stop, [Symbol.asyncDispose]: stop };
}
