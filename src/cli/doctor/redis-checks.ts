import type { Redis } from 'ioredis';
import { createRedisWorkerRegistry, type WorkerReport } from '../../shared/queue/worker-registry.ts';
import { causeOf } from '../../shared/reasons/causes.ts';
import type { RedisAddress } from '../../shared/runtime/settings/redis-address.ts';
import { describeRedis } from '../../shared/runtime/settings/redis-url.ts';
import { createRedisConnections, type RedisConnections } from '../../shared/store/redis/redis-connections.ts';
import { createRedisDirectory } from '../../shared/store/registered-directory.ts';
import { type Clock, type Finding, fail, following, ok, warn } from './finding.ts';
import { checkReplicas } from './replica-checks.ts';

const CONNECT_WITHIN_MS = 3000;
const SLOW_MS = 10;

/** Checks the version, persistence, speed and clock of the queue store, and the connected workers. */
export async function checkRedis(address: RedisAddress): Promise<{ findings: Finding[]; directoryId: string | null }> {
  const where = describeRedis(address);
  const connections = createRedisConnections(address);
  // A connection to a replica is closed (`reconnect`), so what was pending is asked again on the next one.
  const redis = connections.open({
    connectTimeout: CONNECT_WITHIN_MS,
    commandTimeout: CONNECT_WITHIN_MS,
    maxRetriesPerRequest: 2,
  });
  try {
    const reason = await reasonNotReached(redis);
    if (reason !== undefined) {
      const advice =
        'Start Redis, or set REDIS_URL. (npm start without REDIS_URL needs none: it brings its own queue.)';
      return { findings: [fail('redis', `${where} does not answer: ${reason}`, advice)], directoryId: null };
    }
    return await examined(redis, { address, connections, where });
  } finally {
    redis.disconnect();
    connections.close();
  }
}

type Opened = { address: RedisAddress; connections: RedisConnections; where: string };

async function examined(redis: Redis, { address, connections, where }: Opened) {
  const { prefix } = address;
  const workers = [...(await createRedisWorkerRegistry(redis, prefix).read()).values()];
  const use = await checkUse(redis, connections);
  const ofUse = (finding: Finding): Finding => ({ ...finding, follows: use.level === 'fail' });
  const findings = [
    checkVersion(await redis.info('server'), where),
    use,
    rightsNeeded(prefix),
    { ...(await checkSpeed(redis)), clocks: [await clockOf(redis)] },
    ofUse(await checkWrites(redis, where, connections)),
    ...checkKeeping(await settingsOf(redis)),
    ...(await checkReplicas(redis, address)),
    ...byProblem(workers),
    checkWorkers(workers),
  ];
  return { findings, directoryId: await createRedisDirectory(redis, prefix).get() };
}

/** Undefined once connected; otherwise the last error within the time. */
function reasonNotReached(redis: Redis): Promise<string | undefined> {
  return new Promise((resolve) => {
    let reason = 'the connection was closed';
    const timer = setTimeout(() => resolve(reason), CONNECT_WITHIN_MS);
    const end = (how: string | undefined) => {
      clearTimeout(timer);
      resolve(how);
    };
    redis.once('ready', () => end(undefined));
    redis.on('error', (error) => {
      reason = error.message;
      // Behind Sentinels and in a Cluster the next one may answer.
      if (!redis.options.Connector) end(reason);
    });
  });
}

/** Tries the commands, because Redis has no query for whether a user has all rights. */
async function checkUse(redis: Redis, { examine }: RedisConnections): Promise<Finding> {
  const refusal = await examine(redis);
  return refusal === undefined
    ? ok('redis use', 'everything that the queue needs can be used, and a full Redis refuses writes (noeviction)')
    : fail('redis use', refusal, 'No process starts with it.');
}

function rightsNeeded(prefix: string): Finding {
  const commands = '+@all -@admin -@dangerous +info +role +config|get';
  return ok(
    'redis rights',
    `enough for a user of its own: ACL SETUSER rule-server on >PASSWORD ~${prefix}* &${prefix}* ${commands}`,
  );
}

function checkVersion(info: string, where: string): Finding {
  const version = /redis_version:(\S+)/.exec(info)?.[1] ?? 'unknown';
  const [major = 0] = version.split('.').map(Number);
  if (major >= 7) return ok('redis', `${where} is version ${version}`);
  return fail('redis', `${where} is version ${version}`, 'Use Redis 7 or newer, or Valkey.');
}

async function checkSpeed(redis: Redis): Promise<Finding> {
  const times: number[] = [];
  for (let count = 0; count < 5; count++) {
    const startedAt = performance.now();
    await redis.ping();
    times.push(performance.now() - startedAt);
  }
  const median = times.sort((a, b) => a - b)[2] ?? 0;
  const message = `answers in ${median.toFixed(1)} ms`;
  return median < SLOW_MS
    ? ok('redis speed', message)
    : warn('redis speed', message, 'Every call takes several of these: bring it closer.');
}

async function checkWrites(redis: Redis, where: string, connections: RedisConnections): Promise<Finding> {
  try {
    await connections.probe(redis);
    return ok('redis role', 'a master that takes writes');
  } catch (error) {
    const advice =
      'Every call is refused. After a fail-over let REDIS_URL lead to the new master; one that is full or cannot write to its disk says so here.';
    return fail('redis role', `${where}: ${error instanceof Error ? error.message : error}`, advice);
  }
}

async function settingsOf(redis: Redis): Promise<Map<string, string>> {
  const pairs = await Promise.all(
    ['maxmemory', 'appendonly', 'appendfsync'].map(
      (name) => redis.config('GET', name).catch(() => []), // managed services forbid it
    ),
  );
  const texts = pairs.flat().map(String);
  return new Map(texts.flatMap((text, index) => (index % 2 === 0 ? [[text, texts[index + 1] ?? '']] : [])));
}

function checkKeeping(settings: Map<string, string>): Finding[] {
  const maxMemory = settings.get('maxmemory');
  if (maxMemory === undefined)
    return [warn('redis settings', 'may not be read', 'Make sure of maxmemory and appendonly yes.')];
  return [
    maxMemory !== '0'
      ? ok('redis memory', `bounded at ${Math.round(Number(maxMemory) / 2 ** 20)} MiB`)
      : warn('redis memory', 'not bounded', 'Set maxmemory: a machine without memory kills processes.'),
    settings.get('appendonly') === 'yes'
      ? ok('redis persistence', `append-only file, fsync ${settings.get('appendfsync')}`)
      : warn(
          'redis persistence',
          'no append-only file',
          'With appendonly yes, waiting calls get their answers after a restart.',
        ),
  ];
}

async function clockOf(redis: Redis): Promise<Clock> {
  const [seconds, microseconds] = await redis.time();
  const aheadMs = Math.round(Number(seconds) * 1000 + Number(microseconds) / 1000 - Date.now());
  return { whose: 'Redis', aheadMs };
}

const NONE = 'Without a worker that takes executions every call gets 503 no-worker.';

function checkWorkers(workers: readonly WorkerReport[]): Finding {
  const taking = workers.filter(({ takesJobs }) => takesJobs).length;
  if (workers.length === 0)
    return following('workers', 'none is connected', `Start one: npx rule-server worker. ${NONE}`);
  const message = `${workers.length} connected, ${taking} take executions`;
  if (taking === 0) return following('workers', message, `${NONE} What the workers say is above.`);
  return taking < workers.length ? warn('workers', message, 'What the others say is above.') : ok('workers', message);
}

/** One finding per problem, however many workers have it: a check of the shared directory may report the same. */
function byProblem(workers: readonly WorkerReport[]): Finding[] {
  const having = workers.flatMap(({ name, fault }) => (fault === null ? [] : [{ name, problem: causeOf(fault) }]));
  return [...Map.groupBy(having, ({ problem }) => problem)].map(([problem, of]) =>
    following(
      'worker',
      `${of.map(({ name }) => name).join(', ')}: ${problem}`,
      'Check SHARED_DIR as that worker sees it.',
    ),
  );
}
