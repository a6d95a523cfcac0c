import { access, mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { createOtherServer } from '../support/other-server.ts';
import type { Behaviour, FoundRequest, Responder } from '../support/responder.ts';
import { type Service, startService } from '../support/start-service.ts';

type Kind = 'python' | 'rule';

/** Both servers' clients are given up after so long. */
const CLIENT_TIMEOUT_MS = 4000;

describe('beside a server of another kind that cleans the same directory', () => {
  let service: Service;
  let sharedDir = '';
  let apps = 900;
  beforeAll(async () => {
    sharedDir = await mkdtemp(join(tmpdir(), 'rule-server-'));
    otherServer(apps);
    service = await startService({
      sharedDir,
      settings: { CLIENT_TIMEOUT_MS, RESULT_TIMEOUT_MS: 20_000, QUEUE_TIMEOUT_MS: 20_000, POLL_INTERVAL_MS: 100 },
    });
  });
  afterAll(() => service.stop());

  const otherServer = (app: number) => createOtherServer({ sharedDir, clientTimeoutMs: CLIENT_TIMEOUT_MS, app });
  const resultOf = ({ mockId }: FoundRequest, as: Kind = 'python') =>
    `{"mockId":"${mockId}","success":true,"${as === 'rule' ? 'the service' : 'roam'}":{},"process":"done"}`;
  const clientThat: Service['clientThat'] = (does, options) =>
    service.clientThat(does, { as: 'python', beatEveryMs: 100, ...options });
  const there = (path: string) =>
    access(path).then(
      () => true,
      () => false,
    );

  it('calls of quick and slow clients all get their answers while it cleans all the time', async () => {
    const app = ++apps;
    const clients = await Promise.all(
      [0, 30, 400].map((ms) =>
        clientThat(
          async (request) => {
            await request.pickUp();
            await delay(ms);
            await request.answer(resultOf(request));
          },
          { app },
        ),
      ),
    );
    const stopCleaning = otherServer(app).keepCleaning(5);
    try {
      for (let round = 0; round < 5; round++) {
        const calls = clients.map(({ address }) => service.execute({ app, ruleId: 1, target: `address:${address}` }));
        expect((await Promise.all(calls)).map(({ status, json }) => json.error ?? status)).toEqual([200, 200, 200]);
      }
    } finally {
      await stopCleaning();
      await Promise.all(clients.map((client) => client.stop()));
    }
  });

  it.each(['python', 'rule'] as const)(
    'a %s client that runs a rule keeps its directory: it is not empty',
    async (as) => {
      const app = ++apps;
      const does: Behaviour = async (request) => {
        await request.pickUp();
        await otherServer(app).clean();
        await request.answer(resultOf(request, as));
      };
      await using _client = await clientThat(does, { app, as });
      expect((await service.execute({ app, ruleId: 1 })).json).toMatchObject({ process: 'done' });
    },
  );

  describe.concurrent('a rule that runs for longer than it lets clients be silent', () => {
    /** Like the published SDKs: no beat while a rule runs, one attempt to write the result, and then registered again. */
    const runsFor =
      (ms: number, meanwhile: (self: Responder) => Promise<void>): Behaviour =>
      async (request, self) => {
        await self.stopBeating();
        await request.pickUp();
        await eventually(async () => {
          const { json } = await service.call(`/rule-server/mock/executions/${request.mockId}`);
          expect(json.state).toBe('picked-up');
        });
        await delay(ms);
        await meanwhile(self);
        await request.answer(resultOf(request));
      };

    it('its registration and directory are removed under it, and its answer arrives all the same', async () => {
      await using bystander = await clientThat(() => {});
      let removed: boolean[] = [];
      await using client = await clientThat(
        runsFor(CLIENT_TIMEOUT_MS + 500, async (self) => {
          await otherServer(bystander.app).clean();
          removed = [await there(self.registrationPath), await there(self.heartbeatPath)];
          await eventually(async () => expect(await there(self.directory)).toBe(true));
        }),
        { app: bystander.app },
      );
      const answer = await service.execute({ app: client.app, ruleId: 1, target: `address:${client.address}` });
      expect(removed).toEqual([false, false]);
      expect([answer.status, answer.json.process]).toEqual([200, 'done']);
    });

    it('and never ends: no-answer in time, and no directory is left of it', async () => {
      await using bystander = await clientThat(() => {});
      await using client = await clientThat(
        async (request, self) => {
          await self.stopBeating();
          await request.pickUp();
          await delay(CLIENT_TIMEOUT_MS + 500);
          await otherServer(bystander.app).clean();
        },
        { app: bystander.app },
      );
      const { status, json } = await service.execute({
        app: client.app,
        ruleId: 1,
        target: `address:${client.address}`,
      });
      expect([status, json.code, json.mayHaveRun]).toEqual([504, 'no-answer', true]);
      await eventually(async () => expect(await there(client.directory)).toBe(false));
    });

    it('we remove nothing of a client that is silent for as long, however it looks', async () => {
      await using client = await clientThat(runsFor(CLIENT_TIMEOUT_MS * 2, async () => {}));
      const answer = await service.execute({ app: client.app, ruleId: 1 });
      expect(answer.status).toBe(200);
      expect(await Promise.all([client.registrationPath, client.heartbeatPath, client.directory].map(there))).toEqual([
        true,
        true,
        true,
      ]);
    });
  });

  it('what we leave in a directory it never takes for its own: every file of a name it reads is ours to remove', async () => {
    await using client = await clientThat(async (request) => {
      await request.pickUp();
      await request.answer(resultOf(request));
    });
    await service.execute({ app: client.app, ruleId: 1 });
    await eventually(async () =>
      expect(await readdir(join(service.sharedDir, 'mock', String(client.app), client.address))).toEqual([]),
    );
  });
});
