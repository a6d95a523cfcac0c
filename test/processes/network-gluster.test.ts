import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, inject, it } from 'vitest';
import { createRuleClient } from '../../src/client/client.ts';
import { echoes } from '../support/echoes.ts';
import { eventually } from '../support/eventually.ts';
import { followRules, release } from '../support/follow-rules.ts';
import { mountGluster } from '../support/gluster.ts';
import { type TwoSided, works } from '../support/mounting.ts';
import { callInTurn, callWhileOneIsKilled, untilServed, waitForNothing } from '../support/network-calls.ts';
import { createResponder } from '../support/responder.ts';
import { startDeployment } from '../support/start-deployment.ts';

const AWAY_MS = 10_000;
const CALLS = 500;
const redis = inject('redis');
const canMountGluster = redis.kind !== 'unavailable' && (await works(mountGluster()));
const settings = { RESULT_TIMEOUT_MS: 60_000, CLIENT_TIMEOUT_MS: 60_000 };

describe.skipIf(!canMountGluster)(
  'a shared directory on GlusterFS, workers and clients at mounts of their own (needs root, glusterfs-server and a Redis)',
  () => {
    it('tells of no change, and answers are noticed all the same', async () => {
      await using network = await mountGluster();
      await using deployment = await startDeployment({ redis, sharedDir: network.path, settings });
      await using client = await createResponder({ sharedDir: network.behind, app: 1, does: echoes() });
      await untilServed(deployment.api, 1);
      client.found.length = 0;
      await callInTurn(deployment.api, 30);
      expect(client.found).toHaveLength(30);
    });

    it(`${CALLS} calls over two workers of which one is killed: each has its own answer, and none ran twice`, async () => {
      await using network = await mountGluster({ bricks: 2 });
      await callWhileOneIsKilled(network, redis, CALLS);
    });

    it('a client that does not pick up, and one that does not answer: each ends at its deadline, by what happened', async () => {
      await using network = await mountGluster();
      const hurried = { ...settings, RESULT_TIMEOUT_MS: 6000 };
      await using deployment = await startDeployment({ redis, sharedDir: network.path, settings: hurried });
      await waitForNothing(network, deployment.api);
    });

    it('the Node client at the other mount: it notices requests and new rules, and is never without its rule', async () => {
      await using network = await mountGluster();
      await followRules({ client: network.behind, server: network.path });
    });

    it('the server goes away for 10 s: what ends meanwhile is answered for when it is back, what does not ends at its deadline', async () => {
      await using network = await mountGluster();
      const hurried = { ...settings, RESULT_TIMEOUT_MS: 25_000 };
      await using deployment = await startDeployment({ redis, sharedDir: network.path, settings: hurried });
      await using client = await startHeldClient(network);
      const call = () => deployment.api.execute({ app: 7, ruleId: 1 });
      const [first, second] = [call(), call()];
      await eventually(() => expect(client.runs).toHaveLength(2));
      await network.goAway();
      client.runs[0]?.end();
      await sleep(AWAY_MS);
      await network.comeBack();
      const answers = await Promise.all([first, second]);
      const seen = answers.map(({ status, json }) => [status, json.success, json.code, json.mayHaveRun]);
      expect(seen).toContainEqual([200, true, undefined, undefined]);
      expect(seen).toContainEqual([504, false, 'no-answer', true]);
      expect(client.runs).toHaveLength(2);
      expect(client.errors.length).toBeLessThan(20); // 20 looks a second fail meanwhile
      const later = call();
      await eventually(() => expect(client.runs).toHaveLength(3));
      client.runs[2]?.end();
      expect((await later).status).toBe(200);
    });
  },
);

/** The Node client with a rule whose every run ends when the test says so. */
async function startHeldClient(network: TwoSided) {
  const runs: { end: () => void }[] = [];
  const errors: unknown[] = [];
  class Held {
    async doFlow(): Promise<boolean> {
      const { promise, resolve } = Promise.withResolvers<void>();
      runs.push({ end: resolve });
      await promise;
      return true;
    }
  }
  await release(network.path, { version: 1, confName: 'Held' });
  const client = await createRuleClient({
    ...{ app: 7, sharedDir: network.behind, leaves: { Held } },
    onError: (error) => errors.push(error),
  });
  return {
    runs,
    errors,
    async [Symbol.asyncDispose]() {
      for (const run of runs) run.end();
      await client.close();
    },
  };
}
