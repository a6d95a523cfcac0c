import { inject } from 'vitest';
import { type Service, startService } from '../support/start-service.ts';

export type FuzzedService = Service & {
  /** What none of its answers may tell. */
  secrets: string[];
};

/** A service for many cases. */
export async function serveCases(settings: Record<string, string | number>): Promise<FuzzedService> {
  const all = {
    RESULT_TIMEOUT_MS: 5000,
    CLIENT_TIMEOUT_MS: 30_000,
    MAX_WAITS_PER_CLIENT: 2000,
    MAX_BODY_BYTES: 4096,
    ...settings,
  };
  const service = await startService({ settings: all });
  const redis = inject('sharedRedis');
  return { ...service, secrets: [service.sharedDir, process.cwd(), ...(redis ? [new URL(redis.url).host] : [])] };
}
