import type { Command } from 'commander';
import { exitCodesHelp } from '../terminal/exit-codes.ts';

const EXIT_CODES = exitCodesHelp([0, 1], {
  0: 'it was stopped, and let go of everything',
  1: 'it could not start and said why, or a second signal cut it off',
});

/** The --help of a service: it has settings in the place of options. */
const HELP = {
  all: `
Settings that matter most, all from the environment:
  SHARED_DIR  what clients and workers share (none: ./rule-data, with a demo client and its rules)
  PORT        where it listens (8080)
  REDIS_URL   none: the queue lives in this process

Example:
  PORT=8081 rule-server all
${EXIT_CODES}`,
  api: `
Settings that matter most, all from the environment (no SHARED_DIR: only workers have one):
  REDIS_URL   the queue (redis://127.0.0.1:6379)
  HOST, PORT  where it listens (127.0.0.1, 8080)
  API_KEYS    name:key,…; or API_KEYS_FILE, see "rule-server keys --help"
  ALLOW_ANONYMOUS=1  to listen to the network without keys, which otherwise stops the start

Example:
  REDIS_URL=redis://redis:6379 HOST=0.0.0.0 API_KEYS=me:$KEY rule-server api
${EXIT_CODES}`,
  worker: `
Settings that matter most, all from the environment:
  REDIS_URL    the queue (redis://127.0.0.1:6379)
  SHARED_DIR   the directory the clients share; must exist
  WORKER_PORT  /readyz and /metrics (0: off)

Example:
  REDIS_URL=redis://redis:6379 SHARED_DIR=/data WORKER_PORT=9090 rule-server worker
${EXIT_CODES}`,
  'demo-client': `
Settings, all from the environment:
  SHARED_DIR  what it shares with the workers (./rule-data)

Example:
  SHARED_DIR=/data rule-server demo-client
${EXIT_CODES}`,
};

/** The commands that start a service. `main.ts` starts it: here is only their help. */
export function describeServices(program: Command): void {
  const service = (name: keyof typeof HELP, description: string) =>
    program.command(name).description(description).addHelpText('after', HELP[name]);
  service('all', 'start API, worker and, without SHARED_DIR, a demo client in one process').alias('start');
  service('api', 'start the HTTP side; needs REDIS_URL, never SHARED_DIR');
  service('worker', 'start the side that writes and watches files; needs REDIS_URL and SHARED_DIR');
  service('demo-client', 'start the demo client (app 9001) in SHARED_DIR');
}
