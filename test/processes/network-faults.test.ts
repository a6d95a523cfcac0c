import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { echoes } from '../support/echoes.ts';
import { canMountNetwork, mountNetwork } from '../support/mounts.ts';
import { createResponder } from '../support/responder.ts';
import { startService } from '../support/start-service.ts';

vi.setConfig({ testTimeout: 60_000 });

const CALL = { app: 1, ruleId: 1, 'the service': { number: 7 } };

describe.skipIf(!canMountNetwork)('a shared directory on another machine (needs root and sshfs)', () => {
  it('whose connection breaks while an execution is claimed: the claim is tried again, and the caller gets its answer', async () => {
    await using network = await mountNetwork();
    let broken = false;
    await using service = await startService({
      sharedDir: network.path,
      settings: { RESULT_TIMEOUT_MS: 15_000 },
      logsErrors: true,
      async atStep(step) {
        if (broken || step !== 'before-claim') return;
        broken = true;
        await network.cutOff();
      },
    });
    await using client = await createResponder({ sharedDir: network.behind, app: 1, does: echoes() });
    const { status, json } = await service.execute(CALL);
    expect([broken, status, json.error, json['the service']]).toEqual([true, 200, null, CALL['the service']]);
    expect(client.found).toHaveLength(1);
    const [minute = ''] = await readdir(join(network.behind, '.rule-server/claims'));
    expect(await readdir(join(network.behind, '.rule-server/claims', minute))).toEqual([json.mockId]);
  });
});
