import { describe, expect, inject, it, vi } from 'vitest';
import { openEventStream } from '../support/event-stream.ts';
import { eventually } from '../support/eventually.ts';
import { startRedis } from '../support/redis.ts';
import { createResponder, resultText } from '../support/responder.ts';
import { PATIENT, startService } from '../support/start-service.ts';

const EXECUTIONS = '/rule-server/mock/executions';

const choice = inject('redis');

// A server that somebody else runs is not frozen.
describe.skipIf(choice.kind === 'unavailable' || choice.kind === 'url')('while the queue store is away', () => {
  it('executions are a 503, and event streams go on when it is back', async () => {
    const redis = await startRedis(choice, { appendOnly: true });
    try {
      await using service = await startService({ queueUrl: redis.url, settings: PATIENT });
      const go = Promise.withResolvers<void>();
      await using client = await createResponder({
        sharedDir: service.sharedDir,
        app: 1,
        does: async (request) => {
          await request.pickUp();
          await go.promise;
          await request.answer(resultText(request));
        },
      });
      const headers = { prefer: 'respond-async' };
      const { mockId } = (await service.execute({ app: 1, ruleId: 1 }, { headers })).json;
      await client.firstRequest();
      const stream = await openEventStream(`${service.url}${EXECUTIONS}/${mockId}/events`);
      await eventually(() => expect(stream.events.length).toBeGreaterThan(2));
      await new Promise((resolve) => setTimeout(resolve, 1200)); // the append-only file is written each second

      await redis.pause?.();
      await vi.waitFor(async () => expect((await service.call('/readyz')).status).toBe(503), { timeout: 60_000 });
      for (const path of [`${EXECUTIONS}/${mockId}`, EXECUTIONS, `${EXECUTIONS}/${mockId}/events`]) {
        const answer = await service.call(path);
        expect([answer.status, answer.headers['retry-after']]).toEqual([503, '2']);
      }
      await redis.resume?.();
      await redis.restart?.();
      go.resolve();
      await stream.ended;
      expect(stream.events.at(-1)?.data.state).toBe('succeeded');
    } finally {
      await redis.stop();
    }
  });
});
