/**
 * Fuzzes the running service by its own description: schemathesis (from PyPI) makes requests out of /openapi.json, good and
 * bad ones, and checks that every answer is documented and matches its schema. `npm run test:openapi`; needs python3.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { access, mkdtemp, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { chooseRedis } from '../support/choose-redis.ts';
import { freePort } from '../support/free-port.ts';
import { startRedis } from '../support/redis.ts';
import { checkOutput, INPUT_MARKER, keepOutput, keepWritten, noteSettings } from '../support/written-output.ts';

const VERSION = '4.32.5';
const BIN = join(import.meta.dirname, '../../bin/rule-server.js');
const SECONDS = 60;
const START_WITHIN_MS = 60_000;
const STOP_WITHIN_MS = 30_000;

/** 503 and 504 are real answers here; a DELETE cancels, and what it cancelled can still be read; and a description cannot say "one of these two parameters", or what a cursor is. */
const NOT_CHECKED = ['not_a_server_error', 'positive_data_acceptance', 'use_after_free'];

/** OpenAPI 3.1 knows streams as one text only, schemathesis checks each event of them. */
const STREAMS = ['followExecution', 'followBatch'];

/** Every request has it, and hooks.py puts the other mark into every input: neither may be in anything that the service writes. */
const KEY = randomBytes(16).toString('hex');
const settings = { API_KEYS: `tests:${KEY}` };

const output = keepOutput();
noteSettings(settings);
const schemathesis = await install();
const directory = await mkdtemp(join(tmpdir(), 'rule-server-openapi-'));
const url = `http://127.0.0.1:${await freePort()}`;
const choice = await chooseRedis();
const redis = choice.kind === 'unavailable' ? undefined : await startRedis(choice);
console.log(`Queue: ${redis ? `Redis (${choice.kind})` : 'embedded'}`);
const service = startService(new URL(url).port, redis?.url);
try {
  await untilReady();
  const failed = await run(schemathesis, [
    ...['run', `${url}/openapi.json`, '--max-time', String(SECONDS), '--request-timeout', '20', '--seed', '1'],
    ...['--header', `Authorization: Bearer ${KEY}`],
    ...['--exclude-checks', NOT_CHECKED.join(','), ...STREAMS.flatMap((id) => ['--exclude-operation-id', id])],
  ]);
  console.log(failed ? '0 passed, 1 failed' : '1 passed, 0 failed');
  process.exitCode = failed ? 1 : 0;
} finally {
  const closed = once(service, 'close');
  service.kill();
  const stopped = await Promise.race([closed.then(() => true), setTimeout(STOP_WITHIN_MS, false, { ref: false })]);
  if (!stopped) {
    console.log(`The service did not stop within ${STOP_WITHIN_MS} ms.`);
    process.exitCode = 1;
    service.kill('SIGKILL');
    await closed;
  }
  await redis?.stop();
  await rm(directory, { recursive: true, force: true });
}
checkOutput(output);

/** The whole service in one process with its demo client, and short waits; on Redis where there is one. */
function startService(port: string, queueUrl: string | undefined): ChildProcess {
  const { PATH, HOME } = process.env;
  const env = {
    PATH,
    HOME,
    PORT: port,
    LOG_LEVEL: 'debug',
    RESULT_TIMEOUT_MS: '1000',
    QUEUE_TIMEOUT_MS: '2000',
    EMBEDDED_STORE: 'memory',
  };
  const queue = queueUrl === undefined ? {} : { QUEUE_URL: queueUrl };
  const child = spawn(process.execPath, [BIN, 'all'], {
    cwd: directory,
    env: { ...env, ...settings, ...queue },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (written) => keepWritten('service', written));
  child.stderr.pipe(process.stderr);
  return child;
}

async function untilReady(): Promise<void> {
  for (const deadline = Date.now() + START_WITHIN_MS; Date.now() < deadline; await setTimeout(200)) {
    const answer = await fetch(`${url}/readyz`).catch(() => undefined);
    if (answer?.ok) return;
  }
  throw new Error(`the service was not ready after ${START_WITHIN_MS} ms`);
}

/** schemathesis in a virtual environment of its own, made once per version. */
async function install(): Promise<string> {
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
  const environment = join(cache, 'rule-server-openapi', VERSION);
  const program = join(environment, 'bin', 'schemathesis');
  const isThere = await access(program).then(
    () => true,
    () => false,
  );
  if (isThere) return program;
  if (await run('python3', ['-m', 'venv', environment])) throw new Error('python3 with venv is needed');
  if (await run(join(environment, 'bin', 'pip'), ['install', '--quiet', `schemathesis==${VERSION}`]))
    throw new Error('schemathesis could not be installed from PyPI');
  return program;
}

/** Runs a program to its end; true when it failed. */
async function run(command: string, parameters: string[]): Promise<boolean> {
  const env = {
    ...process.env,
    PYTHONPATH: import.meta.dirname,
    PYTHONDONTWRITEBYTECODE: '1',
    SCHEMATHESIS_HOOKS: 'hooks',
    INPUT_MARKER,
  };
  const child = spawn(command, parameters, { cwd: tmpdir(), env, stdio: ['ignore', 'inherit', 'inherit'] });
  const [code] = await once(child, 'exit');
  return code !== 0;
}
