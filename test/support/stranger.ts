import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Whether this test run may act as other users of the machine. */
export const canActAsOthers = process.platform === 'linux' && process.getuid?.() === 0;

/** What a process runs under that is to begin with this umask. */
export const withUmask = (umask: string): string[] => ['sh', '-c', `umask ${umask}; exec "$@"`, 'sh'];

/** What a process runs under that is to be this user, in these groups, of which the first is its own. */
export const asUser = (uid: number, groups: number[]): string[] => [
  ...['setpriv', '--reuid', String(uid), '--regid', String(groups[0]), '--groups', groups.join(',')],
];

/** A user of the machine who may be in one group of others. Nobody in /etc/passwd has these numbers. */
export type Stranger = { uid: number; gid: number };

/** Runs a line of shell as that user, and tells what it wrote; `null` when the system refused. */
export async function tryAs({ uid, gid }: Stranger, line: string): Promise<string | null> {
  const as = ['--reuid', String(uid), '--regid', String(gid), '--clear-groups', 'sh', '-ec', line];
  return run('setpriv', as, { cwd: '/' }).then(
    ({ stdout }) => stdout,
    () => null,
  );
}
