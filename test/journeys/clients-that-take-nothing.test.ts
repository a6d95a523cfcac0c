import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import type { Answer } from '../support/http-call.ts';
import { answers, createResponder, picksUpAndStaysSilent, staysSilent } from '../support/responder.ts';
import { type Service, startService } from '../support/start-service.ts';

/** A healthy client on a busy machine answers within it. */
const RESULT_TIMEOUT_MS = 4000;
const said = ({ json }: Answer): string => json.code ?? json.process;

describe('a client that beats and takes no request', () => {
  let service: Service;
  let apps = 700;
  beforeAll(async () => {
    service = await startService({ settings: { RESULT_TIMEOUT_MS, QUEUE_TIMEOUT_MS: 60_000 }, workers: 2 });
  });
  afterAll(() => service.stop());

  type As = Parameters<typeof createResponder>[0]['as'];
  const clientOf = (app: number, address: string, does = answers({ process: address }), as: As = 'rule') =>
    createResponder({ sharedDir: service.sharedDir, app, address, does, as });
  const whoAnswers = async (app: number, target = 'all') => said(await service.execute({ app, ruleId: 1, target }));
  const clientsOf = async (app: number): Promise<Record<string, { lastPickUpAt: unknown; noPickUpSince: unknown }>> => {
    const clients = (await service.call(`/rule-server/mock/clients?app=${app}`)).json.items;
    return Object.fromEntries(clients.map((client: { address: string }) => [client.address, client]));
  };
  const inTurn = async (count: number, app: number) => {
    const said: string[] = [];
    for (let call = 0; call < count; call++) said.push(await whoAnswers(app));
    return said;
  };

  describe.concurrent('among others', () => {
    // The Go SDK runs a request that is gone all the same: then nobody knows whether it ran.
    it.each(['rule', 'go'] as const)('costs two calls at most; `clients` says since when (%s)', async (as) => {
      const app = ++apps;
      const before = Date.now();
      await using _healthy = await clientOf(app, 'healthy');
      await using _dead = await clientOf(app, 'dead', staysSilent, as);
      const all = await inTurn(12, app);
      expect(all.filter((each) => each === 'not-picked-up').length).toBeLessThanOrEqual(2);
      expect(all.slice(-3)).toEqual(['healthy', 'healthy', 'healthy']);
      if (!all.includes('not-picked-up')) expect(await whoAnswers(app, 'address:dead')).toBe('not-picked-up');
      await eventually(async () => {
        const { healthy, dead } = await clientsOf(app);
        expect(healthy).toMatchObject({ lastPickUpAt: expect.any(Number), noPickUpSince: null });
        expect(dead).toMatchObject({ lastPickUpAt: null, noPickUpSince: expect.any(Number) });
        expect(Number(dead?.noPickUpSince)).toBeGreaterThan(before - RESULT_TIMEOUT_MS);
        const { text } = await service.call('/metrics');
        expect(text).toContain(`\nrule_server_clients_not_picking_up{app="${app}"} 1\n`);
      });
    });

    it('gets calls again once it took one', async () => {
      const app = ++apps;
      await using _healthy = await clientOf(app, 'healthy');
      await using dead = await clientOf(app, 'dead', staysSilent);
      expect(await whoAnswers(app, 'address:dead')).toBe('not-picked-up');
      expect(new Set(await inTurn(8, app))).toEqual(new Set(['healthy']));
      dead.does = answers({ process: 'dead' });
      expect(await whoAnswers(app, 'address:dead')).toBe('dead');
      await eventually(async () => expect(await whoAnswers(app)).toBe('dead'));
      expect((await clientsOf(app)).dead).toMatchObject({ noPickUpSince: null });
    });

    it('is known to a worker that starts later', async () => {
      const app = ++apps;
      await using _healthy = await clientOf(app, 'healthy');
      await using _dead = await clientOf(app, 'dead', staysSilent);
      expect(await whoAnswers(app, 'address:dead')).toBe('not-picked-up');
      const known = (await clientsOf(app)).dead?.noPickUpSince;
      await using later = await startService({ sharedDir: service.sharedDir });
      const clients = (await later.call(`/rule-server/mock/clients?app=${app}`)).json.items;
      expect(clients.find(({ address }: { address: string }) => address === 'dead').noPickUpSince).toBe(known);
      for (let call = 0; call < 8; call++) expect(said(await later.execute({ app, ruleId: 1 }))).toBe('healthy');
    });

    it('and is passed over for one in a lane, and for a mere directory', async () => {
      const app = ++apps;
      await using _dead = await clientOf(app, 'dead', staysSilent);
      expect(await whoAnswers(app)).toBe('not-picked-up');
      const bare = { sharedDir: service.sharedDir, app, address: 'bare', does: answers({ process: 'bare' }) };
      await using _bare = await createResponder({ ...bare, as: 'directory' });
      await eventually(async () => expect(await whoAnswers(app)).toBe('bare'));
      await using _lane = await createResponder({
        ...bare,
        address: 'lane',
        lane: 'beta',
        does: answers({ process: 'lane' }),
      });
      await eventually(async () => expect(await whoAnswers(app)).toBe('lane'));
    });

    it('ends no batch that others can run', async () => {
      const app = ++apps;
      await using _healthy = await clientOf(app, 'healthy');
      await using _dead = await clientOf(app, 'dead', staysSilent);
      const cases = Array.from({ length: 30 }, (_, n) => ({ 'the service': { n } }));
      const body = { app, ruleId: 1, cases, concurrency: 8 };
      const { json } = await service.call('/rule-server/mock/batches', {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      });
      await eventually(async () => {
        const batch = (await service.call(`/rule-server/mock/batches/${json.batchId}`)).json;
        expect(batch).toMatchObject({ state: 'finished', counts: { skipped: 0 } });
      }, 60_000);
    });
  });

  it('gets every call while there is nobody else, and all start afresh when one of them takes one', async () => {
    const app = ++apps;
    await using one = await clientOf(app, 'one', staysSilent);
    await using other = await clientOf(app, 'other', staysSilent);
    for (const address of ['one', 'other']) expect(await whoAnswers(app, `address:${address}`)).toBe('not-picked-up');
    expect(await whoAnswers(app)).toBe('not-picked-up');
    for (const client of [one, other]) client.does = answers({ process: client.address });
    await eventually(async () => expect(new Set(await inTurn(6, app))).toEqual(new Set(['one', 'other'])));
  });

  it('is not one that has a request and does not answer', async () => {
    const app = ++apps;
    await using _slow = await clientOf(app, 'slow', picksUpAndStaysSilent);
    expect(await whoAnswers(app)).toBe('no-answer');
    await eventually(async () =>
      expect((await clientsOf(app)).slow).toMatchObject({ lastPickUpAt: expect.any(Number), noPickUpSince: null }),
    );
  });

  it('calls one after the other are spread over equals', async () => {
    const app = ++apps;
    await using _one = await clientOf(app, 'one');
    await using _other = await clientOf(app, 'other');
    expect(new Set(await inTurn(30, app))).toEqual(new Set(['one', 'other']));
  });
});
