import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, inject, it } from 'vitest';
import { echoes } from '../support/echoes.ts';
import { eventually } from '../support/eventually.ts';
import { canMountNetwork, mountNetwork } from '../support/mounts.ts';
import { callWhileOneIsKilled, untilServed, waitForNothing } from '../support/network-calls.ts';
import { createResponder } from '../support/responder.ts';
import { startService } from '../support/start-service.ts';

const AWAY_MS = 10_000;
const choice = inject('redis');

const mounts: [string, string[], number][] = [
  ['as it is mounted by default', [], 2000],
  ['with dir_cache=no', ['dir_cache=no'], 500],
];

describe.skipIf(!canMountNetwork)('a shared directory over sshfs (needs root and sshfs)', () => {
  describe.each(mounts)('%s', (_, options, count) => {
    it('a server that goes away for 10 s and comes back: the wait survives it, and gets the answer of meanwhile', async () => {
      await using network = await mountNetwork(options);
      await using service = await startService({
        sharedDir: network.path,
        settings: { RESULT_TIMEOUT_MS: 60_000, CLIENT_TIMEOUT_MS: 60_000 },
        logsErrors: true,
        leavesFiles: true,
      });
      await using client = await createResponder({
        sharedDir: network.behind,
        app: 1,
        does: echoes({ afterMs: 3000 }),
      });
      await untilServed(service, 1);
      const before = client.found.length;
      const call = service.execute({ app: 1, ruleId: 1, 'the service': { number: 7 } });
      await eventually(() => expect(client.found.length).toBe(before + 1));
      await network.goAway();
      await sleep(AWAY_MS);
      await network.comeBack();
      const { status, json } = await call;
      expect([status, json.error, json['the service']]).toEqual([200, null, { number: 7 }]);
      expect(client.found).toHaveLength(before + 1);
    });

    it('a client that does not pick up, and one that does not answer: each ends at its deadline, by what happened', async () => {
      await using network = await mountNetwork(options);
      const settings = { RESULT_TIMEOUT_MS: 6000, CLIENT_TIMEOUT_MS: 60_000 };
      await using service = await startService({ sharedDir: network.path, settings, leavesFiles: true });
      await waitForNothing(network, service);
    });

    it.skipIf(choice.kind === 'unavailable')(
      `${count} calls over two workers of which one is killed: each has its own answer, and none ran twice`,
      async () => {
        await using network = await mountNetwork(options);
        await callWhileOneIsKilled(network, choice, count);
      },
    );
  });
});
