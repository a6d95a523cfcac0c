import { mkdir, readdir, rename, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MADE_BY_US } from '../../src/worker/files/file-names.ts';
import { eventually } from '../support/eventually.ts';
import type { Answer } from '../support/http-call.ts';
import { registerPublished } from '../support/published-client.ts';
import { answers, answersAfter, type Behaviour, createResponder, staysSilent } from '../support/responder.ts';
import { PATIENT, type Service, startService } from '../support/start-service.ts';

const CLIENT_TIMEOUT_MS = 4000;

type Options = Partial<Parameters<typeof createResponder>[0]>;

describe('an execution goes to the client that its target means', () => {
  let service: Service;
  /** One whose executions are soon over where nobody comes. */
  let hasty: Service;
  let apps = 500;
  beforeAll(async () => {
    service = await startService({ settings: PATIENT, workers: 2 });
    hasty = await startService({ settings: { ...PATIENT, RESULT_TIMEOUT_MS: 4000 }, workers: 2 });
  });
  afterAll(() => Promise.all([service.stop(), hasty.stop()]));

  const { pathOf, clientOf, execute, whoAnswers } = wordsFor(() => service);
  const whereNobodyComes = wordsFor(() => hasty);

  describe.concurrent('lanes', () => {
    it('all: the trunk before a lane, a lane before a directory nobody registered', async () => {
      const app = ++apps;
      await using _directory = await clientOf(app, 'directory', { as: 'directory' });
      expect(await whoAnswers(app)).toBe('directory');
      await using _lane = await clientOf(app, 'lane', { lane: 'beta' });
      expect(await whoAnswers(app)).toBe('lane');
      await using trunk = await clientOf(app, 'trunk');
      await eventually(async () => expect(await whoAnswers(app, 'all')).toBe('trunk'));
      await trunk.unregister();
      await eventually(async () => expect(await whoAnswers(app, '')).toBe('lane'));
    });

    it.each(['lane:delta', 'lane:..', 'lane:../../7', 'lane:.', 'lane:beta/'])(
      '%s that nobody is in: refused at once, naming who is online',
      async (target) => {
        const app = ++apps;
        await using _trunk = await clientOf(app, 'trunk');
        await using _beta = await clientOf(app, 'in-beta', { lane: 'beta' });
        const { status, json } = await execute(app, target);
        expect(status).toBe(503);
        expect(json).toMatchObject({ code: 'no-client', mayHaveRun: false });
        const params = { app, wanted: target, online: 'trunk, in-beta (lane beta)' };
        expect(json).toMatchObject({ reason: 'no-client-online', params });
      },
    );
  });

  describe.concurrent('addresses', () => {
    it('a published address is valid however it looks, and so is the name of its files', async () => {
      const app = ++apps;
      const reply: Behaviour = async (request) => {
        await request.pickUp();
        await request.answer('{"success":true,"roam":{},"process":"odd"}');
      };
      await using _client = await clientOf(app, 'fe80::1%eth0/7/x', { as: 'python', does: reply });
      expect(await whoAnswers(app, 'address:fe80::1%eth0/7/x')).toBe('odd');
      expect(await whoAnswers(app, 'address:fe80__1%eth0_7_x')).toBe('odd');
    });

    it('offline: refused at once, naming who is online', async () => {
      const app = ++apps;
      await registerPublished({ sharedDir: service.sharedDir, app, sdk: 'go', address: 'gone', beatAgoMs: null });
      await using _client = await clientOf(app, 'here');
      const { status, json } = await execute(app, 'address:gone');
      expect(status).toBe(503);
      expect(json).toMatchObject({ code: 'client-offline', mayHaveRun: false });
      expect(json.params).toEqual({ wanted: 'gone', online: 'here' });
    });

    it('unknown in an app that has registrations: refused at once, and no directory is made', async () => {
      const app = ++apps;
      await using _client = await clientOf(app, 'here');
      const { status, json } = await execute(app, 'address:hree');
      expect([status, json.code]).toEqual([503, 'no-client']);
      expect(json).toMatchObject({ reason: 'unknown-client', params: { app, wanted: 'hree', online: 'here' } });
      expect(await readdir(pathOf('mock', app))).toEqual(['here']);
    });

    it('of a client whose registration cannot be read: the refusal says so', async () => {
      const app = ++apps;
      await mkdir(pathOf('clients', app), { recursive: true });
      await writeFile(pathOf('clients', app, 'm_broken.json'), '{"address":"bro');
      const { json } = await execute(app, 'address:broken');
      const params = { app, wanted: 'broken', unread: 'm_broken.json', why: 'no-registration' };
      expect(json).toMatchObject({ reason: 'unknown-client', params });
    });

    it('unknown in an app without registrations: tried, and its directory goes again when nobody comes', async () => {
      const { pathOf, execute } = whereNobodyComes;
      const app = ++apps;
      const both = await Promise.all([execute(app, 'address:nobody'), execute(app, 'address:nobody')]);
      expect(both.map(told)).toEqual(['not-picked-up', 'not-picked-up']);
      await eventually(async () => expect(await readdir(pathOf('mock', app))).toEqual([]));
    });

    it('whose directory another execution is just making: it goes again when nobody comes', async () => {
      const { pathOf, execute } = whereNobodyComes;
      const app = ++apps;
      const directory = join(pathOf('mock', app), 'nobody');
      await mkdir(directory, { recursive: true });
      const trying = execute(app, 'address:nobody');
      await eventually(async () => expect(await readdir(directory)).toHaveLength(1));
      await writeFile(join(directory, MADE_BY_US), '');
      expect(told(await trying)).toBe('not-picked-up');
      await eventually(async () => expect(await readdir(pathOf('mock', app))).toEqual([]));
    });

    it('whose directory another execution was just making: it is the client that came there', async () => {
      const app = ++apps;
      const directory = join(pathOf('mock', app), 'somebody');
      const does: Behaviour = async (request, self) => {
        await writeFile(join(directory, MADE_BY_US), '');
        await answers({ process: 'somebody' })(request, self);
      };
      await using _somebody = await clientOf(app, 'somebody', { as: 'directory', does });
      expect(await whoAnswers(app, 'address:somebody')).toBe('somebody');
      await eventually(async () => expect(await readdir(directory)).toEqual([]));
    });

    it('while an unknown address is tried, it is nobody that all could mean', async () => {
      const { pathOf, execute, whoAnswers } = whereNobodyComes;
      const app = ++apps;
      const trying = execute(app, 'address:nobody');
      await eventually(async () => expect(await readdir(pathOf('mock', app))).toEqual(['nobody']));
      expect(await whoAnswers(app)).toBe('no-client');
      expect(told(await trying)).toBe('not-picked-up');
    });

    it.each(['.', '..', '../x', 'a/../b', '.hidden', 'a\\b', `${'x'.repeat(201)}`])(
      '%s that nobody published: 400, and no path is made of it',
      async (address) => {
        const app = ++apps;
        const { status, json } = await execute(app, `address:${address}`);
        expect(status).toBe(400);
        expect(json.errors[0].field).toBe('target');
        await expect(readdir(pathOf('mock', app))).rejects.toThrow('ENOENT');
      },
    );
  });

  describe.concurrent('a moment ago', () => {
    it('a directory that was made is found', async () => {
      const app = ++apps;
      expect(await whoAnswers(app)).toBe('no-client');
      await using _client = await clientOf(app, 'new', { as: 'directory' });
      expect(await whoAnswers(app)).toBe('new');
    });

    it('a client that registered is preferred to a directory that was there before', async () => {
      const app = ++apps;
      await using _directory = await clientOf(app, 'old', { as: 'directory' });
      expect(await whoAnswers(app)).toBe('old');
      await using _client = await clientOf(app, 'new');
      expect(await whoAnswers(app)).toBe('new');
    });

    it('a client that unregistered is given nothing any more', async () => {
      const app = ++apps;
      await using client = await clientOf(app, 'leaving');
      await using _lane = await clientOf(app, 'lane', { lane: 'beta' });
      expect(await whoAnswers(app)).toBe('leaving');
      await client.unregister();
      await eventually(async () => expect(await whoAnswers(app)).toBe('lane'));
      const given = client.found.length;
      expect(await whoAnswers(app, 'lane:beta')).toBe('lane');
      expect(await whoAnswers(app)).toBe('lane');
      expect(client.found).toHaveLength(given);
    });
  });

  describe.concurrent('load', () => {
    it('calls of the same moment are spread over equals', async () => {
      const app = ++apps;
      await using a = await clientOf(app, 'a', { does: answersAfter(300) });
      await using b = await clientOf(app, 'b', { does: answersAfter(300) });
      await using c = await clientOf(app, 'c', { does: answersAfter(300) });
      await Promise.all(Array.from({ length: 30 }, () => execute(app)));
      const counts = [a, b, c].map(({ found }) => found.length);
      expect(Math.max(...counts) - Math.min(...counts), `${counts}`).toBeLessThanOrEqual(6); // two workers, each its own count
    });

    it('a client with open executions is spared, no matter whose they are', async () => {
      const app = ++apps;
      await using _busy = await clientOf(app, 'busy');
      await using _free = await clientOf(app, 'free');
      const foreign = '0b0e1d3c-0000-4000-8000-00000000000';
      for (const digit of '123') await writeFile(pathOf('mock', app, 'busy', `.${foreign}${digit}.open`), '');
      const who = await Promise.all(Array.from({ length: 3 }, () => whoAnswers(app)));
      for (const digit of '123')
        await rename(pathOf('mock', app, 'busy', `.${foreign}${digit}.open`), pathOf(`${app}${digit}`));
      expect(who).toEqual(['free', 'free', 'free']);
    });
  });

  describe.concurrent('links below the shared directory', () => {
    it.each(['clients', 'mock'])('in the place of %s/{app}: 503 that says so', async (folder) => {
      const app = ++apps;
      await mkdir(pathOf(`outside-${app}/x`), { recursive: true });
      await mkdir(pathOf(folder), { recursive: true });
      await symlink(pathOf(`outside-${app}`), pathOf(folder, app));
      const { status, headers, json } = await execute(app);
      expect([status, json.code, headers['retry-after']]).toEqual([503, 'channel-unavailable', '5']);
      expect(json).toMatchObject({ reason: 'clients-unreadable', params: { app, why: 'link-in-the-way' } });
      expect((await service.call(`/rule-server/mock/schema?app=${app}&ruleId=1`)).json.fields).toEqual([]);
    });

    it('in the place of a lane: nobody is in it', async () => {
      const app = ++apps;
      await using _trunk = await clientOf(app, 'trunk');
      const other = ++apps;
      await using _other = await clientOf(other, 'other', { does: staysSilent });
      await mkdir(pathOf('clients', app, 'lane'));
      await symlink(pathOf('clients', other), pathOf('clients', app, 'lane', 'leak'));
      expect(await whoAnswers(app, 'lane:leak')).toBe('no-client');
    });
  });
});

describe('an execution goes to a client that lives', () => {
  let service: Service;
  let apps = 600;
  beforeAll(async () => {
    service = await startService({ settings: { CLIENT_TIMEOUT_MS }, workers: 2 });
  });
  afterAll(() => service.stop());

  const { pathOf, clientOf, execute, whoAnswers } = wordsFor(() => service);

  describe.concurrent('by its heartbeat', () => {
    it('a client that stands still because it runs a rule is busy, not offline', async () => {
      const app = ++apps;
      // Like the published SDKs: one thread, so no beat while a rule runs and no second rule before its end.
      let turn = Promise.resolve();
      const ends = Promise.withResolvers<void>();
      await using client = await clientOf(app, 'serial', {
        as: 'python',
        beatEveryMs: 100,
        does: (request, self) => {
          turn = turn.then(async () => {
            await self.stopBeating();
            await request.pickUp();
            await ends.promise;
            await request.answer('{"success":true,"roam":{},"process":"late"}');
          });
          return turn;
        },
      });
      const first = execute(app, 'address:serial');
      await client.firstRequest();
      await delay(CLIENT_TIMEOUT_MS + 300);
      const clients = async () => (await service.call(`/rule-server/mock/clients?app=${app}`)).json.items;
      expect(await clients()).toMatchObject([{ address: 'serial', state: 'busy', open: 1 }]);
      const second = execute(app);
      await eventually(async () => expect(await clients()).toMatchObject([{ open: 2 }]));
      ends.resolve();
      expect((await first).status).toBe(200);
      expect(told(await second)).toBe('late');
    });

    it('the mark that a dead worker left behind makes nobody busy', async () => {
      const app = ++apps;
      await registerPublished({ sharedDir: service.sharedDir, app, sdk: 'go', address: 'dead', beatAgoMs: null });
      const mark = pathOf('mock', app, 'dead', '.0b0e1d3c-0000-4000-8000-000000000000.open');
      await mkdir(pathOf('mock', app, 'dead'), { recursive: true });
      await writeFile(mark, '');
      const old = new Date(Date.now() - 60_000);
      await utimes(mark, old, old);
      expect(await whoAnswers(app)).toBe('no-client');
      await rename(mark, pathOf(`${app}.open`));
    });

    it.each([-3_600_000, 3_600_000])(
      'a client whose clock is %i ms off is online once the worker that is asked has seen it beat',
      async (clockAheadMs) => {
        const app = ++apps;
        await using _client = await clientOf(app, 'off', { clockAheadMs, beatEveryMs: 300 });
        await eventually(async () => expect(await whoAnswers(app)).toBe('off'));
      },
    );

    it('one that beats no more is offline after CLIENT_TIMEOUT_MS', async () => {
      const app = ++apps;
      await using client = await clientOf(app, 'dying');
      expect(await whoAnswers(app)).toBe('dying');
      await client.stopBeating();
      await delay(CLIENT_TIMEOUT_MS + 300);
      expect(await whoAnswers(app, 'address:dying')).toBe('client-offline');
    });
  });
});

const told = ({ json }: Answer): string => json.code ?? json.process ?? json.status;

/** What the tests below speak in. */
function wordsFor(service: () => Service) {
  const execute = (app: number, target?: string) => service().execute({ app, ruleId: 1, target });
  return {
    execute,
    pathOf: (...parts: (string | number)[]) => join(service().sharedDir, ...parts.map(String)),
    clientOf: (app: number, address: string, { does = answers({ process: address }), ...options }: Options = {}) =>
      createResponder({ sharedDir: service().sharedDir, app, address, does, ...options }),
    /** Who answered, or the code of the refusal. */
    whoAnswers: async (app: number, target?: string) => told(await execute(app, target)),
  };
}
