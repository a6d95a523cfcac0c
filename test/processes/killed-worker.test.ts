import { expect, inject, it } from 'vitest';
import { echoes } from '../support/echoes.ts';
import { eventually } from '../support/eventually.ts';
import { privateLeftovers } from '../support/private-leftovers.ts';
import { createResponder } from '../support/responder.ts';
import { borrowDatabase } from '../support/shared-redis.ts';
import { startProcesses } from '../support/start-processes.ts';
import { sweepLater } from '../support/sweep-later.ts';

it.skipIf(inject('sharedRedis') === null)(
  'a worker is killed after its claim: another one sends the request that it claimed, and the client is asked once',
  async () => {
    const database = await borrowDatabase();
    try {
      const settings = { CLIENT_TIMEOUT_MS: 60_000 };
      await using processes = await startProcesses({ queueUrl: database?.url ?? '', settings, workers: 0 });
      const { sharedDir, api } = processes;
      await using client = await createResponder({ sharedDir, app: 1, does: echoes() });
      const dying = await processes.addWorker({ fault: { step: 'before-dispatch', signal: 'SIGKILL' } });
      const call = api.execute({ app: 1, ruleId: 1, 'the service': { number: 7 } });
      await eventually(() => expect(dying.isRunning).toBe(false), 60_000);
      expect(client.found).toEqual([]);
      await processes.addWorker();
      const { status, json } = await call;
      expect([status, json['the service']]).toEqual([200, { number: 7 }]);
      expect(client.found.map(({ mockId }) => mockId)).toEqual([json.mockId]);
      await eventually(async () => expect(await processes.leftovers()).toEqual([]));
      await sweepLater(sharedDir);
      expect(await privateLeftovers(sharedDir)).toEqual([]);
      expect(processes.noise()).toEqual([]);
    } finally {
      await database?.stop();
    }
  },
);
