import { expect, inject, it } from 'vitest';
import { echoes } from '../support/echoes.ts';
import { eventually } from '../support/eventually.ts';
import { httpCall } from '../support/http-call.ts';
import { redisCommand } from '../support/redis-command.ts';
import { createResponder } from '../support/responder.ts';
import { borrowDatabase } from '../support/shared-redis.ts';
import { startProcesses } from '../support/start-processes.ts';

it.skipIf(inject('sharedRedis') === null)(
  'a worker dies between completing and writing the history: its record is there soon, and stays',
  async () => {
    const database = await borrowDatabase();
    const queueUrl = database?.url ?? '';
    try {
      await using processes = await startProcesses({ queueUrl, workers: 0 });
      const { api, sharedDir } = processes;
      await using _client = await createResponder({ sharedDir, app: 1, does: echoes() });
      const dying = await processes.addWorker({ fault: { step: 'before-record', signal: 'SIGKILL' } });
      const { status, json } = await api.execute({ app: 1, ruleId: 1, 'the service': { kept: true } });
      expect(status).toBe(200);
      await eventually(() => expect(dying.isRunning).toBe(false));
      const record = `{rule-server}:history:record:${json.mockId}`;
      await eventually(async () => expect(await redisCommand(queueUrl, 'EXISTS', record)).toBe(1), 120_000);
      const seen = await httpCall(`${api.url}/rule-server/mock/executions/${json.mockId}`);
      expect(seen.json).toMatchObject({ state: 'succeeded', result: { 'the service': { kept: true } } });
      const states = seen.json.history.map(({ state }: { state: string }) => state);
      expect([states.slice(0, 2), states.at(-1)]).toEqual([['queued', 'dispatched'], 'succeeded']);
      expect(api.log.filter(({ msg }) => msg.startsWith('added to the history'))).toHaveLength(1);
    } finally {
      await database?.stop();
    }
  },
);
