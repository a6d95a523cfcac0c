import { createHash } from 'node:crypto';
import { Redis } from 'ioredis';
import { describe, expect, inject, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import type { Answer } from '../support/http-call.ts';
import { startRedis } from '../support/redis.ts';
import { answers, type Behaviour, createResponder, type Responder, resultText } from '../support/responder.ts';
import { type Service, startService } from '../support/start-service.ts';

/** One execution at a time, and two that wait: any further call is refused for load. */
const CROWDED = { WORKER_CONCURRENCY: 1, MAX_QUEUED: 2, QUEUE_TIMEOUT_MS: 40_000, RESULT_TIMEOUT_MS: 40_000 };
const KEYED = { app: 1, ruleId: 1, 'the service': { number: 1 } };
const NEW = { app: 1, ruleId: 1, 'the service': { number: 2 } };
const OTHER = { app: 1, ruleId: 1, 'the service': { number: 3 } };
const choice = inject('redis');

const under = (service: Service, key: string, body: object = KEYED) =>
  service.execute(body, { headers: { 'idempotency-key': key } });
const didNotRun = { status: 503, json: { code: 'overloaded', mayHaveRun: false } };
const textOf = ({ status, text }: Answer) => `${status} ${text}`;

/** A client whose rule does not end before it is released, where it is told to. */
async function clientOf({ sharedDir }: Service) {
  const released = Promise.withResolvers<void>();
  const does: Behaviour = async (request) => {
    await request.pickUp();
    if (request.text.includes('"slow"')) await released.promise;
    await request.answer(resultText(request));
  };
  return Object.assign(await createResponder({ sharedDir, app: 1, does }), { release: released.resolve });
}

/** Begins a call under a key and lets others wait behind it, until plain calls are refused for load. */
async function crowd(service: Service, { found }: Responder) {
  const slow = { app: 1, ruleId: 1, 'the service': { is: 'slow' } };
  const open = under(service, 'open', slow);
  await eventually(() => expect(found.some(({ text }) => text.includes('"slow"'))).toBe(true));
  await eventually(async () => expect((await service.call('/readyz')).json.active).toBe(1));
  const waiting = [1, 2].map(() => service.execute({ app: 1, ruleId: 1 }));
  const endTooEarly = [open, ...waiting].map(async (call) => Promise.reject(new Error(textOf(await call))));
  const wait = eventually(async () => expect((await service.call('/readyz')).json.waiting).toBe(2));
  await Promise.race([wait, ...endTooEarly]);
  expect(await service.execute({ app: 1, ruleId: 1 })).toMatchObject(didNotRun);
  return { slow, open, waiting };
}

describe('while calls are refused for load, with an Idempotency-Key', () => {
  it('the repeat of one that ran is answered, of one that runs it waits for its answer, and a new one is refused and leaves no record', async () => {
    await using service = await startService({ settings: CROWDED });
    await using client = await clientOf(service);
    const first = await under(service, 'ran');
    expect(first.status).toBe(200);
    const { slow, open, waiting } = await crowd(service, client);

    expect(textOf(await under(service, 'ran'))).toBe(textOf(first));
    const again = under(service, 'open', slow);
    expect(await under(service, 'new', NEW)).toMatchObject(didNotRun);
    expect((await under(service, 'ran', OTHER)).status).toBe(422);

    client.release();
    expect(textOf(await again)).toBe(textOf(await open));
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200]);
    await eventually(async () => expect((await under(service, 'new', OTHER)).status).toBe(200));
    const numbers = client.found.map(({ text }) => JSON.parse(text)['the service'].number);
    expect(numbers).not.toContain(2);
    expect(client.found).toHaveLength(5);
  });

  it('a call whose body has no room may have run; a plain one did not', async () => {
    await using service = await startService({ settings: { MAX_OPEN_BODY_BYTES: 100_000, RESULT_TIMEOUT_MS: 40_000 } });
    await using client = await clientOf(service);
    const large = { app: 1, ruleId: 1, 'the service': { filling: 'x'.repeat(40_000) } };
    const first = await under(service, 'large', large);
    expect(first.status).toBe(200);
    const slow = { ...large, 'the service': { is: 'slow', filling: 'x'.repeat(40_000) } };
    const open = [service.execute(slow), service.execute(slow)];
    await eventually(() => expect(client.found).toHaveLength(3));

    expect(await service.execute(large)).toMatchObject(didNotRun);
    expect(await under(service, 'large', large)).toMatchObject({
      status: 504,
      json: { code: 'overloaded', reason: 'bodies-full-for-keyed', mayHaveRun: true },
    });
    client.release();
    await Promise.all(open);
    await eventually(async () => expect(textOf(await under(service, 'large', large))).toBe(textOf(first)));
    expect(client.found).toHaveLength(3);
  });
});

describe.skipIf(choice.kind === 'unavailable')('on Redis', () => {
  it('a new call under a key that is refused for load writes nothing under its key', async () => {
    await using stack = new AsyncDisposableStack();
    // A Redis of its own, which tells of every write to any key.
    const redis = await startRedis(choice);
    stack.defer(() => redis.stop());
    const watching = new Redis(redis.url);
    stack.defer(() => watching.disconnect());
    await watching.config('SET', 'notify-keyspace-events', 'KA');
    const written: string[] = [];
    watching.on('pmessage', (_pattern, channel: string) => written.push(channel));
    await watching.psubscribe('__keyspace@*');
    const writesUnder = (key: string) => {
      const scope = JSON.stringify([1, null, key]);
      const sha = createHash('sha256').update(scope).digest('hex');
      return written.filter((channel) => channel.includes(sha));
    };
    const service = stack.use(await startService({ queueUrl: redis.url, settings: CROWDED }));
    const client = stack.use(await clientOf(service));
    const { open, waiting } = await crowd(service, client);

    expect(await under(service, 'new', NEW)).toMatchObject(didNotRun);
    client.release();
    await Promise.all([open, ...waiting]);
    await eventually(async () => expect((await under(service, 'later', NEW)).status).toBe(200));
    await eventually(() => expect(writesUnder('later')).not.toEqual([]));
    expect(writesUnder('new')).toEqual([]);
  });

  // A server that somebody else runs is not frozen.
  it.skipIf(choice.kind === 'url')(
    'a call under a key may have run while the store is away; a plain one did not',
    async () => {
      await using stack = new AsyncDisposableStack();
      const redis = await startRedis(choice);
      stack.defer(() => redis.stop());
      const service = stack.use(await startService({ queueUrl: redis.url, settings: { CLIENT_TIMEOUT_MS: 60_000 } }));
      await using client = await createResponder({ sharedDir: service.sharedDir, app: 1, does: answers() });
      const first = await under(service, 'ran');
      expect(first.status).toBe(200);
      await redis.pause?.();
      await eventually(async () => expect((await service.call('/readyz')).status).toBe(503));
      const [repeat, plain] = [await under(service, 'ran'), await service.execute(KEYED)];
      await redis.resume?.();
      expect(repeat).toMatchObject({ status: 504, json: { code: 'outcome-unknown', mayHaveRun: true } });
      expect(plain).toMatchObject({ status: 503, json: { code: 'queue-unavailable', mayHaveRun: false } });
      await eventually(async () => expect(textOf(await under(service, 'ran'))).toBe(textOf(first)));
      expect(client.found).toHaveLength(1);
    },
  );
});
