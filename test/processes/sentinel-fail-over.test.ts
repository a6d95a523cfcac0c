import { expect, inject, it } from 'vitest';
import { echoes } from '../support/echoes.ts';
import { eventually } from '../support/eventually.ts';
import { redisCommand } from '../support/redis-command.ts';
import { SENTINEL_PASSWORD, startSentinels } from '../support/redis-sentinels.ts';
import { createResponder } from '../support/responder.ts';
import { startProcesses } from '../support/start-processes.ts';
import { twice } from '../support/steady-calls.ts';

const OPEN = 10;
const bodyOf = (number: number) => ({ app: 1, ruleId: 1, 'the service': { number } });

it.skipIf(!inject('hasRedisBinary'))(
  'the master behind Sentinels is killed: open calls get their answers, and new ones run on the next master',
  async () => {
    await using sentinels = await startSentinels();
    const settings = { SENTINEL_PASSWORD, CLIENT_TIMEOUT_MS: 60_000 };
    await using processes = await startProcesses({ queueUrl: sentinels.url, settings });
    const { sharedDir, api } = processes;
    const answerNow = Promise.withResolvers<void>();
    await using client = await createResponder({ sharedDir, app: 1, does: echoes({ once: answerNow.promise }) });
    using _answered = { [Symbol.dispose]: () => answerNow.resolve() }; // so that the client can stop, whatever failed
    const open = Array.from({ length: OPEN }, (_, number) => api.execute(bodyOf(number)));
    await eventually(() => expect(client.found).toHaveLength(OPEN), 60_000);
    const old = await sentinels.master();
    const replicas = sentinels.servers.filter((server) => server !== old);
    // The replicas have what the calls are by now: a fail-over keeps no promise about writes that nobody else got.
    await eventually(async () => {
      const sizes = await Promise.all([old, ...replicas].map(({ url }) => redisCommand(url, 'DBSIZE')));
      expect(new Set(sizes).size).toBe(1);
    }, 60_000);
    await old.kill();
    await sentinels.moved(old);
    answerNow.resolve();
    expect((await Promise.all(open)).map(({ status, json }) => [status, json['the service']?.number])).toEqual(
      open.map((_, number) => [200, number]),
    );
    await eventually(async () => expect((await api.execute(bodyOf(OPEN))).status).toBe(200), 60_000);
    expect(twice(client.found)).toEqual([]);
    expect(processes.noise()).toEqual([]);
  },
);
