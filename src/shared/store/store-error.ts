import { ReplyError } from 'ioredis';
import { errnoOf } from '../runtime/errno.ts';
import { StoreTakesNoWrites } from './redis/redis-connections.ts';

const BEGINNINGS = [
  "Stream isn't writeable",
  'Connection is closed',
  'Command timed out',
  'Command aborted due to connection close',
  'Reached the max retries per request limit',
];
const REFUSALS =
  /^(OOM|LOADING|READONLY|MISCONF|MASTERDOWN|CLUSTERDOWN|BUSY|NOREPLICAS|TRYAGAIN|MOVED|ASK|UNBLOCKED)\b|non local key/;

/** The command that the user may not run, if Redis names it: inside a script it does not. */
const FORBIDDEN = /^NOPERM.*?'([\w|]+)' command|^NOPERM|can't run this command/i;

/** Whether a reply timed out, which says nothing about the state of the queue store. */
export function tookTooLong(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('Command timed out');
}

/** Whether the queue store refused a command, and so did nothing. */
export function wasRefused(error: unknown): boolean {
  return error instanceof ReplyError;
}

/** Whether a failed command certainly changed nothing: it was not sent, or the queue store refused it. */
export function wasNotSent(error: unknown): boolean {
  return wasRefused(error) || (error instanceof Error && error.message.startsWith("Stream isn't writeable"));
}

/** Whether an error says that the queue store is away, or takes nothing at the moment: no fault of ours or the caller's. */
export function isStoreUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof StoreTakesNoWrites) return true;
  if (error instanceof ReplyError) return REFUSALS.test(error.message);
  return errnoOf(error).startsWith('ECONN') || BEGINNINGS.some((beginning) => error.message.startsWith(beginning));
}

/** Why the queue store cannot be used, without its address. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'Redis does not answer';
  if (error instanceof StoreTakesNoWrites) return error.message;
  const forbidden = error instanceof ReplyError ? FORBIDDEN.exec(error.message) : null;
  if (forbidden)
    return `the user of Redis may not use ${forbidden[1]?.toUpperCase() ?? 'a command'} (NOPERM): doctor prints the rights it needs`;
  const refusal = error instanceof ReplyError ? REFUSALS.exec(error.message)?.[0] : undefined;
  return refusal === undefined ? 'Redis does not answer' : `Redis takes no writes (${refusal})`;
}
