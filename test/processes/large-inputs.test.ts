import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { openEventStream } from '../support/event-stream.ts';
import { eventually } from '../support/eventually.ts';
import { httpCall } from '../support/http-call.ts';
import { startRedis } from '../support/redis.ts';
import { claimRedisDatabase } from '../support/redis-database.ts';
import type { RedisServer } from '../support/redis-server.ts';
import { answers, createResponder, type Responder, staysSilent } from '../support/responder.ts';
import { type ApiProcess, type ServiceProcess, startApiProcess, startWorkerProcess } from '../support/start-process.ts';

const EXECUTIONS = '/rule-server/mock/executions';
const MIB = 1024 * 1024;
const OPEN = 150;
/** An API looks each open execution up, every 2 s, once a worker should have claimed it. */
const ALL_RECHECKED_MS = 12_000;
const [SILENT, BUSY] = [1, 2];
const choice = inject('redis');

describe.skipIf(choice.kind === 'unavailable')(`while ${OPEN} executions with inputs of a mebibyte are open`, () => {
  const clients: Responder[] = [];
  const mockIds: string[] = [];
  let redis: RedisServer;
  let database: RedisServer;
  let sharedDir: string;
  let api: ApiProcess;
  let worker: ServiceProcess;
  beforeAll(async () => {
    redis = await startRedis(choice);
    database = await claimRedisDatabase(redis.url);
    sharedDir = await mkdtemp(join(tmpdir(), 'rule-server-'));
    clients.push(await createResponder({ sharedDir, app: SILENT, does: staysSilent, lookEveryMs: 1000 }));
    clients.push(await createResponder({ sharedDir, app: BUSY, does: answers() }));
    const settings = { RESULT_TIMEOUT_MS: 120_000, MAX_BODY_BYTES: 2 * MIB, MAX_OPEN_BODY_BYTES: 1024 * MIB };
    const all = { queueUrl: database.url, settings: { ...settings, LOG_LEVEL: 'info' } };
    [api, worker] = await Promise.all([startApiProcess(all), startWorkerProcess({ ...all, sharedDir })]);
    const body = { app: SILENT, ruleId: 1, 'the service': { note: 'x'.repeat(MIB) } };
    for (let begun = 0; begun < OPEN; begun++) {
      const { json } = await api.execute(body, { headers: { prefer: 'respond-async' } });
      mockIds.push(json.mockId);
    }
    await vi.waitFor(async () => expect((await get('/readyz')).json.active).toBe(OPEN), 30_000);
  }, 120_000);
  afterAll(async () => {
    await Promise.all(clients.map((client) => client.stop()));
    await Promise.all([api?.kill(), worker?.kill()]);
    await database?.stop();
    await redis?.stop();
    if (sharedDir) await rm(sharedDir, { recursive: true, force: true });
  });

  const get = (path: string) => httpCall(`${api.url}${path}`);

  /** What Redis sends while something is done. */
  async function bytesSent(doing: () => Promise<unknown>): Promise<number> {
    const connection = new Redis(database.url);
    try {
      const total = async () => Number(/total_net_output_bytes:(\d+)/.exec(await connection.info('stats'))?.[1]);
      const before = await total();
      await doing();
      return (await total()) - before;
    } finally {
      connection.disconnect();
    }
  }

  /** The most memory the API ever had, in bytes. */
  async function mostMemory(): Promise<number> {
    const status = await readFile(`/proc/${api.pid}/status`, 'utf8');
    return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
  }

  it('one list reads a thousandth of what they hold, and needs no memory for it', async () => {
    const memory = await mostMemory();
    const sent = await bytesSent(async () => {
      expect((await get(`${EXECUTIONS}?limit=100`)).json.items).toHaveLength(100);
    });
    expect(sent).toBeLessThan((OPEN * MIB) / 1000);
    expect((await mostMemory()) - memory).toBeLessThan(20 * MIB);
  });

  it('a hundred followers of one of them are served by one read', async () => {
    const url = `${api.url}${EXECUTIONS}/${mockIds[0]}/events`;
    await setTimeout(ALL_RECHECKED_MS);
    const without = await bytesSent(() => setTimeout(3000));
    const streams = await Promise.all(Array.from({ length: 100 }, () => openEventStream(url)));
    await eventually(() => expect(streams.filter(({ events }) => events.length > 0)).toHaveLength(100));
    const quiet = await bytesSent(() => setTimeout(3000));
    for (const stream of streams) stream.close();
    expect(quiet - without).toBeLessThan(80_000); // one read each second; a hundred reads are 60,000 a second
  });

  it('eight callers of the list take nothing from others: their calls are answered', async () => {
    const stop = new AbortController();
    const lists = Array.from({ length: 8 }, async () => {
      for (; !stop.signal.aborted; ) await get(EXECUTIONS);
    });
    const statuses: number[] = [];
    for (let made = 0; made < 20; made++) statuses.push((await api.execute({ app: BUSY, ruleId: 1 })).status);
    stop.abort();
    await Promise.all(lists);
    expect(statuses).toEqual(Array(20).fill(200));
  });
});
