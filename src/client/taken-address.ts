import { readdir, readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, join } from 'node:path';
import { decodeWhole } from '../shared/contract/json/utf8.ts';
import { errnoOf, unless } from '../shared/runtime/errno.ts';
import type { Places } from './places.ts';

/** The process that a registration names. */
type ProcessIdentity = { host: string; pid: number; startedAt: number };

/** A client that has not beaten for this long is not alive: the server goes by the same time. */
const ALIVE_MS = 30_000;
/** The start of one process, worked out twice, may differ by a little. */
const SAME_START_MS = 2000;

export function thisProcess(): ProcessIdentity {
  return { host: hostname(), pid: process.pid, startedAt: Math.round(Date.now() - process.uptime() * 1000) };
}

/**
 * Rejects when a living client of the app goes by this address, in whatever lane: the two would take each other's requests.
 * A client that died without a word does not keep its address.
 */
export async function refuseTakenAddress({ app, registration }: Places, address: string): Promise<void> {
  const lanes = await readdir(join(app, 'lane')).catch(unless('ENOENT', 'ENOTDIR'));
  for (const home of [app, ...(lanes ?? []).map((lane) => join(app, 'lane', lane))]) {
    const first = await livingIn(home, basename(registration));
    if (first !== undefined)
      throw new Error(
        `the address ${address} is in use by ${first}: close that client, or give this one another address`,
      );
  }
}

/** The owner of a registration, when that client lives. */
async function livingIn(home: string, name: string): Promise<string | undefined> {
  const [registration, heartbeat] = await Promise.all([
    read(join(home, name)),
    read(join(home, name.replace('m_', 'b_'))),
  ]);
  if (registration === undefined) return undefined;
  const { process: first, lastHeartbeat } = { ...registration, ...heartbeat };
  const ageMs = Date.now() - Number(lastHeartbeat ?? 0);
  if (!(ageMs < ALIVE_MS) || (isIdentity(first) && isDead(first))) return undefined;
  const since = `last heard of ${Math.max(0, Math.round(ageMs / 1000))} s ago`;
  return isIdentity(first)
    ? `process ${first.pid} on ${first.host}, started at ${new Date(first.startedAt).toISOString()}, ${since}`
    : `another client, ${since}`;
}

/** Whether a process of this machine is gone for certain. */
function isDead({ host, pid, startedAt }: ProcessIdentity): boolean {
  const own = thisProcess();
  if (host !== own.host) return false;
  // A container that was started again has the same host name and the same process id.
  if (pid === own.pid) return Math.abs(startedAt - own.startedAt) > SAME_START_MS;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return errnoOf(error) === 'ESRCH';
  }
}

async function read(path: string): Promise<Record<string, unknown> | undefined> {
  const bytes = await readFile(path).catch(unless('ENOENT', 'ENOTDIR'));
  const decoded = bytes && decodeWhole(bytes);
  try {
    const value: unknown = decoded?.kind === 'text' ? JSON.parse(decoded.text) : undefined;
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined; // whoever wrote that is no client of ours
  }
}

function isIdentity(value: unknown): value is ProcessIdentity {
  if (typeof value !== 'object' || value === null) return false;
  return 'host' in value && 'pid' in value && typeof value.pid === 'number' && 'startedAt' in value;
}
