import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { onOneQueue } from '../support/on-each-queue.ts';
import { createOtherServer } from '../support/other-server.ts';
import { registerPublished } from '../support/published-client.ts';
import { answers, answersWith } from '../support/responder.ts';
import { PATIENT, type Service } from '../support/start-service.ts';

// Each of these was seen to happen with a server that uses the same directories. One test for each: it does not happen here.
onOneQueue('mistakes that this channel invites', (start) => {
  let service: Service;
  let apps = 1100;
  beforeAll(async () => {
    service = await start({ settings: { ...PATIENT, CLIENT_TIMEOUT_MS: 5000 } });
  });
  afterAll(() => service.stop());

  const pathOf = (...parts: (string | number)[]) => join(service.sharedDir, ...parts.map(String));
  const execute = (app: number, target?: string) => service.execute({ app, ruleId: 1, target });
  const tookMs = async (mockId: string): Promise<number> =>
    (await service.call(`/rule-server/mock/executions/${mockId}`)).json.timings.total;
  const clientThat: Service['clientThat'] = (does, options) => service.clientThat(does, { as: 'python', ...options });
  const done = '{"success":true,"roam":{},"process":"[1:A:T:0]"}';

  describe.concurrent('do not happen here', () => {
    it('a cleaner does not remove the directory under a running rule', async () => {
      const app = ++apps;
      const other = createOtherServer({ sharedDir: service.sharedDir, clientTimeoutMs: 60_000, app });
      await using _client = await clientThat(
        async (request) => {
          await request.pickUp();
          for (let tick = 0; tick < 9; tick++) {
            await delay(100);
            await other.clean();
          }
          await request.answer(done);
        },
        { app },
      );
      expect((await execute(app)).status).toBe(200);
    });

    it('a client that is silent because it runs a long rule is not given up', async () => {
      await using client = await clientThat(async (request, self) => {
        await self.stopBeating();
        await request.pickUp();
        await delay(service.settings.CLIENT_TIMEOUT_MS + 500);
        await request.answer(done);
      });
      expect((await execute(client.app)).status).toBe(200);
      expect(await readdir(pathOf('clients', client.app))).toEqual(
        [`b_${client.address}.json`, `m_${client.address}.json`].sort(),
      );
      expect(await readdir(pathOf('mock', client.app))).toEqual([client.address]);
    });

    it('a target that is dead is refused at once, also when it registered last', async () => {
      const app = ++apps;
      await registerPublished({ sharedDir: service.sharedDir, app, sdk: 'go', address: 'dead', beatAgoMs: null });
      await writeFile(pathOf('clients', app, '_latest.json'), await readFile(pathOf('clients', app, 'm_dead.json')));
      const ended = [(await execute(app)).json, (await execute(app, 'address:dead')).json];
      expect(ended.map(({ code }) => code)).toEqual(['no-client', 'client-offline']);
      for (const { mockId } of ended) expect(await tookMs(mockId)).toBeLessThan(service.settings.QUEUE_TIMEOUT_MS);
    });

    it.each(['x', '..', '.', '../../x', 'address:..', 'address:../../x', 'address:a/b'])(
      'the target %s is not made into a path',
      async (target) => {
        const app = ++apps;
        const { status, json } = await execute(app, target);
        expect([status, json.errors?.[0].field]).toEqual([400, 'target']);
        await expect(readdir(pathOf('mock', app))).rejects.toThrow('ENOENT');
      },
    );

    it('a lane does not lead into another app', async () => {
      await using other = await clientThat(answersWith(done));
      const app = ++apps;
      await mkdir(pathOf('clients', app, 'lane'), { recursive: true });
      const path = `../../${other.app}`;
      expect((await execute(app, `lane:${path}`)).json.code).toBe('no-client');
      const schema = await service.call(
        `/rule-server/mock/schema?app=${app}&ruleId=1&lane=${encodeURIComponent(path)}`,
      );
      expect(schema.json.fields).toEqual([]);
      expect(other.found).toEqual([]);
      await expect(readdir(pathOf('mock', app))).rejects.toThrow('ENOENT');
    });

    it('a link in the place of a directory does not get the request', async () => {
      const app = ++apps;
      await mkdir(pathOf(`outside-${app}`));
      await mkdir(pathOf('mock', app), { recursive: true });
      await symlink(pathOf(`outside-${app}`), pathOf('mock', app, 'evil'));
      expect((await execute(app, 'address:evil')).json.code).toBe('channel-unavailable');
      expect(await readdir(pathOf(`outside-${app}`))).toEqual([]);
    });

    it('a link in the place of a result is neither read nor does what it leads to go', async () => {
      const secret = pathOf('secret.json');
      await writeFile(secret, done);
      await using client = await clientThat(async (request) => {
        await request.pickUp();
        await symlink(secret, request.resultPath);
      });
      const { status, json } = await execute(client.app);
      expect([status, json.code]).toEqual([502, 'invalid-result']);
      expect(await readFile(secret, 'utf8')).toBe(done);
    });

    it('a body of any size does not fill the memory', async () => {
      const { status } = await service.execute(
        `{"app":1,"ruleId":1,"the service":{"a":"${'a'.repeat(2 * 1024 * 1024)}"}}`,
      );
      expect(status).toBe(413);
    });

    it('no number changes on the way there or back', async () => {
      const numbers = '[9007199254740993,123456789012345678901234567890,1.0,1e300,-0,0.10]';
      await using client = await clientThat(async (request) => {
        await request.pickUp();
        await request.answer(`{"success":true,"roam":${/"roam":(\{.*?\})/.exec(request.text)?.[1]}}`);
      });
      const { text } = await service.execute(`{"app":${client.app},"ruleId":1,"the service":{"a":${numbers}}}`);
      expect(text).toContain(`"the service":{"a":${numbers}}`);
    });

    it('a failure has every member a success has', async () => {
      await using client = await clientThat(answersWith('{"success":false,"error":"kaboom"}'));
      const { json } = await execute(client.app);
      for (const member of ['mockId', 'success', 'the service', 'process', 'error', 'executeAt']) {
        expect(json).toHaveProperty([member]);
      }
    });

    it('a client in a lane can be addressed', async () => {
      await using client = await clientThat(answersWith(done), { lane: 'beta', address: 'in-beta' });
      expect((await execute(client.app, 'address:in-beta')).status).toBe(200);
    });

    it('schema has composite and derived keys, and keys behind @ without it', async () => {
      const app = ++apps;
      await registerPublished({ sharedDir: service.sharedDir, app, sdk: 'python', address: 'one' });
      const leaf = (id: number, name: string, fields: object) =>
        writeFile(
          pathOf(app, 'confs', `${id}.json`),
          JSON.stringify({ id, type: 7, confName: `com.sample.${name}`, confField: JSON.stringify(fields) }),
        );
      await mkdir(pathOf(app, 'confs'), { recursive: true });
      await mkdir(pathOf(app, 'bases'), { recursive: true });
      await writeFile(pathOf(app, 'bases', '1.json'), '{"id":1,"confId":10}');
      await writeFile(pathOf(app, 'confs', '10.json'), '{"id":10,"type":3,"sonIds":"11,12,13"}');
      await Promise.all([
        leaf(11, 'ProbeNone', { key: 'score' }),
        leaf(12, 'DerivedNone', {}),
        leaf(13, 'UnionNone', { expr: '@vip.level' }),
      ]);
      const { json } = await service.call(`/rule-server/mock/schema?app=${app}&ruleId=1`);
      const keys = json.fields.map(({ key }: { key: string }) => key);
      expect(keys).toEqual(expect.arrayContaining(['pre_score', 'which', `\${which}`, 'vip.level']));
    });

    it('what went wrong has a status of its own, and nothing runs by GET or from a foreign page', async () => {
      const [app, body] = [++apps, '{"app":1,"ruleId":1}'];
      expect((await execute(app)).status).toBe(503);
      const get = await service.call('/rule-server/mock/execute');
      expect([get.status, get.headers.allow]).toEqual([405, 'POST']);
      const form = await service.call('/rule-server/mock/execute', {
        method: 'POST',
        headers: { origin: 'https://elsewhere.example', 'content-type': 'text/plain' },
        body,
      });
      expect(form.status).toBe(415);
      expect(get.headers['access-control-allow-origin']).toBeUndefined();
    });

    it('a rule that would kill a client is not sent', async () => {
      await using client = await clientThat(answersWith(done), { as: 'go' });
      await mkdir(pathOf(client.app, 'confs'), { recursive: true });
      await writeFile(pathOf(client.app, 'confs', '5.json'), '{"id":5,"type":1,"sonIds":"5"}');
      const { status, json } = await service.execute({ app: client.app, confId: 5 });
      expect([status, json.code]).toEqual([422, 'cycle']);
      expect(client.found).toEqual([]);
    });

    it('a request that a client cannot delete does not stay to be run again and again', async () => {
      await using client = await clientThat((request) => request.answer(done), { as: 'go' });
      expect((await execute(client.app)).status).toBe(200);
      expect(await readdir(client.directory)).not.toContain(`${client.found[0]?.mockId}.json`);
    });

    it('a directory we make is as open to its client as mock/ is', async () => {
      await using client = await clientThat(answersWith(done));
      await client.removeDirectory();
      await execute(client.app);
      const modeOf = async (path: string) => (await stat(path)).mode & 0o7777;
      expect(await modeOf(client.directory)).toBe(await modeOf(pathOf('mock')));
    });

    it('a result that is no JSON is told at once, not after the longest wait', async () => {
      await using client = await clientThat(answersWith('{"success":true,"roam":{"a":NaN}}'));
      const { code, mockId } = (await execute(client.app)).json;
      expect(code).toBe('invalid-result');
      expect(await tookMs(mockId)).toBeLessThan(service.settings.RESULT_TIMEOUT_MS);
    });

    it('two executions never have one id', async () => {
      await using client = await clientThat(answers(), { as: 'rule' });
      const all = await Promise.all(Array.from({ length: 50 }, () => execute(client.app)));
      expect(new Set(all.map(({ json }) => json.mockId)).size).toBe(50);
    });
  });
});
