// `node bench/search.ts`: the search of GET …/executions through 10,000 kept runs of five rules, with three releases between them. The
// inputs (1 KB each) come from a seed, so what a search must find is known here without the service: each search is followed through its
// cursors to the end and compared with that. Beside it: the slow log of Redis, how late the event loop of the API was by its own metrics,
// and a /healthz every 10 ms. A row that found anything else is WRONG, one beyond a limit (`LIMITS`) names it, and so does the exit code. The
// limits are those of a quiet machine. Linux, redis-server.
//   STORE=redis|embedded|both  RUNS=10000  LIMIT=100  SEED=1  CALLERS=64
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { z } from 'zod';
import { createRuleClient, leavesFor, type RuleClient } from '../src/client/client.ts';
import { replaceFile } from '../src/client/replace-file.ts';
import { freePort, startRedis, startService, stop, untilReady } from './processes.ts';
import { makeSharedDir } from './set-up.ts';

const { STORE = 'both', RUNS = '10000', LIMIT = '100', SEED = '1', CALLERS = '64' } = process.env;
const APP = 7;
const RULES = [1, 2, 3, 4, 5];
const KEYS = { ann: 'bench-key-of-ann-0001', bob: 'bench-key-of-bob-0002' };
const MASKED_PATH = 'card.number';
/** The runs are made in so many parts with nothing on its way between them; these begin with a release. */
const PARTS = 10;
const RELEASES_BEFORE = new Set([3, 6, 8]);
const WINDOW_PART = 5;
const RANGE = { from: 250.5, below: 260.25 };
const PING_EVERY_MS = 10;
const SLOW_MICROS = 5000;
const KEPT_WITHIN_MS = 30_000;
const IDLE_MS = 2000;
/** Of one search, followed to its end: commands that took Redis longer than 5 ms, how late the loop of the API was, the time of all of it. */
const LIMITS = { slowCommands: 0, loopMs: 20, totalMs: 2000 };
/** A list with more answers than this goes round in circles. */
const MAX_ANSWERS = (2 * Number(RUNS)) / Number(LIMIT) + 100;

const WORDS = 'amber bridge canvas dune ember fjord garnet harbor iris jade kelp lotus'.split(' ');
const refusalOf = (id: bigint) => `the acquirer declined order ${id}`;
const minOf = (version: number) => 100 * version;

const answerSchema = z.object({ mockId: z.string(), success: z.boolean(), error: z.string().nullable() });
const pageSchema = z.object({
  items: z.array(z.object({ mockId: z.string(), rules: z.object({ released: z.number().nullable() }).nullable() })),
  nextCursor: z.string().nullable(),
  searched: z.object({ executions: z.int(), withoutInput: z.int() }).optional(),
});
const slowSchema = z.array(z.tuple([z.int(), z.int(), z.int(), z.array(z.string())]).rest(z.unknown()));

type Store = 'redis' | 'embedded';
type Key = keyof typeof KEYS;
/** What is known here of a run. `error`: how its client failed. */
type Run = {
  mockId: string;
  key: Key;
  input: string;
  uid: number | string;
  id: bigint;
  cost: number;
  part: number;
  error: string;
};
type Service = { url: string; redis: Redis | undefined; close: () => Promise<void> };
type Made = { runs: Run[]; startedAt: number[] };
type Search = { name: string; query: Record<string, string | string[]>; fits: (run: Run) => boolean };
type Followed = { found: string[]; answers: number[]; searched: number; firstMs: number | null; totalMs: number };

for (const store of ['redis', 'embedded'] as const) if (STORE === 'both' || STORE === store) await measure(store);

async function measure(store: Store): Promise<void> {
  const sharedDir = await makeSharedDir();
  const service = await start(store, sharedDir);
  try {
    const startedAt = performance.now();
    const made = await makeRuns(service.url, sharedDir);
    const seconds = (performance.now() - startedAt) / 1000;
    const { runs } = made;
    console.log(
      `\n${store === 'redis' ? '1 API, 1 worker, Redis' : 'all in one process, embedded store on disk'}: ${runs.length} runs of ` +
        `${RULES.length} rules made in ${seconds.toFixed(0)} s, ${runs.filter(({ error }) => error !== '').length} failed as they should, ` +
        `inputs of ${(runs.reduce((sum, { input }) => sum + input.length, 0) / runs.length).toFixed(0)} bytes; ${LIMIT} an answer`,
    );
    await untilAllKept(service.url, runs.length);
    await loopDelay(service.url);
    await delay(IDLE_MS);
    console.log(`event loop of the API while nobody calls, p99 / max: ${(await loopDelay(service.url)).told}`);
    await searchAll(service, made);
  } finally {
    await service.close();
    await rm(sharedDir, { recursive: true, force: true });
  }
}

async function start(store: Store, sharedDir: string): Promise<Service> {
  const [port, redisPort] = [await freePort(), await freePort()];
  const common = {
    ...{ SHARED_DIR: sharedDir, PORT: String(port), MASK: `${APP}:${MASKED_PATH}` },
    API_KEYS: Object.entries(KEYS)
      .map(([name, key]) => `${name}:${key}`)
      .join(),
    ...{ HISTORY_COUNT: String(2 * Number(RUNS)), HISTORY_BYTES: String(1024 ** 3) },
    ...{ KEY_CALLS_PER_SECOND: '1000000', KEY_OPEN_CALLS: '1000000' },
  };
  const url = `http://127.0.0.1:${port}`;
  const onRedis = store === 'redis' ? { ...common, REDIS_URL: `redis://127.0.0.1:${redisPort}` } : undefined;
  const children = onRedis
    ? [startService('api', onRedis), startService('worker', onRedis), startRedis(redisPort)]
    : [startService('all', { ...common, EMBEDDED_STORE: 'disk' })];
  await untilReady(`${url}/readyz`, 60_000);
  const redis = onRedis && new Redis(redisPort, '127.0.0.1');
  return {
    ...{ url, redis },
    async close() {
      redis?.disconnect();
      await stop(...children);
    },
  };
}

/** Makes the runs, part by part, with a client in this process that is gone before anything is measured. */
async function makeRuns(url: string, sharedDir: string): Promise<Made> {
  const directory = join(sharedDir, String(APP));
  await writeRules(directory);
  const { flow, result } = leavesFor();
  const leaves = {
    SpentAtLeast: flow({ min: 0 }, (service, { min }) => service.double('cost', 0) >= min),
    Charge: result({}, (service) => {
      if (service.boolean('declined', false)) throw new Error(refusalOf(service.long('id', 0n)));
      return true;
    }),
  };
  const client = await createRuleClient({ app: APP, sharedDir, leaves, strict: true });
  const made: Made = { runs: [], startedAt: [] };
  const random = randomOf(Number(SEED));
  let version = 1;
  for (let part = 0; part < PARTS; part++) {
    if (RELEASES_BEFORE.has(part)) await release(directory, ++version, client);
    made.startedAt.push(Date.now());
    made.runs.push(...(await makePart(url, { part, min: minOf(version), random })));
    await delay(5);
  }
  await client.close();
  return made;
}

async function writeRules(directory: string): Promise<void> {
  for (const folder of ['bases', 'confs', 'versions']) await mkdir(join(directory, folder), { recursive: true });
  const write = (path: string, members: object) =>
    writeFile(join(directory, path), JSON.stringify({ app: APP, status: 1, ...members }));
  for (const id of RULES) {
    await write(`confs/${id}0.json`, { id: id * 10, name: `rule ${id}`, type: 1, sonIds: '101,102' });
    await write(`bases/${id}.json`, { id, name: `rule ${id}`, confId: id * 10 });
  }
  await write('confs/102.json', { id: 102, name: 'charge', type: 6, confName: 'Charge' });
  await writeSetting(directory, 1);
}

/** The setting that every release changes, what the release changed, and last the version. */
async function writeSetting(directory: string, version: number): Promise<void> {
  const confField = JSON.stringify({ min: minOf(version) });
  const node = { id: 101, app: APP, status: 1, name: 'spent', type: 5, confName: 'SpentAtLeast', confField };
  await replaceFile(join(directory, 'confs/101.json'), JSON.stringify(node));
  const update = { insertOrUpdateConfs: [node] };
  await replaceFile(join(directory, `versions/${version}_upd.json`), JSON.stringify(update));
  await replaceFile(join(directory, 'version.txt'), String(version));
}

async function release(directory: string, version: number, client: RuleClient): Promise<void> {
  await writeSetting(directory, version);
  while (client.loadedVersion() !== BigInt(version)) await delay(20);
}

async function makePart(url: string, { part, min, random }: { part: number; min: number; random: () => number }) {
  const planned = Array.from({ length: Number(RUNS) / PARTS }, () => planRun(part, min, random));
  const runs: Run[] = [];
  const left = planned.values();
  const caller = async () => {
    for (const run of left) runs.push({ ...run, mockId: await execute(url, run) });
  };
  await Promise.all(Array.from({ length: Number(CALLERS) }, caller));
  return runs;
}

/** A run by the seed. One uid in 50 is a text; one run in 15 is declined if it spends enough to be charged. */
function planRun(part: number, min: number, random: () => number): Omit<Run, 'mockId'> & { ruleId: number } {
  const upTo = (count: number) => Math.floor(random() * count);
  const number = 1 + upTo(2000);
  const uid = upTo(50) === 0 ? String(number) : number;
  const id = 10n ** 19n + BigInt(upTo(1e9)) * 10n ** 9n + BigInt(upTo(1e9));
  const cents = upTo(100_000);
  const declined = upTo(15) === 0;
  const key = upTo(20) === 0 ? 'bob' : 'ann';
  const note = Array.from({ length: 140 }, () => WORDS[upTo(WORDS.length)]).join(' ');
  const input =
    `{"uid":${JSON.stringify(uid)},"cost":${(cents / 100).toFixed(2)},"id":${id},"declined":${declined},` +
    `"customer":{"name":"person ${upTo(500)}","address":{"city":"${WORDS[upTo(WORDS.length)]}","zip":${10_000 + upTo(90_000)}}},` +
    `"card":{"number":"4000${String(upTo(1e12)).padStart(12, '0')}"},"note":"${note}"}`;
  const error = declined && cents >= 100 * min ? refusalOf(id) : '';
  return { key, input, uid, id, cost: cents / 100, part, error, ruleId: RULES[upTo(RULES.length)] ?? 1 };
}

/** Numbers from 0 to 1, the same ones for the same seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

async function execute(url: string, { key, input, error, ruleId }: Omit<Run, 'mockId'> & { ruleId: number }) {
  const response = await fetch(`${url}/rule-server/mock/execute`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${KEYS[key]}` },
    body: `{"app":${APP},"ruleId":${ruleId},"the service":${input}}`,
  });
  const answer = answerSchema.parse(await response.json());
  const isExpected = error === '' ? answer.success : !answer.success && answer.error?.includes(error);
  if (!isExpected) throw new Error(`expected ${error || 'success'}, got ${response.status} ${answer.error}`);
  return answer.mockId;
}

async function ask(url: string, query: Search['query']): Promise<{ status: number; text: string; ms: number }> {
  const parameters = Object.entries(query).flatMap(([name, value]) => [value].flat().map((each) => [name, each]));
  const startedAt = performance.now();
  const response = await fetch(`${url}/rule-server/mock/executions?${new URLSearchParams(parameters)}`, {
    headers: { authorization: `Bearer ${KEYS.ann}` },
  });
  const text = await response.text();
  return { status: response.status, text, ms: performance.now() - startedAt };
}

async function follow(url: string, query: Search['query']): Promise<Followed & { releases: Set<number | null> }> {
  const startedAt = performance.now();
  const followed: Followed = { found: [], answers: [], searched: 0, firstMs: null, totalMs: 0 };
  const releases = new Set<number | null>();
  let cursor = '';
  do {
    const { status, text, ms } = await ask(url, { app: String(APP), limit: LIMIT, ...query, cursor });
    if (status !== 200) throw new Error(`${JSON.stringify(query)} was answered ${status}: ${text.slice(0, 300)}`);
    const { items, nextCursor, searched } = pageSchema.parse(JSON.parse(text));
    followed.answers.push(ms);
    followed.searched += searched?.executions ?? 0;
    if (items.length > 0) followed.firstMs ??= performance.now() - startedAt;
    for (const { mockId, rules } of items) {
      followed.found.push(mockId);
      releases.add(rules?.released ?? null);
    }
    cursor = nextCursor ?? '';
  } while (cursor !== '' && followed.answers.length < MAX_ANSWERS);
  return { ...followed, releases, totalMs: performance.now() - startedAt };
}

/** The last ones come into the history a moment after their callers were answered. */
async function untilAllKept(url: string, expected: number): Promise<void> {
  const deadline = Date.now() + KEPT_WITHIN_MS;
  for (;;) {
    const { found, answers, releases, totalMs } = await follow(url, {});
    if (found.length === expected) {
      const told = `${answers.length} answers, ${totalMs.toFixed(0)} ms, the slowest ${Math.max(...answers).toFixed(0)} ms`;
      return console.log(`listing all ${expected}, of releases ${[...releases].sort().join(', ')}: ${told}`);
    }
    if (Date.now() > deadline) throw new Error(`${found.length} of ${expected} runs are kept`);
    await delay(500);
  }
}

function searchesFor({ runs, startedAt }: Made): Search[] {
  const wanted = runs[Math.floor(runs.length / 3)]?.id ?? 0n;
  const [from = 0, to = 0] = startedAt.slice(WINDOW_PART);
  const { below, from: least } = RANGE;
  return [
    { name: 'uid=42', query: { where: 'uid=42' }, fits: ({ uid }) => uid === 42 },
    { name: 'id=<20 digits>', query: { where: `id=${wanted}` }, fits: ({ id }) => id === wanted },
    { name: 'the same + 1', query: { where: `id=${wanted + 1n}` }, fits: ({ id }) => id === wanted + 1n },
    { name: 'text of an error', query: { text: 'acquirer declined' }, fits: ({ error }) => error !== '' },
    {
      name: `cost ${least} to ${below}`,
      query: { where: [`cost>=${least}`, `cost<${below}`] },
      fits: ({ cost }) => cost >= least && cost < below,
    },
    { name: 'by=bob', query: { by: 'bob' }, fits: ({ key }) => key === 'bob' },
    {
      name: 'a time window',
      query: { from: String(from), to: String(to) },
      fits: ({ part }) => part === WINDOW_PART,
    },
    { name: 'uid=424242: nothing', query: { where: 'uid=424242' }, fits: ({ uid }) => uid === 424242 },
  ];
}

async function searchAll(service: Service, made: Made): Promise<void> {
  const columns = ['found/expected', 'answers', 'looked at', 'total', 'slowest answer', 'first match'];
  console.log(`| search | ${columns.join(' | ')} | slow in Redis | loop p99 / max | /healthz p99 / max | |`);
  for (const search of searchesFor(made)) await measureOne(service, search, made.runs);
  const { status, text, ms } = await ask(service.url, { app: String(APP), where: `${MASKED_PATH}=4000` });
  const isRefused = status === 400 && text.includes(MASKED_PATH);
  if (!isRefused) process.exitCode = 1;
  const told = isRefused ? `400, names it; ${ms.toFixed(0)} ms` : `WRONG: ${status} ${text.slice(0, 300)}`;
  console.log(`| ${MASKED_PATH}, hidden by MASK | ${told} |`);
}

async function measureOne({ url, redis }: Service, { name, query, fits }: Search, runs: readonly Run[]) {
  await redis?.config('SET', 'slowlog-log-slower-than', SLOW_MICROS, 'slowlog-max-len', 10_000);
  await redis?.slowlog('RESET');
  await loopDelay(url);
  const ended = new AbortController();
  const pings = pingUntil(url, ended.signal);
  const { found, answers, searched, firstMs, totalMs } = await follow(url, query);
  ended.abort();
  const [slow, loop] = [await slowCommands(redis), await loopDelay(url)];
  const cells = [
    ...[String(answers.length), String(searched), shown(totalMs), shown(Math.max(...answers)), shown(firstMs)],
    ...[slow.told, loop.told, await pings],
  ];
  const expected = new Set(runs.filter(fits).map(({ mockId }) => mockId));
  const endless = answers.length >= MAX_ANSWERS ? `ENDLESS: given up after ${answers.length} answers` : '';
  const wrong = [
    difference(found, expected),
    endless,
    ...beyondLimits({ slow: slow.count, loopMs: loop.p99, totalMs }),
  ];
  if (wrong.some((each) => each !== '')) process.exitCode = 1;
  const told = wrong.filter((each) => each !== '').join('; ');
  console.log(`| ${name} | ${found.length}/${expected.size} | ${cells.join(' | ')} | ${told} |`);
}

function beyondLimits({ slow, loopMs, totalMs }: { slow: number; loopMs: number; totalMs: number }): string[] {
  return [
    slow > LIMITS.slowCommands ? `SLOW: ${slow} commands of Redis` : '',
    loopMs > LIMITS.loopMs ? `LATE: the loop by more than ${LIMITS.loopMs} ms` : '',
    totalMs > LIMITS.totalMs ? `LONG: more than ${LIMITS.totalMs} ms` : '',
  ];
}

/** How what was found differs from what must be; nothing if it is the same. */
function difference(found: readonly string[], expected: ReadonlySet<string>): string {
  const once = new Set(found);
  const missing = [...expected].filter((mockId) => !once.has(mockId)).length;
  const tooMany = [...once].filter((mockId) => !expected.has(mockId)).length;
  const twice = found.length - once.size;
  return missing + tooMany + twice === 0 ? '' : `WRONG: ${missing} missing, ${tooMany} too many, ${twice} twice`;
}

/** A request every 10 ms until told to stop: p99 and the slowest. */
async function pingUntil(url: string, ended: AbortSignal): Promise<string> {
  const times: number[] = [];
  while (!ended.aborted) {
    const startedAt = performance.now();
    await (await fetch(`${url}/healthz`)).arrayBuffer();
    times.push(performance.now() - startedAt);
    await delay(PING_EVERY_MS);
  }
  times.sort((one, other) => one - other);
  const p99 = times[Math.min(times.length - 1, Math.floor(times.length * 0.99))] ?? null;
  return `${shown(p99)} / ${shown(times.at(-1) ?? null)}`;
}

/** How late the event loop of the API was since the last time it was asked, p99 and the most: its timer of 10 ms included. */
async function loopDelay(url: string): Promise<{ p99: number; told: string }> {
  const response = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${KEYS.ann}` } });
  const text = await response.text();
  const read = (name: string) =>
    new RegExp(`^nodejs_eventloop_lag_${name}_seconds(?:{.*})? (\\S+)$`, 'm').exec(text)?.[1];
  const [p99 = 0, max = 0] = [read('p99'), read('max')].map((seconds) => Number(seconds ?? 0) * 1000 || 0);
  return { p99, told: `${shown(p99 || null)} / ${shown(max || null)}` };
}

/** The commands that took Redis longer than 5 ms since the last reset, whoever sent them: how often each, and the longest. */
async function slowCommands(redis: Redis | undefined): Promise<{ count: number; told: string }> {
  if (!redis) return { count: 0, told: '-' };
  const entries = slowSchema.parse(await redis.slowlog('GET', '-1'));
  const byName = Map.groupBy(entries, ([, , , [name = '', , , key = '']]) =>
    /^eval/i.test(name) ? `a script on ${key}` : name,
  );
  const longest = (all: typeof entries) => Math.max(...all.map(([, , micros]) => micros)) / 1000;
  const told = [...byName].map(([name, all]) => `${all.length} × ${name}, up to ${shown(longest(all))}`);
  return { count: entries.length, told: told.join('; ') || '0' };
}

function shown(ms: number | null): string {
  return ms === null || Number.isNaN(ms) ? '-' : `${ms.toFixed(ms < 10 ? 1 : 0)} ms`;
}
