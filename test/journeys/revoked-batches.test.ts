import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { digestOf } from '../../src/shared/runtime/access/caller.ts';
import { openEventStream } from '../support/event-stream.ts';
import { eventually } from '../support/eventually.ts';
import { httpCall } from '../support/http-call.ts';
import { createResponder, resultText, staysSilent } from '../support/responder.ts';
import { startService } from '../support/start-service.ts';

const keyOf = (name: string) => `the-key-of-${name}-in-this-test`;
const entry = (name: string, more: object = {}) => ({ name, sha256: digestOf(keyOf(name)).toString('hex'), ...more });
const bearer = (name: string) => ({ authorization: `Bearer ${keyOf(name)}`, 'content-type': 'application/json' });

describe('a batch whose key', () => {
  it.each([
    ['is taken away', [], 'batch-key-gone'],
    ['expires', [entry('lent', { expires: '2001-01-01' })], 'batch-key-expired'],
    ['may not run any more', [entry('lent', { may: ['read'] })], 'batch-key-may-not'],
    ['is for other apps by now', [entry('lent', { apps: [8] })], 'batch-key-may-not'],
  ])('%s sends no more: what did not begin did not run', async (_what, left, why) => {
    const directory = await mkdtemp(join(tmpdir(), 'rule-server-revoked-'));
    const API_KEYS_FILE = join(directory, 'keys.yaml');
    const write = (keys: object[]) => writeFile(API_KEYS_FILE, JSON.stringify({ keys: [...keys, entry('other')] }));
    await write([entry('lent')]);
    await using service = await startService({ apis: 2, settings: { API_KEYS_FILE } });
    const answer = Promise.withResolvers<void>();
    await using client = await createResponder({
      ...{ sharedDir: service.sharedDir, app: 7 },
      does: async (request) => {
        await request.pickUp();
        await answer.promise;
        await request.answer(resultText(request));
      },
    });
    const begin = async (name: string) => {
      const cases = Array.from({ length: 5 }, (_, n) => ({ 'the service': { n } }));
      const body = JSON.stringify({ app: 7, ruleId: 1, cases, concurrency: 1 });
      const call = { method: 'POST', headers: bearer(name), body };
      return (await httpCall(`${service.url}/rule-server/mock/batches`, call)).json.batchId;
    };
    const read = async (path: string) =>
      (await httpCall(`${service.urls[1]}/rule-server/mock/batches/${path}`, { headers: bearer('other') })).json;
    const [lent, other] = [await begin('lent'), await begin('other')];
    await eventually(async () => expect(client.found.length).toBeGreaterThan(0));
    await write(left);
    const skipped = async () => (await read(`${lent}/items?verdict=skipped`)).items;
    await eventually(async () => expect((await skipped()).length).toBeGreaterThanOrEqual(4));
    answer.resolve();
    await eventually(async () => expect((await read(lent)).state).toBe('cancelled'));
    const items = await skipped();
    const notRun = { code: 'cancelled', mayHaveRun: false };
    for (const item of items) expect(item).toMatchObject(notRun);
    expect(items.at(-1).reason).toBe(why);
    await eventually(async () => expect(await read(other)).toMatchObject({ state: 'finished', counts: { ran: 5 } }));
  });
});

it('an event stream ends once its key may not read any more', async () => {
  const API_KEYS_FILE = join(await mkdtemp(join(tmpdir(), 'rule-server-revoked-')), 'keys.yaml');
  const write = (may: string[]) => writeFile(API_KEYS_FILE, JSON.stringify({ keys: [entry('lent', { may })] }));
  await write(['run', 'read']);
  await using service = await startService({ settings: { API_KEYS_FILE } });
  await using client = await service.clientThat(staysSilent);
  const call = { headers: { ...bearer('lent'), prefer: 'respond-async' } };
  const { mockId } = (await service.execute({ app: client.app, ruleId: 1 }, call)).json;
  const events = `${service.url}/rule-server/mock/executions/${mockId}/events`;
  const stream = await openEventStream(events, { headers: bearer('lent') });
  await write(['run', 'cancel']);
  await stream.ended;
  await service.call(`/rule-server/mock/executions/${mockId}`, { method: 'DELETE', headers: bearer('lent') });
});
