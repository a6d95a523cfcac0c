import { mkdir, rename } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { createOtherServer } from '../support/other-server.ts';
import { resultText } from '../support/responder.ts';
import { type Service, startService } from '../support/start-service.ts';

const EXECUTIONS = '/rule-server/mock/executions';

describe('a client that seems to be gone', () => {
  let service: Service;
  beforeAll(async () => {
    const settings = { RESULT_TIMEOUT_MS: 15_000, CLIENT_TIMEOUT_MS: 4000, POLL_INTERVAL_MS: 50 };
    service = await startService({ settings });
  });
  afterAll(() => service.stop());

  const executionOf = async (mockId: string) => (await service.call(`${EXECUTIONS}/${mockId}`)).json;
  const statesOf = async (mockId: string): Promise<string[]> =>
    (await executionOf(mockId)).history.map(({ state }: { state: string }) => state);
  const cancel = (mockId: string) => service.call(`${EXECUTIONS}/${mockId}`, { method: 'DELETE' });

  describe.concurrent('has not left', () => {
    it('while it registers again: its registration is away for 300 ms, and its answer arrives', async () => {
      await using client = await service.clientThat(async (request, self) => {
        await request.pickUp();
        await rename(self.registrationPath, `${self.registrationPath}.away`);
        await delay(300);
        await rename(`${self.registrationPath}.away`, self.registrationPath);
        await delay(300);
        await request.answer(resultText(request));
      });
      expect((await service.execute({ app: client.app, ruleId: 1 })).status).toBe(200);
    });

    it('when it moves to a lane while it runs a rule: its answer arrives', async () => {
      await using client = await service.clientThat(async (request, self) => {
        await request.pickUp();
        const lane = join(dirname(self.registrationPath), 'lane', 'beta');
        await mkdir(lane, { recursive: true });
        await rename(self.registrationPath, join(lane, basename(self.registrationPath)));
        await delay(2000);
        await request.answer(resultText(request));
      });
      expect((await service.execute({ app: client.app, ruleId: 1 })).status).toBe(200);
    });
  });

  it('was removed by a cleaner while it ran a rule: the call that waited behind was not picked up, and ends soon', async () => {
    const bystander = await service.clientThat(() => {});
    const released = Promise.withResolvers<void>();
    const client = await service.clientThat(
      async (request, self) => {
        if (self.found.length > 1) return;
        await self.stopBeating();
        await request.pickUp();
        await released.promise;
        await request.answer(`{"mockId":"${request.mockId}","success":true,"roam":{}}`);
      },
      { as: 'python', app: bystander.app },
    );
    const target = `address:${client.address}`;
    const first = service.execute({ app: bystander.app, ruleId: 1, target });
    const { mockId } = await client.firstRequest();
    await eventually(async () => expect(await statesOf(mockId)).toContain('picked-up'));
    const second = service.execute({ app: bystander.app, ruleId: 2, target });
    await eventually(() => expect(client.found).toHaveLength(2));
    await delay(4500);
    await createOtherServer({
      sharedDir: service.sharedDir,
      clientTimeoutMs: 4000,
      app: bystander.app,
    }).clean();
    const { status, json } = await second;
    expect([status, json.code, json.mayHaveRun]).toEqual([504, 'client-left', true]);
    expect(json.reason).toBe('request-removed');
    expect(await statesOf(json.mockId)).not.toContain('picked-up');
    released.resolve();
    expect((await first).status).toBe(200);
    await client.stop();
    await bystander.stop();
  });

  describe.concurrent('and answers after its execution ended is heard within seconds:', () => {
    const lateResultOf = (mockId: string) =>
      vi.waitFor(async () => {
        const { lateResult } = await executionOf(mockId);
        expect(lateResult).toMatchObject({ 'the service': { ran: 'after all' } });
      }, 60_000);
    const text = (request: { mockId: string }) => resultText(request, { 'the service': { ran: 'after all' } });

    it('after a cancel', async () => {
      const release = Promise.withResolvers<void>();
      await using client = await service.clientThat(async (request) => {
        await request.pickUp();
        await release.promise;
        await request.answer(text(request));
      });
      const answering = service.execute({ app: client.app, ruleId: 1 });
      const { mockId } = await client.firstRequest();
      await eventually(async () => expect(await statesOf(mockId)).toContain('picked-up'));
      await cancel(mockId);
      expect((await answering).json).toMatchObject({ code: 'cancelled', mayHaveRun: true });
      release.resolve();
      await lateResultOf(mockId);
    });

    it('after it unregistered', async () => {
      const release = Promise.withResolvers<void>();
      await using client = await service.clientThat(async (request, self) => {
        await request.pickUp();
        await self.unregister();
        await release.promise;
        // The worker removes the directory of a client that left, so the two may meet.
        await eventually(async () => {
          await mkdir(self.directory, { recursive: true });
          await request.answer(text(request));
        });
      });
      const { json } = await service.execute({ app: client.app, ruleId: 1 });
      expect(json).toMatchObject({ code: 'client-left', mayHaveRun: true });
      release.resolve();
      await lateResultOf(json.mockId);
    });

    it('after it wrote something that is no result', async () => {
      const release = Promise.withResolvers<void>();
      await using client = await service.clientThat(async (request) => {
        await request.pickUp();
        await request.answer('null');
        await release.promise;
        await request.answer(text(request));
      });
      const { json } = await service.execute({ app: client.app, ruleId: 1 });
      expect(json).toMatchObject({ code: 'invalid-result', mayHaveRun: true });
      release.resolve();
      await lateResultOf(json.mockId);
    });
  });
});
