import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { httpCall } from '../support/http-call.ts';
import { startRedis } from '../support/redis.ts';
import type { RedisServer } from '../support/redis-server.ts';
import { type Processes, startProcesses } from '../support/start-processes.ts';
import type { Host } from './host.ts';
import { prepareSdk, sampleApp } from './toolchains.ts';

const APP = 7;
const settings = { RESULT_TIMEOUT_MS: 6000, CLIENT_TIMEOUT_MS: 4000 };

describe.skipIf(!inject('sdks').includes('python'))('a batch on the published Python SDK', () => {
  let redis: RedisServer;
  let service: Processes;
  let host: Host;
  beforeAll(async () => {
    redis = await startRedis(inject('redis'));
    service = await startProcesses({ queueUrl: redis.url, settings });
    await cp(sampleApp, join(service.sharedDir, String(APP)), { recursive: true });
    await addRule(service.sharedDir, { ruleId: 20, confId: 200, confName: 'com.sample.ExitNone' });
    const sdk = await prepareSdk('python');
    if (sdk.kind !== 'ready') throw new Error(sdk.reason);
    host = await sdk.start({ sharedDir: service.sharedDir, app: APP, pollSeconds: 0.2, heartbeatSeconds: 1 });
  });
  afterAll(async () => {
    await host?.kill();
    await service?.[Symbol.asyncDispose]();
    await redis?.stop();
  });

  const url = (path: string) => `${service.api.url}/rule-server/mock/batches${path}`;
  async function run(members: string) {
    const headers = { 'content-type': 'application/json' };
    const answer = await httpCall(url(''), { method: 'POST', headers, body: `{"app":${APP},${members}}` });
    expect([answer.status, answer.text]).toEqual([202, expect.any(String)]);
    const { batchId } = answer.json;
    return vi.waitFor(
      async () => {
        const { json } = await httpCall(url(`/${batchId}`));
        expect(json.state).toBe('finished');
        return json;
      },
      { timeout: 60_000, interval: 100 },
    );
  }

  it('runs its cases exactly, and says of each what its nodes came to', async () => {
    const big = '{"uid":9223372036854775807,"small":1}';
    const echo = `{"name":"echo","the service":${big},"expect":{"data":{"echo":9223372036854775807}}}`;
    const rounded = `{"name":"rounded","the service":${big},"expect":{"data":{"echo":9223372036854775806}}}`;
    const { batchId, counts } = await run(`"ruleId":6,"cases":[${echo},${rounded}]`);
    expect(counts).toMatchObject({ passed: 1, failed: 1 });
    const failed = (await httpCall(url(`/${batchId}/items/2`))).json;
    expect(failed.differences).toMatchObject([{ path: 'data.echo', actual: '9223372036854775807' }]);
    const old = '{"the service":{"age":20},"expect":{"outcome":"TRUE","nodes":{"14":"TRUE"}}}';
    const young = '{"the service":{"age":10},"expect":{"outcome":"FALSE","nodes":{"14":"FALSE"}}}';
    expect((await run(`"confId":14,"cases":[${old},${young}]`)).counts).toMatchObject({ passed: 2 });
  });

  it('stops at the first case that ends the process of its client', async () => {
    const cases = Array.from({ length: 9 }, (_, n) => `{"the service":{"n":${n}}}`);
    const { batchId, counts } = await run(`"ruleId":20,"concurrency":4,"cases":[${cases}]`);
    expect(counts).toMatchObject({ unanswered: 1, skipped: 8 });
    expect((await host.exited).code).toBe(3);
    const { items } = (await httpCall(url(`/${batchId}/items`))).json;
    expect(items[0]).toMatchObject({ verdict: 'unanswered', mayHaveRun: true });
    expect(items[1]).toMatchObject({ reason: 'client-ended', params: { address: host.address } });
  });
});

/** One more rule of one leaf, which only this host has. */
async function addRule(
  sharedDir: string,
  { ruleId, confId, confName }: { ruleId: number; confId: number; confName: string },
) {
  const app = join(sharedDir, String(APP));
  const like = async (from: string, to: string, changes: object) =>
    writeFile(join(app, to), JSON.stringify({ ...JSON.parse(await readFile(join(app, from), 'utf8')), ...changes }));
  await like('bases/8.json', `bases/${ruleId}.json`, { id: ruleId, confId });
  await like('confs/90.json', `confs/${confId}.json`, { id: confId, confName, confField: '{}' });
}
