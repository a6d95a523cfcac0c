import { readdir, readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { type Answer, httpCall } from '../support/http-call.ts';
import { startRedis } from '../support/redis.ts';
import type { RedisServer } from '../support/redis-server.ts';
import { releaseRule } from '../support/release-rule.ts';
import { type Processes, startProcesses } from '../support/start-processes.ts';
import { type Host, startHost } from './host.ts';
import { mockDirectory } from './play-server.ts';
import { prepareSdk, sdkNames } from './toolchains.ts';

const APP = 7;
const settings = { RESULT_TIMEOUT_MS: 8000, CLIENT_TIMEOUT_MS: 6000 };
const pace = { pollSeconds: 0.2, heartbeatSeconds: 1 };

describe.each(sdkNames)('a dry run in the hands of the published %s SDK', (name) => {
  describe.skipIf(!inject('sdks').includes(name))('as it is installed', () => {
    let redis: RedisServer;
    let service: Processes;
    let host: Host;
    /** Each line is a leaf that was called. */
    let notes: string;
    beforeAll(async () => {
      redis = await startRedis(inject('redis'));
      service = await startProcesses({ queueUrl: redis.url, settings });
      notes = join(service.sharedDir, 'notes.txt');
      // Nothing in this app could run unnoticed.
      const note = { type: 6, confName: 'com.sample.NoteResult', confField: JSON.stringify({ file: notes }) };
      await releaseRule(service.sharedDir, APP, { 1: { type: 3, sonIds: '2,3' }, 2: note, 3: note });
      const sdk = await prepareSdk(name);
      if (sdk.kind !== 'ready') throw new Error(sdk.reason);
      host = await sdk.start({ sharedDir: service.sharedDir, app: APP, ...pace });
    });
    afterAll(async () => {
      await host?.stop();
      await service?.[Symbol.asyncDispose]();
      await redis?.stop();
    });

    const get = (path: string) => httpCall(`${service.api.url}/rule-server/mock/${path}`);
    /** `members`: JSON text. */
    const execute = (members: string): Promise<Answer> =>
      httpCall(`${service.api.url}/rule-server/mock/execute`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: `{"app":${APP},"the service":{"uid":1},${members}}`,
      });
    const calls = async () => (await readFile(notes, 'utf8').catch(() => '')).split('\n').length - 1;
    const mailbox = () => mockDirectory(service.sharedDir, APP, host);
    const knownAs = (client: object) =>
      eventually(async () => expect((await get(`clients?app=${APP}`)).json.items).toMatchObject([client]));

    /** The files of a client that is taken for dead are removed, as the published server does. */
    async function forget(): Promise<void> {
      await rm(host.registration, { force: true });
      await rm(host.registration.replace(/m_([^/]*)$/, 'b_$1'), { force: true });
    }

    /** A client of the Node SDK at the address of the host, which is asleep and forgotten. */
    function startNode(address: string): Promise<Host> {
      const program = join(import.meta.dirname, 'node/host.ts');
      const command = { file: process.execPath, args: [program, address] };
      return startHost(command, { sharedDir: service.sharedDir, app: APP, ...pace });
    }

    /** What is in the mailbox, once it does. */
    const request = () =>
      vi.waitFor(async () => {
        const [file, ...more] = (await readdir(mailbox())).filter((entry) => /^[^.].*\.json$/.test(entry));
        expect([file, more]).toEqual([expect.any(String), []]);
        return JSON.parse(await readFile(join(mailbox(), file ?? ''), 'utf8'));
      }, 60_000);

    it('that was meant for another client at its address: no leaf is called, that is said, and it goes on', async () => {
      const address = basename(mailbox());
      const ignored = { code: 'client-ignored-dry-run', mayHaveRun: false };
      const sdks = { node: { address, sdk: 'node', dryRun: true }, published: { address, sdk: name, dryRun: false } };
      await knownAs(sdks.published);
      host.process.kill('SIGSTOP');
      await forget();
      const node = await startNode(address);
      try {
        await knownAs(sdks.node);
        const dry = await execute('"ruleId":1,"dryRun":true');
        expect([dry.status, dry.json.dryRun, dry.json.effects?.assumed]).toEqual([200, true, [2, 3]]);
      } finally {
        await node.kill();
      }

      // The client that it is sent to is dead by now. The one that picks it up wakes only when it lies there.
      const wake = () => void host.process.kill('SIGCONT');
      const [found, answer] = await Promise.all([request().finally(wake), execute('"ruleId":1,"dryRun":true')]);
      expect(found).toMatchObject({ dryRun: { ruleId: 1, stub: {} } });
      for (const member of ['ruleId', 'confId', 'iceId', 'scene']) expect(found).not.toHaveProperty(member);
      expect([answer.status, answer.json]).toMatchObject([502, ignored]);
      expect(answer.json.reason).toBe('dry-run-impossible');
      const kept = (await get(`executions/${found.mockId}`)).json;
      expect(kept).toMatchObject({ address, state: 'failed', dryRun: true, ending: { status: 502, ...ignored } });

      // As long as the registration of the other one is there: a node alone, and a node inside a rule.
      for (const what of ['"confId":2', '"ruleId":1,"confId":3'])
        expect((await execute(`${what},"dryRun":true`)).json).toMatchObject(ignored);
      expect(await calls()).toBe(0);

      // The host notices that its registration is gone, and registers itself again.
      await forget();
      await knownAs(sdks.published);
      const refused = await execute('"ruleId":1,"dryRun":true');
      expect([refused.status, refused.json.errors?.[0].field]).toEqual([400, 'dryRun']);
      const real = await execute('"ruleId":1');
      expect([real.status, real.json.success, real.json.error]).toEqual([200, true, null]);
      expect(real.json.process.replaceAll(/:\d+\]/g, ']')).toBe('[2:NoteResult:T][3:NoteResult:T][1:All:T]');
      expect(await calls()).toBe(2);
      await eventually(async () => expect(await service.leftovers()).toEqual([]));
      expect([service.noise(), service.warnings()]).toEqual([[], []]);
    });
  });
});
