import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, inject, it, vi } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { httpCall } from '../support/http-call.ts';
import { peakMemory } from '../support/process-load.ts';
import { startRedis } from '../support/redis.ts';
import { claimRedisDatabase } from '../support/redis-database.ts';
import { answers, createResponder } from '../support/responder.ts';
import { type Processes, startProcesses } from '../support/start-processes.ts';

vi.setConfig({ testTimeout: 180_000 });

const MIB = 1024 * 1024;
const FOLLOWERS = 300;
const CASES = 2000;
const choice = inject('redis');
const settings = { RESULT_TIMEOUT_MS: 60_000, QUEUE_TIMEOUT_MS: 60_000, CLIENT_TIMEOUT_MS: 60_000 };

describe.skipIf(choice.kind === 'unavailable' || process.platform !== 'linux')(
  'the memory of an API stays small',
  () => {
    it(`while ${FOLLOWERS} follow a batch and read nothing of it`, () =>
      withProcesses(async ({ api, sharedDir }) => {
        await using _client = await createResponder({ sharedDir, app: 1, does: answers() });
        const cases = Array.from({ length: CASES }, (_, n) => ({ 'the service': { n } }));
        const begun = await httpCall(`${api.url}/rule-server/mock/batches`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ app: 1, ruleId: 1, targets: ['all'], concurrency: 20, cases }),
        });
        expect([begun.status, begun.text]).toEqual([202, expect.any(String)]);
        const path = `/rule-server/mock/batches/${begun.json.batchId}`;
        const followers = await Promise.all(Array.from({ length: FOLLOWERS }, () => follow(api.url, `${path}/events`)));
        try {
          await eventually(
            async () => expect((await httpCall(`${api.url}${path}`)).json.state).toBe('finished'),
            120_000,
          );
          expect(await heardBy(followers.at(-1))).toMatch(/text\/event-stream.*event: snapshot/s);
        } finally {
          for (const follower of followers) follower.destroy();
        }
        expect(peakMemory(api.pid) / MIB).toBeLessThan(450);
        expect((await api.execute({ app: 1, ruleId: 1 })).status).toBe(200);
      }));
  },
);

async function withProcesses(use: (processes: Processes) => Promise<void>): Promise<void> {
  const redis = await startRedis(choice);
  try {
    const database = await claimRedisDatabase(redis.url);
    await using processes = await startProcesses({ queueUrl: database.url, settings });
    await use(processes);
  } finally {
    await redis.stop();
  }
}

/** A connection that asks for an event stream, and takes nothing of what comes out of it. */
async function follow(url: string, path: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.pause();
  socket.write(`GET ${path} HTTP/1.1\r\nhost: ${hostname}\r\naccept: text/event-stream\r\n\r\n`);
  return socket;
}

/** What came first of what it did not take so far. */
async function heardBy(follower: Socket | undefined): Promise<string> {
  if (!follower) throw new Error('nobody follows');
  let text = '';
  follower.on('data', (chunk) => (text += String(chunk))).resume();
  await eventually(() => expect(text).toContain('event: snapshot'));
  return text;
}
