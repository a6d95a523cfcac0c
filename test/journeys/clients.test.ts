import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import {
  answers,
  answersAfter,
  answersWith,
  type Behaviour,
  createResponder,
  resultText,
  staysSilent,
} from '../support/responder.ts';
import { type Service, startService } from '../support/start-service.ts';

describe('clients', () => {
  let service: Service;
  let apps = 400;
  beforeAll(async () => {
    service = await startService({
      // Two hundred and more calls at once wait for each other on a busy machine: none of them is to be too late for a worker.
      settings: {
        QUEUE_TIMEOUT_MS: 120_000,
        RESULT_TIMEOUT_MS: 20_000,
        CLIENT_TIMEOUT_MS: 5000,
        POLL_INTERVAL_MS: 300,
      },
      workers: 2,
      apis: 2,
    });
  });
  afterAll(() => service.stop());

  async function clientThat(does: Behaviour, options: Partial<Parameters<typeof createResponder>[0]> = {}) {
    const app = options.app ?? ++apps;
    return Object.assign(await createResponder({ sharedDir: service.sharedDir, does, ...options, app }), { app });
  }
  const directoryOf = (app: number, ...rest: string[]) => join(service.sharedDir, 'mock', String(app), ...rest);

  describe.concurrent('that are nothing but a directory', () => {
    it('one written from the interface document alone gets its answer through', async () => {
      const app = ++apps;
      const directory = directoryOf(app, 'shell');
      await mkdir(directory, { recursive: true });
      const answering = service.execute({ app, ruleId: 1, 'the service': { a: 1 }, target: 'address:shell' });
      const client = (async () => {
        for (;;) {
          const name = (await readdir(directory)).find((found) => /^[^.].*\.json$/.test(found));
          if (name !== undefined) return name.replace('.json', '');
          await delay(1000);
        }
      })();
      const mockId = await client;
      const result = join(directory, `${mockId}_result.json`);
      await writeFile(result, '');
      await delay(3000);
      const request = JSON.parse(await readFile(join(directory, `${mockId}.json`), 'utf8'));
      await writeFile(result, resultText({ mockId }, { 'the service': { ...request['the service'], seen: true } }));
      const { status, json } = await answering;
      expect(status).toBe(200);
      expect(json['the service']).toEqual({ a: 1, seen: true });
    });

    it('one that registers after the app was listed is not taken for a bare directory', async () => {
      const app = ++apps;
      expect((await service.execute({ app, ruleId: 1 })).json.code).toBe('no-client');
      await using client = await clientThat(answersWith('{"success":true,"roam":{"a":1}}'), { app, as: 'python' });
      const { json } = await service.execute({ app, ruleId: 1, target: `address:${client.address}` });
      expect(json['the service']).toEqual({ a: 1 });
    });
  });

  describe.concurrent('nobody heard of', () => {
    it('get a directory as open to them as mock/ is, and keep it when they come and pick up', async () => {
      const app = ++apps;
      const answering = service.execute({ app, ruleId: 1, target: 'address:late' });
      await eventually(async () => expect(await readdir(directoryOf(app)).catch(() => [])).toEqual(['late']));
      const modes = [directoryOf(app, 'late'), join(service.sharedDir, 'mock')].map(
        async (path) => (await stat(path)).mode,
      );
      expect(new Set(await Promise.all(modes)).size).toBe(1);
      await using late = await clientThat(answers(), { app, as: 'directory', address: 'late' });
      expect((await answering).status).toBe(200);
      await eventually(async () => expect(await readdir(late.directory)).toEqual([]));
      expect((await service.execute({ app, ruleId: 1 })).status).toBe(200);
    });

    it('several calls at once share the directory, and it goes with the last of them', async () => {
      const app = ++apps;
      const calls = Array.from({ length: 12 }, async (_, call) => {
        await delay(call < 8 ? 0 : 30 * call);
        return service.execute({ app, ruleId: 1, target: 'address:ghost' });
      });
      expect(new Set((await Promise.all(calls)).map(({ json }) => json.code))).toEqual(new Set(['not-picked-up']));
      await eventually(async () => expect(await readdir(directoryOf(app))).toEqual([]));
    });

    it('a later call keeps the directory, and it goes with the last of them', async () => {
      const app = ++apps;
      const first = service.execute({ app, ruleId: 1, target: 'address:ghost' });
      await eventually(async () => expect(await readdir(directoryOf(app)).catch(() => [])).toEqual(['ghost']));
      await delay(1200); // the second ends later than the first
      const second = service.execute({ app, ruleId: 2, target: 'address:ghost' });
      expect([(await first).json.code, (await second).json.code]).toEqual(['not-picked-up', 'not-picked-up']);
      await eventually(async () => expect(await readdir(directoryOf(app))).toEqual([]));
    });
  });

  describe.concurrent('of which there are several', () => {
    it('each lane gets its own calls, and the trunk those for "all"', async () => {
      await using trunk = await clientThat(answers({ process: 'trunk' }));
      const { app } = trunk;
      await using blue = await clientThat(answers({ process: 'blue' }), { app, lane: 'blue' });
      await using green = await clientThat(answers({ process: 'green' }), { app, lane: 'green', as: 'go' });
      const answered = await Promise.all(
        ['all', 'lane:blue', 'lane:green', '', `address:${blue.address}`, `address:${green.address}`].map(
          async (target) => (await service.execute({ app, ruleId: 1, target })).json.process,
        ),
      );
      expect(answered).toEqual(['trunk', 'blue', 'green', 'trunk', 'blue', 'green']);
    });

    it('two hundred calls at once get two hundred different answers, each its own, each run once', async () => {
      const app = ++apps;
      const clients = await Promise.all(
        ['a', 'b', 'c', 'd'].map((address) =>
          clientThat(
            async (request) => {
              const { 'the service': data } = JSON.parse(request.text);
              await request.pickUp();
              await delay(Math.random() * 100);
              await request.answer(resultText(request, { 'the service': { ...data, address } }));
            },
            { app, address, as: address === 'd' ? 'rule' : 'directory' },
          ),
        ),
      );
      const calls = Array.from({ length: 200 }, async (_, number) => {
        const url = service.urls[number % 2];
        const target = `address:${'abcd'[number % 4]}`;
        const body = { app, ruleId: 1, 'the service': { number }, target };
        const answer = await service.execute(body, url === undefined ? {} : { url });
        return answer.json;
      });
      const bodies = await Promise.all(calls);
      expect(bodies.filter(({ success }) => !success)).toEqual([]);
      const answered = bodies.map(({ 'the service': data }) => data);
      expect(answered).toEqual(answered.map((_, number) => ({ number, address: 'abcd'[number % 4] })));
      expect(clients.map(({ found }) => found.length)).toEqual([50, 50, 50, 50]);
      await Promise.all(clients.map((client) => client.stop()));
    });
  });

  describe.concurrent('whose caller hangs up', () => {
    it('before pick-up: the request is withdrawn and never runs', async () => {
      await using client = await clientThat(staysSilent);
      const caller = new AbortController();
      const answering = service.execute({ app: client.app, ruleId: 1 }, { signal: caller.signal });
      await client.firstRequest();
      caller.abort();
      await expect(answering).rejects.toThrow();
      await eventually(async () => expect(await readdir(client.directory)).toEqual([]));
    });

    it('after pick-up: the rule runs to its end, and its files are cleared away', async () => {
      await using client = await clientThat(answersAfter(1000));
      const caller = new AbortController();
      const answering = service.execute({ app: client.app, ruleId: 1 }, { signal: caller.signal });
      const { mockId } = await client.firstRequest();
      await eventually(async () => expect(await readdir(client.directory)).not.toContain(`${mockId}.json`));
      caller.abort();
      await expect(answering).rejects.toThrow();
      await eventually(async () => expect(await logged('answered')).toContain(mockId));
      await eventually(async () => expect(await readdir(client.directory)).toEqual([]));
    });

    const logged = (message: string) => service.log.filter(({ msg }) => msg === message).map(({ mockId }) => mockId);
  });

  describe.concurrent('whose directory leads elsewhere', () => {
    it('a link in place of a directory: 503, and nothing is written through it', async () => {
      const app = ++apps;
      const outside = join(service.sharedDir, `outside-${app}`);
      await mkdir(outside);
      await using client = await clientThat(answers(), { app });
      await rm(client.directory, { recursive: true });
      await symlink(outside, client.directory);
      const { status, json } = await service.execute({ app, ruleId: 1 });
      const { address } = client;
      expect(json).toMatchObject({
        ...{ reason: 'request-unwritable', params: { address, app, directory: address, why: 'not-its-own' } },
      });
      expect([status, json.code, json.mayHaveRun]).toEqual([503, 'channel-unavailable', false]);
      expect(await readdir(outside)).toEqual([]);
    });

    it('a link in place of the app: nothing is listed or written through it', async () => {
      const app = ++apps;
      const outside = join(service.sharedDir, `outside-${app}`);
      await mkdir(join(outside, 'victim'), { recursive: true });
      await symlink(outside, directoryOf(app));
      for (const target of ['all', 'address:victim', 'address:other']) {
        const { json } = await service.execute({ app, ruleId: 1, target });
        expect(json.success).toBe(false);
        expect(json.mayHaveRun).toBe(false);
      }
      expect(await readdir(outside, { recursive: true })).toEqual(['victim']);
    });

    it('one of two cannot be written: the other one gets every call, and the warnings name the one passed over', async () => {
      const app = ++apps;
      await using good = await clientThat(answers(), { app, address: 'good' });
      for (const lane of [undefined, 'red']) {
        await using bad = await clientThat(answers(), { app, address: `bad-${lane}`, ...(lane ? { lane } : {}) });
        await using _alsoGood = await clientThat(answers(), {
          app,
          address: `good-${lane}`,
          ...(lane ? { lane } : {}),
        });
        await bad.removeDirectory();
        await writeFile(bad.directory, '');
        const call = { app, ruleId: 1, target: lane ? `lane:${lane}` : 'all' };
        const called = await Promise.all(Array.from({ length: 20 }, () => service.execute(call)));
        expect(called.map(({ status }) => status)).toEqual(called.map(() => 200));
        expect(bad.found).toEqual([]);
        const details = called.map(({ json }) => service.call(`/rule-server/mock/executions/${json.mockId}`));
        const warnings = (await Promise.all(details)).map(({ json }) => json.warnings);
        expect(warnings).toContainEqual([
          {
            code: 'client-passed-over',
            params: { address: bad.address, app, directory: bad.address, why: 'not-its-own' },
            message: `Another client was asked: the request for client ${bad.address} could not be written to mock/${app}/${bad.address}: it is not a directory of its own.`,
          },
        ]);
        const alone = await service.execute({ ...call, target: `address:${bad.address}` });
        expect([alone.status, alone.json.code]).toEqual([503, 'channel-unavailable']);
        const error = expect.stringContaining(`mock/${app}/${bad.address}: it is not a directory of its own`);
        await eventually(() =>
          expect(service.log).toContainEqual(expect.objectContaining({ level: 40, mockId: alone.json.mockId, error })),
        );
        await bad.unregister();
        await rm(bad.directory);
      }
      expect(good.found.length).toBeGreaterThan(0);
      const scrape = (await service.call('/metrics')).text;
      expect(Number(/^rule_server_clients_passed_over_total (\d+)$/m.exec(scrape)?.[1])).toBeGreaterThan(0);
    });

    it('the registered one cannot be written: a directory that nobody registered gets the call, with the warning', async () => {
      const app = ++apps;
      await using bad = await clientThat(answers(), { app });
      await using _bare = await clientThat(answers(), { app, as: 'directory' });
      await bad.removeDirectory();
      await writeFile(bad.directory, '');
      const { status, json } = await service.execute({ app, ruleId: 1 });
      expect(status).toBe(200);
      const { warnings } = (await service.call(`/rule-server/mock/executions/${json.mockId}`)).json;
      expect(warnings).toMatchObject([{ code: 'client-passed-over' }]);
      await rm(bad.directory);
    });
  });
});
