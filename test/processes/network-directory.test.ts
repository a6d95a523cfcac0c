import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { echoes } from '../support/echoes.ts';
import { eventually } from '../support/eventually.ts';
import { canMountNetwork, mountNetwork } from '../support/mounts.ts';
import { createResponder } from '../support/responder.ts';
import { type Service, startService } from '../support/start-service.ts';

vi.setConfig({ testTimeout: 90_000 });

const AWAY_MS = 10_000;

const mounts: [string, string[]][] = [
  ['as it is mounted by default', []],
  ['with dir_cache=no', ['dir_cache=no']],
];

describe.skipIf(!canMountNetwork)('a shared directory over sshfs (needs root and sshfs)', () => {
  describe.each(mounts)('%s', (_, options) => {
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
      await eventually(() => expect(client.found.length).toBe(before + 1), 20_000);
      await network.goAway();
      await sleep(AWAY_MS);
      await network.comeBack();
      const { status, json } = await call;
      expect([status, json.error, json['the service']]).toEqual([200, null, { number: 7 }]);
      expect(client.found).toHaveLength(before + 1);
    });
  });
});

const INPUT = { uid: 1, cost: 120 };

/** A new client is seen once the mount's own cache of the folder is over. */
async function untilServed(service: Service, app: number): Promise<void> {
  const call = { app, ruleId: 1, 'the service': INPUT };
  await eventually(async () => expect((await service.execute(call)).status).toBe(200), 40_000);
}
