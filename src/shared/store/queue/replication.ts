// A file of its own: its test waits for replicas that come and go.

import type { Redis } from 'ioredis';

const WAIT_MS = 200;

/**
 * Resolves once a replica has everything that was written over this connection before, or after `waitMs`: without an answer
 * in time the write stands all the same. While one wait is under way, all who come meanwhile share the next one.
 */
export function createReplication(redis: Redis, hasReplicas: () => boolean, waitMs = WAIT_MS): () => Promise<void> {
  let current: Promise<void> | undefined;
  let next: Promise<void> | undefined;

  async function send(): Promise<void> {
    await redis.wait(1, waitMs).catch(() => {}); // whether it was kept cannot be known, and is not asked
    current = undefined;
  }

  return async function replicated(): Promise<void> {
    if (!hasReplicas()) return;
    if (!current) {
      current = send();
      return current;
    }
    next ??= current.then(() => {
      next = undefined;
      return replicated();
    });
    return next;
  };
}
