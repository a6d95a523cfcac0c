// A file of its own: its test has a clock of its own.

import { time } from '../../seams/time.ts';

/**
 * Rejects when no reply came within `timeoutMs`. A process that was too busy to look counts the replies that have arrived
 * meanwhile: its timer fires before its sockets are read.
 */
export function replyWithin<T>(timeoutMs: number, reply: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new Error(`Command timed out after ${timeoutMs} ms`));
    const timer = time.setTimeout(() => time.setImmediate(() => time.setImmediate(late)), timeoutMs);
    reply.then(resolve, reject).finally(() => time.clearTimeout(timer));
  });
}
