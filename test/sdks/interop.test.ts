import { randomUUID } from 'node:crypto';
import { cp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { type Answer, httpCall } from '../support/http-call.ts';
import { startRedis } from '../support/redis.ts';
import type { RedisServer } from '../support/redis-server.ts';
import { type Processes, startProcesses } from '../support/start-processes.ts';
import type { Host, HostOptions } from './host.ts';
import { prepareSdk, sampleApp, sdkNames } from './toolchains.ts';

const APP = 7;
const settings = { RESULT_TIMEOUT_MS: 8000, CLIENT_TIMEOUT_MS: 6000 };
const spring = '{"score":75.5,"age":20,"uid":9007199254740993,"vip":{"level":2},"which":"age"}';
const springTrace =
  '[11:ScoreFlow:T][14:AgeFlow:T][12:Any:T][17:UidFlow:T][18:ProbeNone:N][16:All:T][13:AmountResult:T][20:AgeFlow:O]' +
  '[23:DerivedNone:N][24:UnionNone:N][21:None:N][26:AgeFlow:F][25:AgeFlow:R-F][22:True:T][10:And:T]';

/** Where the SDKs differ. */
const traits = {
  python: { derivedKeys: true, fieldRef: 'key', exact: true, survivesAThrow: true },
  java: { derivedKeys: true, fieldRef: 'key', exact: true, survivesAThrow: true },
  go: { derivedKeys: false, fieldRef: 'KeyName', exact: false, survivesAThrow: false },
} as const;

describe.each(sdkNames)('the published %s SDK, through our API and worker', (name) => {
  const { derivedKeys, fieldRef, exact, survivesAThrow } = traits[name];

  describe.skipIf(!inject('sdks').includes(name))('as it is installed', () => {
    let redis: RedisServer;
    let service: Processes;
    let host: Host;
    beforeAll(async () => {
      redis = await startRedis(inject('redis'));
      service = await startProcesses({ queueUrl: redis.url, settings });
      await cp(sampleApp, join(service.sharedDir, String(APP)), { recursive: true });
    });
    afterAll(async () => {
      await host?.stop();
      await service[Symbol.asyncDispose]();
      await redis.stop();
    });

    const start = async (options: Partial<HostOptions> = {}): Promise<Host> => {
      const sdk = await prepareSdk(name);
      if (sdk.kind !== 'ready') throw new Error(sdk.reason);
      const { sharedDir } = service;
      return sdk.start({ sharedDir, app: APP, pollSeconds: 0.2, heartbeatSeconds: 1, ...options });
    };
    const get = (path: string) => httpCall(`${service.api.url}/rule-server/mock/${path}`);
    /** `members`: JSON text. */
    const execute = (members: string): Promise<Answer> =>
      httpCall(`${service.api.url}/rule-server/mock/execute`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: `{"app":${APP},${members}}`,
      });
    const withoutTimes = (trace: string | null) => (trace ?? '').replaceAll(/:\d+\]/g, ']');
    const recordOf = async ({ json }: Answer) => (await get(`executions/${json.mockId}`)).json;

    it('there is nobody before it starts, and a moment after it registered it answers', async () => {
      const before = await execute('"ruleId":1');
      expect([before.status, before.json.code]).toEqual([503, 'no-client']);
      host = await start();
      const answer = await execute(`"ruleId":1,"the service":${spring}`);
      expect([answer.status, answer.json.error]).toEqual([200, null]);
      expect((await recordOf(answer)).address).toBe(host.address);
    });

    it('it is listed with its SDK, online and with its version', async () => {
      const { json } = await get(`clients?app=${APP}`);
      expect(json.items).toMatchObject([
        { address: host.address, sdk: name, dialect: 'ice', state: 'online', registered: true, loadedVersion: 1 },
      ]);
    });

    it('a rule: data, trace and time of the run come back', async () => {
      const { status, json } = await execute(`"ruleId":1,"the service":${spring}`);
      expect(status).toBe(200);
      expect(json).toMatchObject({ success: true, error: null, executeAt: expect.closeTo(Date.now(), -4) });
      expect(json['the service']).toMatchObject({ age: 20, derived: 20, union: 2, count: 1, gift_sent: { amount: 5 } });
      expect(withoutTimes(json.process)).toBe(springTrace);
      expect(json.trace).toMatch(/^\w{11}$/);
    });

    it('a run without effects: it is not sent one, and one that is put there by force has nothing to run', async () => {
      const refused = await execute(`"ruleId":1,"dryRun":true,"the service":${spring}`);
      expect([refused.status, refused.json.errors?.[0].field]).toEqual([400, 'dryRun']);
      const mockId = randomUUID();
      const directory = join(service.sharedDir, 'mock', String(APP), host.address.replace(/[:/]/g, '_'));
      const request = `{"mockId":"${mockId}","app":${APP},"dryRun":{"ruleId":1,"stub":{}},"the service":${spring},"target":"all","createAt":${Date.now()}}`;
      const temporary = join(directory, 'by-force.tmp');
      await writeFile(temporary, request);
      await rename(temporary, join(directory, `${mockId}.json`));
      const result = await vi.waitFor(
        async () => JSON.parse(await readFile(join(directory, `${mockId}_result.json`), 'utf8')),
        { timeout: 60_000, interval: 50 },
      );
      await rm(join(directory, `${mockId}_result.json`));
      expect([result.process ?? '', result.roam?.gift_sent]).toEqual(['', undefined]);
    });

    it('a node alone, and a node inside a rule', async () => {
      const alone = await execute('"confId":14,"the service":{"age":17}');
      expect(withoutTimes(alone.json.process)).toBe('[14:AgeFlow:F]');
      const inside = await execute(`"ruleId":1,"confId":16,"the service":${spring}`);
      expect(withoutTimes(inside.json.process)).toBe('[17:UidFlow:T][18:ProbeNone:N][16:All:T]');
      const elsewhere = await execute(`"ruleId":1,"confId":30,"the service":${spring}`);
      expect(elsewhere.json).toMatchObject({ success: false, error: 'no matching handler found', process: null });
      // A client that rounds says that, too, of a number as large as the one in this input.
      const others = (await recordOf(elsewhere)).warnings.filter(({ code }: { code: string }) => code !== 'precision');
      expect(others).toMatchObject([{ code: 'node-not-in-rule', nodeId: 30 }]);
    });

    it('outside its window nothing runs, which is a success; as of a time inside it runs', async () => {
      const now = await execute('"ruleId":4,"the service":{"age":20}');
      expect(now.json).toMatchObject({ success: true, error: null });
      expect(now.json.process ?? '').toBe('');
      const then = await execute('"ruleId":4,"ts":500,"the service":{"age":20}');
      expect(withoutTimes(then.json.process)).toBe('[50:AgeFlow:T]');
      expect(then.json.ts).toBe(500);
    });

    it('inverse nodes and forward conditions are in the trace', async () => {
      const { json } = await execute('"ruleId":3,"the service":{"uid":1,"age":20,"vip":{"level":5}}');
      expect(withoutTimes(json.process)).toBe('[41:ScoreFlow:T-I][43:UidFlow:T][42:AgeFlow:T-I][40:Any:F]');
    });

    it(`an integer of 64 bits ${exact ? 'keeps every digit' : 'is rounded, and the execution says so'}`, async () => {
      const input = '{"uid":9223372036854775807,"big":123456789012345678901234567890,"small":1}';
      const answer = await execute(`"ruleId":6,"the service":${input}`);
      expect(answer.status).toBe(200);
      const { warnings } = await recordOf(answer);
      const precision = warnings.filter(({ code }: { code: string }) => code === 'precision');
      if (exact) {
        expect(answer.text).toMatch(/"echo": ?9223372036854775807\b/);
        expect(answer.text).toMatch(/"big": ?123456789012345678901234567890\b/);
        expect(warnings).toEqual([]);
      } else {
        expect(answer.text).not.toContain('9223372036854775807');
        expect(precision).toHaveLength(2);
        expect(precision[0].message).toContain('9223372036854775807');
      }
    });

    it('a leaf that nobody registered is left out by it, and is a warning', async () => {
      const answer = await execute('"ruleId":9,"the service":{"age":20}');
      expect(withoutTimes(answer.json.process)).toBe('[101:AgeFlow:T][100:And:T]');
      expect((await recordOf(answer)).warnings).toMatchObject([{ code: 'missing-leaf-class', nodeId: 102 }]);
    });

    it('text that is not ASCII comes back as it was', async () => {
      const answer = await execute('"confId":14,"the service":{"age":20,"名前":"Ünïcödé 🎉 \\u2028"}');
      expect(answer.json['the service']).toEqual({ age: 20, 名前: 'Ünïcödé 🎉 \u2028' });
    });

    it('its own analyzer tells the schema: every kind of key, in tree order', async () => {
      const { json } = await get(`schema?app=${APP}&ruleId=7&address=${host.address}`);
      const keys = json.fields.map(({ key, nodeId }: { key: string; nodeId: number }) => `${key} ${nodeId}`);
      expect(keys).toEqual([
        'pre_score 81',
        'which 82',
        ...(derivedKeys ? [`\${which} 82`] : []),
        'vip.level 83',
        `pre_\${${fieldRef}} 84`,
        'order.total 85',
        'uid 86',
      ]);
      expect(json.fallback).toBe(false);
      expect((await get(`schema?app=${APP}&ruleId=7&address=nobody`)).json.fallback).toBe(true);
    });

    it('ten calls at the same moment are ten answers', async () => {
      const calls = Array.from({ length: 10 }, (_, age) => execute(`"confId":14,"the service":{"age":${age + 13}}`));
      const all = await Promise.all(calls);
      expect(all.map(({ json }) => json['the service'].age)).toEqual(all.map((_, at) => at + 13));
    });

    it('clients in two lanes are told apart', async () => {
      const lanes = { beta: await start({ lane: 'beta' }), gamma: await start({ lane: 'gamma' }) };
      try {
        for (const [lane, { address }] of Object.entries(lanes)) {
          const answer = await execute(`"confId":14,"target":"lane:${lane}","the service":{"age":20}`);
          expect([answer.status, (await recordOf(answer)).address]).toEqual([200, address]);
          expect((await execute(`"confId":14,"target":"address:${address}"`)).status).toBe(200);
        }
        expect((await recordOf(await execute('"confId":14'))).address).toBe(host.address);
        expect((await execute('"confId":14,"target":"lane:delta"')).json.code).toBe('no-client');
      } finally {
        await Promise.all(Object.values(lanes).map((other) => other.stop()));
      }
      const { json } = await get(`clients?app=${APP}`);
      expect(json.items.map(({ address }: { address: string }) => address)).toEqual([host.address]);
    });

    it('while it runs a rule it is busy, not offline, and a second call waits its turn', async () => {
      const slow = execute('"ruleId":5');
      await eventually(async () => {
        expect((await get(`clients?app=${APP}`)).json.items[0].state).toBe('busy');
      });
      const next = await execute('"confId":14,"the service":{"age":20}');
      expect([(await slow).status, next.status]).toEqual([200, 200]);
    });

    it('a client killed while it runs a rule: an honest 504, and the next one answers', async () => {
      const running = execute('"ruleId":8');
      await eventually(async () => expect((await get(`clients?app=${APP}`)).json.items[0].state).toBe('busy'));
      await host.kill();
      const { status, json } = await running;
      expect([status, json.code, json.mayHaveRun]).toEqual([504, 'no-answer', true]);
      host = await start();
      await eventually(async () => {
        const answer = await execute('"confId":14,"target":"all","the service":{"age":20}');
        expect([answer.status, (await recordOf(answer)).address]).toEqual([200, host.address]);
      });
    });

    it(`a rule that throws ${survivesAThrow ? 'is a failure with its reason' : 'ends the process, which is said'}`, async () => {
      const answer = await execute('"ruleId":2,"the service":{"age":20}');
      if (survivesAThrow) {
        expect([answer.status, answer.json.error, answer.json.process]).toEqual([200, 'kaboom', null]);
      } else {
        expect([answer.status, answer.json.code]).toEqual([502, 'invalid-result']);
        expect(answer.json.error).toContain('the client crashed while it ran the rule');
        expect((await host.exited).code).not.toBe(0);
      }
    });

    it('when it stops, it is gone at once, and nothing of ours is left', async () => {
      if (host.process.exitCode !== null || host.process.signalCode !== null) host = await start();
      await host.stop();
      const { status, json } = await execute(`"ruleId":1,"target":"address:${host.address}"`);
      expect([status, json.code]).toEqual([503, 'no-client']);
      expect(await service.leftovers()).toEqual([]);
      expect(await readdir(join(service.sharedDir, 'mock', String(APP)))).not.toContain(host.address);
      expect(service.noise()).toEqual([]);
      const provoked = ['no-answer', 'invalid-result']; // by the client that was killed, and the one that crashed
      expect(service.warnings().filter(({ code }) => !provoked.includes(String(code)))).toEqual([]);
    });
  });
});
