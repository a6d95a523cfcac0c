import { writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { echoes } from '../support/echoes.ts';
import { eventually } from '../support/eventually.ts';
import { canMountNetwork, mountNetwork } from '../support/mounts.ts';
import { callInTurn, untilServed } from '../support/network-calls.ts';
import { createResponder } from '../support/responder.ts';
import { startService } from '../support/start-service.ts';

const CALL = { app: 1, ruleId: 1, 'the service': { number: 7 } };

const OLD_FILES = 20_000;

describe.skipIf(!canMountNetwork)('a shared directory on another machine (needs root and sshfs)', () => {
  it('whose connection breaks while an execution is claimed: the claim is tried again, and the caller gets its answer', async () => {
    await using network = await mountNetwork();
    let broken = false;
    await using service = await startService({
      sharedDir: network.path,
      settings: { RESULT_TIMEOUT_MS: 60_000, CLIENT_TIMEOUT_MS: 60_000 },
      logsErrors: true,
      leavesFiles: true, // the temporary file of the attempt whose claim was uncertain
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

  it('tells of no change, and answers are noticed all the same', async () => {
    await using network = await mountNetwork();
    // sshfs shows a heartbeat as it was up to 20 s ago.
    const settings = { POLL_INTERVAL_MS: 1000, CLIENT_TIMEOUT_MS: 60_000 };
    await using service = await startService({ sharedDir: network.path, settings });
    await using client = await createResponder({ sharedDir: network.behind, app: 1, does: echoes() });
    await untilServed(service, 1);
    client.found.length = 0;
    await callInTurn(service, 30);
    expect(client.found).toHaveLength(30);
  });

  it('of which one client’s directory has 20,000 old files: its calls are answered, and those of others meanwhile', async () => {
    await using network = await mountNetwork();
    const settings = { CLIENT_TIMEOUT_MS: 60_000 };
    await using service = await startService({ sharedDir: network.path, settings });
    const lookEveryMs = 500; // its looks take this process's time, too
    await using full = await createResponder({ sharedDir: network.behind, app: 1, does: echoes(), lookEveryMs });
    await using _other = await createResponder({ sharedDir: network.behind, app: 2, does: echoes() });
    for (let file = 0; file < OLD_FILES; file++) writeFileSync(join(full.directory, `old-${file}.txt`), 'old');
    for (const app of [1, 2]) {
      const answered = async () => expect((await service.execute({ ...CALL, app })).status).toBe(200);
      await eventually(answered);
    }
    for (let call = 0; call < 10; call++) {
      const answers = await Promise.all([1, 2].map((app) => service.execute({ ...CALL, app })));
      for (const { status, json } of answers)
        expect([status, json.error, json['the service']]).toEqual([200, null, CALL['the service']]);
    }
  });
});
