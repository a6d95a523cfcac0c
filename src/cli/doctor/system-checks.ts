import { readFile } from 'node:fs/promises';
import { createHttpApi } from '../terminal/http-api.ts';
import { CommandFailed } from '../terminal/surroundings.ts';
import { type Finding, fail, following, ok, warn } from './finding.ts';

/** One watch per client's directory and file of its registration, one instance per process. */
const ENOUGH = new Map([
  ['max_user_watches', 8192],
  ['max_user_instances', 64],
  ['max_queued_events', 16_384],
]);

/** Names the Node version, and checks the inotify limits of Linux. */
export async function checkSystem(): Promise<Finding[]> {
  return [ok('node', `Node ${process.versions.node}`), ...(await checkWatching())];
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
  const clocks = Number.isNaN(date) ? [] : [{ whose: 'the API', aheadMs: date - before }];
  return [
    response.ok
      ? { ...ok('api', `${url} is ready`), clocks }
      : { ...following('api', `${url} is not ready: ${text}`, 'Its log says why.'), clocks },
    ...(refused === null ? [] : [fail('api key', refused, 'Give the key that the API knows.')]),
  ];
}
