import { existsSync } from 'node:fs';
import { describe, expect, inject, it } from 'vitest';
import { echoes } from '../support/echoes.ts';
import { eventually } from '../support/eventually.ts';
import { httpCall } from '../support/http-call.ts';
import { redisCommand } from '../support/redis-command.ts';
import { startRedisProcess } from '../support/redis-process.ts';
import { createResponder, picksUpAndStaysSilent } from '../support/responder.ts';
import { type Processes, startProcesses } from '../support/start-processes.ts';
import { twice } from '../support/steady-calls.ts';
import { sweepLater } from '../support/sweep-later.ts';

const OPEN = 10;
const WITHIN_MS = 60_000;
const settings = { CLIENT_TIMEOUT_MS: 60_000, POLL_INTERVAL_MS: 250 };
const bodyOf = (number: number) => ({ app: 1, ruleId: 1, 'the service': { number } });

describe.skipIf(!inject('hasRedisBinary'))('while executions are open, Redis', () => {
  it.each([
    ['with all its data', { appendOnly: true, more: ['--appendfsync', 'always'] }],
    ['empty', {}],
  ])(
    'is killed and comes back %s: open calls get their answers, new ones are refused until then',
    async (_, options) => {
      const redis = await startRedisProcess(options);
      const [whileAway, afterwards] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      try {
        await using processes = await startProcesses({ queueUrl: redis.url, settings, workers: 2 });
        const { sharedDir, api } = processes;
        // Half of the answers come while it is away, half when it is back.
        let asked = 0;
        await using client = await createResponder({
          sharedDir,
          app: 1,
          does(request, self) {
            const half = asked++ < OPEN / 2 ? whileAway : afterwards;
            return echoes({ once: half.promise })(request, self);
          },
        });
        // So that the client can stop, whatever failed.
        using _answered = {
          [Symbol.dispose]() {
            whileAway.resolve();
            afterwards.resolve();
          },
        };
        const open = Array.from({ length: OPEN }, (_, number) => api.execute(bodyOf(number)));
        await eventually(() => expect(client.found).toHaveLength(OPEN), WITHIN_MS);

        await redis.kill();
        whileAway.resolve();
        for (let time = 0; time < 4; time++) {
          // Right after the connection was lost nobody can know yet; later everybody does.
          const { status, json } = await api.execute(bodyOf(100));
          expect([`503 queue-unavailable`, `504 outcome-unknown`]).toContain(`${status} ${json.code}`);
        }
        await redis.start();
        afterwards.resolve();

        const answers = await Promise.all(open);
        expect(answers.map(({ status, json }) => [status, json['the service']?.number])).toEqual(
          answers.map((_, number) => [200, number]),
        );
        await eventually(async () => expect((await api.execute(bodyOf(101))).status).toBe(200), WITHIN_MS);
        expect(twice(client.found)).toEqual([]);
        expect(warningsMadeAgain(processes)).toEqual([]);
        expect(processes.noise()).toEqual([]);
        await sweepLater(sharedDir);
        expect(await processes.leftovers()).toEqual([]);
      } finally {
        await redis.stop();
      }
    },
  );

  it('loses all its data, and one that its client has is cancelled at an API that did not see it: it may have run', async () => {
    const redis = await startRedisProcess();
    try {
      await using processes = await startProcesses({ queueUrl: redis.url, settings, apis: 2 });
      const { api, sharedDir } = processes;
      const [other, worker] = [processes.apis[1], processes.workers[0]];
      await using client = await createResponder({ sharedDir, app: 1, does: picksUpAndStaysSilent });
      const call = api.execute(bodyOf(1));
      const { mockId, requestPath } = await client.firstRequest();
      await eventually(() => expect(existsSync(requestPath)).toBe(false), WITHIN_MS);

      worker?.freeze();
      await redisCommand(redis.url, 'FLUSHALL');
      const url = `${other?.url}/rule-server/mock/executions/${mockId}`;
      await eventually(async () => expect((await httpCall(url)).status).toBe(200), WITHIN_MS); // added again
      expect((await httpCall(url, { method: 'DELETE' })).status).toBe(202);
      worker?.wake();

      expect((await call).json).toMatchObject({ code: 'cancelled', mayHaveRun: true });
      expect((await httpCall(url)).json.ending).toMatchObject({ code: 'cancelled', mayHaveRun: true });
      expect(client.found).toHaveLength(1);
    } finally {
      await redis.stop();
    }
  });
});

/** Of each process what it warned of more than once, however many calls and executions it hit. */
function warningsMadeAgain({ apis, workers }: Processes): string[] {
  return [...apis, ...workers].flatMap(({ log }) => {
    const incidents = log.filter(({ level, msg }) => level >= 40 && msg !== 'not answered'); // that is one for each execution
    const warnings = incidents.map(({ msg }) => msg);
    return warnings.filter((msg, at) => warnings.indexOf(msg) !== at);
  });
}
