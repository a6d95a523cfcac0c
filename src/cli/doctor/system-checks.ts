import { readFile } from 'node:fs/promises';
import { createHttpApi } from '../terminal/http-api.ts';
import { CommandFailed } from '../terminal/surroundings.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

/** One watch per client's directory and file of its registration, one instance per process. */
const ENOUGH = new Map([
  ['max_user_watches', 8192],
  ['max_user_instances', 64],
  ['max_queued_events', 16_384],
]);
const CLOCKS_MAY_DIFFER_MS = 2000;

/** Checks Node and the inotify limits of Linux. */
export async function checkSystem(): Promise<Finding[]> {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const isNew = major > 22 || (major === 22 && minor >= 22);
  const node = `Node ${process.versions.node}`;
  return [isNew ? ok('node', node) : fail('node', node, 'Install 22.22 or newer.'), ...(await checkWatching())];
}

async function checkWatching(): Promise<Finding[]> {
  if (process.platform !== 'linux') return [];
  const low: string[] = [];
  for (const [name, enough] of ENOUGH) {
    const value = Number(await readFile(`/proc/sys/fs/inotify/${name}`, 'utf8').catch(() => enough));
    if (value < enough) low.push(`fs.inotify.${name} is ${value}`);
  }
  return low.length === 0
    ? [ok('inotify', 'limits are high enough')]
    : [warn('inotify', low.join(', '), 'Raise them with sysctl: what cannot be watched is only polled.')];
}

/** Checks readiness and clock of an API, if one answers at the URL. */
export async function checkApi({ url, key }: { url: string; key: string | undefined }): Promise<Finding[]> {
  const api = createHttpApi({ url, key });
  const before = Date.now();
  const response = await api.open('/readyz').catch((error) => {
    if (error instanceof CommandFailed) return error.message;
    throw error;
  });
  if (typeof response === 'string') return [warn('api', `none answers at ${url}`, 'Start one, or name it with --url.')];
  const text = await response.text();
  const refused =
    key === undefined
      ? null
      : await api.open('/session').then(
          () => null,
          (error) => String(error.message ?? error),
        );
  const date = Date.parse(response.headers.get('date') ?? '');
  const aheadMs = date - before;
  return [
    response.ok
      ? ok('api', `${url} is ready`)
      : { ...fail('api', `${url} is not ready: ${text}`, 'Its log says why.'), follows: true },
    ...(refused === null ? [] : [fail('api key', refused, 'Give the key that the API knows.')]),
    { ...apiClock(aheadMs), clocks: Number.isNaN(aheadMs) ? [] : [{ whose: 'the API', aheadMs }] },
  ];
}

function apiClock(aheadMs: number): Finding {
  return Math.abs(aheadMs) < CLOCKS_MAY_DIFFER_MS
    ? ok('api clock', 'is that of this machine')
    : warn('api clock', `${Math.round(aheadMs / 1000)} s ahead of this machine`, 'Run NTP on all machines.');
}
