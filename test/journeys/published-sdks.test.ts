import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { answersWith, type Behaviour, createResponder, type FoundRequest } from '../support/responder.ts';
import { type Service, startService } from '../support/start-service.ts';

/** Dozens of tests at once on a busy machine are no reason to give a client up. */
const PATIENT = { QUEUE_TIMEOUT_MS: 20_000, CLIENT_TIMEOUT_MS: 20_000, RESULT_TIMEOUT_MS: 8000 };

type Sdk = 'go' | 'python' | 'java';

describe('clients of the published SDKs', () => {
  let service: Service;
  let apps = 300;
  beforeAll(async () => {
    service = await startService({ settings: PATIENT });
  });
  afterAll(() => service.stop());

  const clientThat = async (as: Sdk, does: Behaviour, app = ++apps) => {
    const client = await createResponder({ sharedDir: service.sharedDir, app, does, as });
    return Object.assign(client, { app });
  };

  /** The outcome of one run on a client that writes exactly `result` for it. */
  async function outcomeOf(as: Sdk, result: string | ((request: FoundRequest) => string), input: unknown = {}) {
    await using client = await clientThat(as, answersWith(result));
    const answer = await service.execute({ app: client.app, ruleId: 1, 'the service': input });
    return { ...answer, client };
  }

  /** What the execution's record says besides its outcome. */
  async function warningsOf(mockId: string): Promise<{ code: string; message: string; nodeId?: string }[]> {
    const { json } = await service.call(`/rule-server/mock/executions/${mockId}`);
    return json.warnings;
  }

  const goSucceeds = ({ mockId }: FoundRequest) =>
    `{"mockId":"${mockId}","success":true,"trace":"8RXJoPM5Jsh","ts":1795151310236,"executeAt":1795151310236}`;

  describe.concurrent('every result they are known to write has a clear outcome', () => {
    it('success without data and process (Go, outside the window): empty data, no process', async () => {
      const { status, json, client } = await outcomeOf('go', goSucceeds);
      expect(status).toBe(200);
      expect(json).toEqual({
        mockId: client.found[0]?.mockId,
        success: true,
        'the service': {},
        process: null,
        error: null,
        executeAt: 1_795_151_310_236,
        trace: '8RXJoPM5Jsh',
        ts: 1_795_151_310_236,
      });
    });

    it('success with an empty process (Java): it stays empty', async () => {
      const { json } = await outcomeOf(
        'go',
        ({ mockId }) => `{"mockId":"${mockId}","success":true,"roam":{},"process":"","executeAt":5}`,
      );
      expect(json).toMatchObject({ success: true, process: '', error: null });
    });

    it('a failure without process: the reason, no data and no process', async () => {
      const { status, json } = await outcomeOf(
        'python',
        ({ mockId }) =>
          `{"mockId": "${mockId}", "executeAt": 1, "success": false, "error": "kaboom", "trace": "x", "ts": 1}`,
      );
      expect(status).toBe(200);
      expect(json).toMatchObject({
        success: false,
        'the service': {},
        process: null,
        error: 'kaboom',
        trace: 'x',
        ts: 1,
      });
    });

    it.each([
      ['an empty reason (Python)', '"error": "", ', ''],
      ['no reason at all (Java)', '', null],
    ])('a failure with %s: it is passed on, and the execution says where to look', async (_, member, error) => {
      const { json, client } = await outcomeOf(
        'python',
        ({ mockId }) => `{"mockId": "${mockId}", "success": false, ${member}"ts": 1}`,
      );
      expect(json).toMatchObject({ success: false, error });
      expect(await warningsOf(json.mockId)).toMatchObject([{ code: 'no-reason', params: { address: client.address } }]);
    });

    it('data whose nulls were dropped (Java): what is there, nothing is put back', async () => {
      const { json } = await outcomeOf('python', '{"success":true,"roam":{"probe":{}}}', { probe: { last: null } });
      expect(json['the service']).toEqual({ probe: {} });
    });

    it('half a temporary file and no result (Python, data that is no JSON): no-answer', async () => {
      await using client = await clientThat('python', async (request) => {
        await request.pickUp();
        await writeFile(`${request.resultPath}.tmp`, '{"mockId": ');
      });
      const { status, json } = await service.execute({ app: client.app, ruleId: 1 });
      expect([status, json.code]).toEqual([504, 'no-answer']);
      await client.removeDirectory(); // the sweep would, once nobody can be writing it any more
    });

    it('data of its own that is called like ours does not hide what it returned', async () => {
      const { json } = await outcomeOf('python', '{"success":true,"roam":{"a":1},"the service":{"b":2}}');
      expect(json['the service']).toEqual({ a: 1 });
    });
  });

  describe.concurrent('a key that older SDKs keep their own notes under', () => {
    const execute = (app: number, input: string) => service.execute(`{"app":${app},"ruleId":1,"the service":${input}}`);

    it.each(['{"_ice":{"id":1}}', '{"a":1,"\\u005fice":null}'])(
      '%s: 400, naming the field, and nothing is sent',
      async (input) => {
        await using client = await clientThat('python', answersWith('{"success":true}'));
        const { status, headers, json } = await execute(client.app, input);
        expect(status).toBe(400);
        expect(headers['content-type']).toBe('application/problem+json');
        expect(json.errors).toMatchObject([
          {
            field: 'the service',
            message: `has "_ice" at its top level, a name that client ${client.address} may use itself`,
          },
        ]);
        expect(client.found).toEqual([]);
      },
    );

    it('deeper in the data it is a name like any other', async () => {
      await using client = await clientThat('python', answersWith('{"success":true}'));
      expect((await execute(client.app, '{"a":{"_ice":1},"b":"_ice"}')).status).toBe(200);
    });

    it('a client of our own dialect may be given it', async () => {
      const app = ++apps;
      await using _client = await createResponder({
        sharedDir: service.sharedDir,
        app,
        does: answersWith('{"success":true}'),
      });
      expect((await execute(app, '{"_ice":1}')).status).toBe(200);
    });
  });

  describe.concurrent('numbers that no 64-bit float holds', () => {
    const execute = (app: number, target = 'all') =>
      service.execute(`{"app":${app},"ruleId":1,"target":"${target}","the service":{"list":[1,{"a":1e400}]}}`);

    it.each([
      ['go', 'Go'],
      ['python', 'Python'],
    ] as const)('a %s client alone: 400 that names the field and the SDK, and nothing is sent', async (as, name) => {
      await using client = await clientThat(as, answersWith('{"success":true}'));
      const { status, json } = await execute(client.app);
      expect(status).toBe(400);
      expect(JSON.stringify(json)).toContain(
        `has 1e400 at list[1].a, larger than any 64-bit float, and client ${client.address} (${name}) cannot read such a number`,
      );
      expect(client.found).toEqual([]);
    });

    it('a client that can read them is asked before one that cannot', async () => {
      await using go = await clientThat('go', answersWith('{"success":true}'));
      const { sharedDir } = service;
      await using ours = await createResponder({ sharedDir, app: go.app, does: answersWith('{"success":true}') });
      for (let call = 0; call < 5; call++) expect((await execute(go.app)).status).toBe(200);
      expect([go.found.length, ours.found.length]).toEqual([0, 5]);
      expect((await execute(go.app, `address:${go.address}`)).status).toBe(400);
    });

    it('and so it is in a batch', async () => {
      await using go = await clientThat('go', answersWith('{"success":true}'));
      const { sharedDir } = service;
      await using ours = await createResponder({ sharedDir, app: go.app, does: answersWith('{"success":true}') });
      const cases = Array.from({ length: 6 }, (_, n) => `{"the service":{"list":[${n},{"a":1e400}]}}`);
      const { json } = await service.call('/rule-server/mock/batches', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: `{"app":${go.app},"ruleId":1,"concurrency":3,"cases":[${cases}]}`,
      });
      const counts = async () => (await service.call(`/rule-server/mock/batches/${json.batchId}`)).json.counts;
      await eventually(async () => expect(await counts()).toMatchObject({ ran: 6, pending: 0 }));
      expect([go.found.length, ours.found.length]).toEqual([0, 6]);
    });

    it('and so it is in a lane', async () => {
      const { sharedDir } = service;
      const [lane, does, app] = ['beta', answersWith('{"success":true}'), ++apps];
      await using ours = await createResponder({ sharedDir, app, lane, does, beatEveryMs: 10_000 });
      await using python = await createResponder({ sharedDir, app, lane, does, as: 'python' }); // heard of last
      for (let call = 0; call < 5; call++) expect((await execute(app, 'lane:beta')).status).toBe(200);
      expect([python.found.length, ours.found.length]).toEqual([0, 5]);
    });

    it('a Java client, which only changes them, gets the call, and a warning says so', async () => {
      await using client = await clientThat('java', answersWith('{"success":true}'));
      const { status, json } = await execute(client.app);
      expect(status).toBe(200);
      expect(await warningsOf(json.mockId)).toMatchObject([
        {
          code: 'out-of-range',
          params: { address: client.address, sdk: 'Java', number: '1e400', path: 'list[1].a' },
        },
      ]);
    });
  });

  describe.concurrent('integers beyond 2^53 and clients of the Go SDK', () => {
    const large = '{"success":true,"roam":{"uid":9007199254740993}}';
    const execute = (app: number, input: string) => service.execute(`{"app":${app},"ruleId":1,"the service":${input}}`);
    const messages = async (mockId: string) =>
      (await warningsOf(mockId)).map(({ code, message }) => `${code}: ${message}`);

    it('given one: the execution says what the rule sees', async () => {
      await using client = await clientThat('go', answersWith('{"success":true}'));
      const { json } = await execute(client.app, '{"text":"9007199254740993","list":[-9007199254740993]}');
      expect(await messages(json.mockId)).toEqual([
        `precision: Client ${client.address} (Go) keeps numbers as 64-bit floats: of -9007199254740993 in the input its rule sees -9007199254740992.`,
      ]);
    });

    it('returning one: the execution says that it may be rounded', async () => {
      await using client = await clientThat('go', answersWith(large));
      const { text, json } = await execute(client.app, '{}');
      expect(text).toContain('"uid":9007199254740993');
      expect(await messages(json.mockId)).toEqual([
        `precision: Client ${client.address} (Go) keeps numbers as 64-bit floats: 9007199254740993 in its answer may be rounded.`,
      ]);
    });

    it('only those that were rounded are named: 2^53 is exact, there and back', async () => {
      const exact = '9007199254740992';
      await using client = await clientThat('go', answersWith(`{"success":true,"roam":{"n":${exact}}}`));
      const alone = await execute(client.app, `{"n":${exact}}`);
      expect(await messages(alone.json.mockId)).toEqual([]);
      const among = await execute(client.app, `{"n":${exact},"list":[9007199254740993,9007199254740995]}`);
      expect(await messages(among.json.mockId)).toEqual([
        `precision: Client ${client.address} (Go) keeps numbers as 64-bit floats: of 9007199254740993, 9007199254740995 in the input its rule sees 9007199254740992, 9007199254740996.`,
      ]);
    });

    it('smaller ones, and long digits in strings, are nothing to speak of', async () => {
      await using client = await clientThat('go', answersWith('{"success":true,"roam":{"a":"99999999999999999999"}}'));
      const { json } = await execute(client.app, '{"a":9007199254740991,"b":"99999999999999999999","c":1e30}');
      expect(await warningsOf(json.mockId)).toEqual([]);
    });

    it('a Python client keeps them, so there is no warning', async () => {
      await using client = await clientThat('python', answersWith(large));
      const { json } = await execute(client.app, '{"uid":9007199254740993}');
      expect(await warningsOf(json.mockId)).toEqual([]);
    });
  });

  describe.concurrent('the rule is looked at before it is sent', () => {
    const succeeds = answersWith('{"success":true}');

    async function ruleOf(app: number, nodes: Record<number, object>): Promise<void> {
      const put = async (folder: string, id: number, value: object) => {
        await mkdir(join(service.sharedDir, String(app), folder), { recursive: true });
        await writeFile(join(service.sharedDir, String(app), folder, `${id}.json`), JSON.stringify({ id, ...value }));
      };
      await put('bases', 1, { confId: 10, status: 1 });
      for (const [id, value] of Object.entries(nodes)) await put('confs', Number(id), value);
    }

    it('one that runs in a circle is refused with 422, naming the nodes, and does not run', async () => {
      await using client = await clientThat('go', succeeds);
      await ruleOf(client.app, {
        10: { type: 1, sonIds: '11' },
        11: { type: 4, sonIds: '12' },
        12: { type: 5, forwardId: 11 },
      });
      const { status, json } = await service.execute({ app: client.app, ruleId: 1 });
      expect(status).toBe(422);
      expect(json).toMatchObject({ code: 'cycle', mayHaveRun: false, success: false });
      expect(json.params).toEqual({ app: client.app, ruleId: '1', nodes: '11 → 12 → 11' });
      expect(client.found).toEqual([]);
      await ruleOf(client.app, { 12: { type: 5 } });
      expect((await service.execute({ app: client.app, ruleId: 1 })).status).toBe(200);
    });

    it('a node alone, and a circle of many, are named too', async () => {
      await using client = await clientThat('go', succeeds);
      const ring = Array.from({ length: 30 }, (_, at) => [
        100 + at,
        { type: 1, sonIds: String(100 + ((at + 1) % 30)) },
      ]);
      await ruleOf(client.app, Object.fromEntries(ring));
      // A machine that stands still for seconds sends a rule it had no time to look at.
      await eventually(async () => {
        const { json } = await service.execute({ app: client.app, confId: 100 });
        expect(json.params).toMatchObject({
          confId: '100',
          nodes: expect.stringMatching(/^100 → 101 → .* → 109 → …$/),
        });
      });
    });

    it('what else is wrong with it runs, and is a warning of the execution that the answer does not show', async () => {
      await using client = await clientThat('go', succeeds);
      await ruleOf(client.app, {
        10: { type: 1, sonIds: '11,12,13,14' },
        11: { type: 7, confName: 'com.sample.Echo' },
        12: { type: 7, confName: 'com.sample.Absent' },
        14: { type: 'x' },
      });
      const { status, json } = await service.execute({ app: client.app, ruleId: 1 });
      expect(status).toBe(200);
      expect(Object.keys(json)).toEqual(['success', 'mockId', 'the service', 'process', 'error', 'executeAt']);
      expect((await warningsOf(json.mockId)).map(({ code, nodeId }) => `${code} ${nodeId}`)).toEqual([
        'missing-node 13',
        'unusable-file 14',
        'missing-leaf-class 12',
      ]);
    });

    it('a class that the client does not name is no warning once its trace shows that the node ran', async () => {
      const ranAll = '{"success":true,"process":"[10:All:N][11:Absent:T:0]"}';
      await using client = await clientThat('go', answersWith(ranAll));
      await ruleOf(client.app, {
        10: { type: 1, sonIds: '11,12' },
        11: { type: 7, confName: 'com.sample.Absent' },
        12: { type: 7, confName: 'com.sample.Missing' },
      });
      const { json } = await service.execute({ app: client.app, ruleId: 1 });
      expect(await warningsOf(json.mockId)).toMatchObject([{ code: 'missing-leaf-class', nodeId: 12 }]);
    });

    it('a rule that the app does not have is the client’s to judge, and a warning', async () => {
      await using client = await clientThat('go', succeeds);
      await ruleOf(client.app, { 10: { type: 1 } });
      const { status, json } = await service.execute({ app: client.app, ruleId: 2 });
      expect(status).toBe(200);
      const params = { app: client.app, ruleId: '2' };
      expect(await warningsOf(json.mockId)).toMatchObject([{ code: 'unknown-rule', params }]);
    });

    it('an execution that was not answered has its warnings too', async () => {
      await using client = await clientThat('go', (request) => request.pickUp());
      await ruleOf(client.app, { 10: { type: 7, confName: 'com.sample.Absent' } });
      const { status, json } = await service.execute({ app: client.app, ruleId: 1 });
      expect(status).toBe(504);
      expect(await warningsOf(json.mockId)).toMatchObject([{ code: 'missing-leaf-class', nodeId: 10 }]);
    });

    it('rules that nobody can read are no reason not to run', async () => {
      await using client = await clientThat('go', succeeds);
      await writeFile(join(service.sharedDir, String(client.app)), 'not a folder');
      const { status, json } = await service.execute({ app: client.app, ruleId: 1 });
      expect(status).toBe(200);
      expect(await warningsOf(json.mockId)).toEqual([]);
    });
  });

  it('an execution that another worker goes on with keeps its warnings', async () => {
    await using handed = await startService({ settings: PATIENT });
    const answered = Promise.withResolvers<void>();
    const { sharedDir } = handed;
    await using client = await createResponder({
      sharedDir,
      app: 1,
      as: 'go',
      does: async (request) => {
        await request.pickUp();
        await answered.promise;
        await request.answer('{"success":true}');
      },
    });
    await mkdir(join(sharedDir, '1', 'confs'), { recursive: true });
    await writeFile(join(sharedDir, '1', 'confs', '5.json'), '{"id":5,"type":7,"confName":"com.sample.Absent"}');
    const executing = handed.execute('{"app":1,"confId":5,"the service":{"uid":9007199254740993}}');
    await client.firstRequest();
    const [leaving] = handed.workers;
    await handed.addWorker();
    await leaving?.stop();
    answered.resolve();
    const { status, json } = await executing;
    expect(status).toBe(200);
    const record = await handed.call(`/rule-server/mock/executions/${json.mockId}`);
    expect(record.json.warnings.map(({ code }: { code: string }) => code)).toEqual(['missing-leaf-class', 'precision']);

    await using ran = await createResponder({
      sharedDir,
      app: 1,
      as: 'python',
      does: answersWith('{"success":true,"process":"[5:Absent:T:0]"}'),
    });
    const call = `{"app":1,"confId":5,"target":"address:${ran.address}"}`;
    const known = await handed.call(`/rule-server/mock/executions/${(await handed.execute(call)).json.mockId}`);
    expect(known.json.warnings, 'the trace shows that the node ran').toEqual([]);
  });
});
