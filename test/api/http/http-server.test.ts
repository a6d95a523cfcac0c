import { once } from 'node:events';
import { Agent } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Hono } from 'hono';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Environment } from '../../../src/api/http/environment.ts';
import { HTTP_LIMITS, serveHttp } from '../../../src/api/http/server/http-server.ts';
import { httpCall } from '../../support/http-call.ts';
import { quickSettings } from '../../support/start-service.ts';

const TRICKLE_MS = 100;
const LARGE = 32 * 1024 * 1024;
const LIMITS = { ...HTTP_LIMITS, headersTimeout: 600, requestTimeout: 1200, connectionsCheckingInterval: 100 };

describe('the HTTP server', () => {
  let served: Awaited<ReturnType<typeof serveHttp>>;
  const open: Socket[] = [];

  beforeAll(async () => {
    const app = new Hono<Environment>()
      .get('/', (context) => context.text('here'))
      .get('/large', (context) => context.text('x'.repeat(LARGE)))
      .post('/', async (context) => {
        await context.req.text();
        return context.text('read');
      });
    app.onError((_error, context) => context.text('cut off', 400));
    served = await serveHttp(app, quickSettings({ MAX_QUEUED: 1 }), { limits: LIMITS, silentMs: 1000 });
  });
  afterAll(async () => {
    for (const socket of open) socket.destroy();
    await served.drain(0, () => {});
  });

  async function dial(): Promise<Socket> {
    const { hostname, port } = new URL(served.url);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => {}); // being cut off is what these tests are about
    open.push(socket);
    await once(socket, 'connect');
    return socket;
  }

  it('cuts off who sends its headers a byte at a time', async () => {
    const socket = await dial();
    expect(await trickle(socket, `GET / HTTP/1.1\r\nhost: a\r\nx-slow: ${'x'.repeat(1000)}`)).toMatch(
      /^HTTP\/1\.1 408 /,
    );
  });

  it('cuts off who sends its body a byte at a time', async () => {
    const socket = await dial();
    socket.write('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1000\r\n\r\n');
    expect(await trickle(socket, 'x'.repeat(1000))).not.toMatch(/ 200 /);
  });

  it('cuts off who asks for much and does not read it, not who reads it slowly', async () => {
    const request = 'GET /large HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n';
    const [idle, slow] = [await dial(), await dial()];
    idle.pause();
    for (const socket of [idle, slow]) socket.write(request);
    let read = 0;
    slow.on('data', (chunk) => {
      read += chunk.length;
      slow.pause();
      setTimeout(() => slow.resume(), 4); // longer in all than a connection may be silent
    });
    await once(slow, 'close');
    expect(read).toBeGreaterThan(LARGE);
    let got = 0;
    idle.on('data', (chunk) => {
      got += chunk.length;
    });
    idle.resume();
    await once(idle, 'close');
    expect(got).toBeLessThan(LARGE);
  });

  it('refuses more header than there may be', async () => {
    const socket = await dial();
    socket.write(`GET / HTTP/1.1\r\nhost: a\r\nx-large: ${'x'.repeat(LIMITS.maxHeaderSize)}\r\n\r\n`);
    expect(await everything(socket)).toMatch(/^HTTP\/1\.1 431 /);
  });

  it('answers HTTP/1.0 without a Host, as health checks send it', async () => {
    const socket = await dial();
    socket.write('GET / HTTP/1.0\r\n\r\n');
    expect(await everything(socket)).toMatch(/^HTTP\/1\.1 200 .*here$/s);
  });

  it.each([
    ['HTTP/1.1 without a Host', 400, 'GET / HTTP/1.1\r\n\r\n'],
    ['no HTTP', 400, 'hello\r\n\r\n'],
    ['a header that is none', 400, 'GET / HTTP/1.1\r\nhost: a\r\na b: c\r\n\r\n'],
    ['a Host that is none', 400, 'GET / HTTP/1.1\r\nhost: a b\r\n\r\n'],
    ['an address that is none', 400, 'GET a HTTP/1.1\r\nhost: a\r\n\r\n'],
    [
      'more header than there may be',
      431,
      `GET / HTTP/1.1\r\nhost: a\r\nx: ${'x'.repeat(LIMITS.maxHeaderSize)}\r\n\r\n`,
    ],
    ['an expectation that is not known', 417, 'POST / HTTP/1.1\r\nhost: a\r\nexpect: more\r\n\r\n'],
    ['a tunnel', 405, 'CONNECT a:1 HTTP/1.1\r\nhost: a\r\n\r\n'],
    ['two lengths', 400, 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab'],
  ])('refuses %s with a problem as its body', async (_what, status, request) => {
    const socket = await dial();
    socket.write(request);
    const text = await everything(socket);
    expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(text).toMatch(/\r\ncontent-type: application\/problem\+json\r\n/i);
    expect(text).toContain(`"status":${status},`);
  });

  it('serves a connection that was silent for a while, and others while somebody is slow', async () => {
    const app = new Hono<Environment>().get('/', (context) => context.text('here'));
    // The time for headers must not end a connection between two requests; the time to be silent may, so it is long here.
    const patient = await serveHttp(app, quickSettings({ MAX_QUEUED: 1 }), { limits: LIMITS, silentMs: 120_000 });
    onTestFinished(() => patient.drain(0, () => {}));
    const { hostname, port } = new URL(patient.url);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    const slow = connect(Number(port), hostname);
    slow.on('error', () => {});
    const ended = trickle(slow, `GET / HTTP/1.1\r\nx-slow: ${'x'.repeat(1000)}`);
    expect((await httpCall(patient.url, { agent })).text).toBe('here');
    const [silent] = Object.values(agent.freeSockets).flat();
    await ended;
    expect((await httpCall(patient.url, { agent })).text).toBe('here');
    expect(Object.values(agent.freeSockets).flat()).toEqual([silent]);
  });

  it.runIf(process.platform === 'linux')('accepts many new connections in a turn of a busy event loop', async () => {
    const app = new Hono<Environment>().get('/', (context) => context.text('here'));
    const busy = await serveHttp(app, quickSettings({ MAX_QUEUED: 1000 }));
    onTestFinished(() => busy.drain(0, () => {}));
    const { hostname, port } = new URL(busy.url);
    const sockets = Array.from({ length: 500 }, () => connect(Number(port), hostname));
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
    });
    let answered = 0;
    for (const socket of sockets) {
      socket.on('data', () => answered++);
      socket.on('error', () => {});
      socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
    }
    // One in a turn would need 500 of them.
    for (let turn = 0; turn < 200; turn++) {
      for (const until = performance.now() + 2; performance.now() < until; );
      await new Promise(setImmediate);
    }
    expect(answered).toBe(500);
  });

  it('stops: answers a request that arrived while its event loop stood still', async () => {
    const app = new Hono<Environment>().get('/', (context) => context.text('here'));
    const stopped = await serveHttp(app, quickSettings({ MAX_QUEUED: 1 }));
    const { hostname, port } = new URL(stopped.url);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => {}); // the answer that is missing then says it
    await once(socket, 'connect');
    const drained = stopped.drain(60_000, () => {});
    socket.write('GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n');
    for (const until = performance.now() + 600; performance.now() < until; );
    expect(await everything(socket)).toMatch(/^HTTP\/1\.1 200 /);
    await drained;
  });

  it('stops: answers a request that comes soon after its event loop stood still', async () => {
    const app = new Hono<Environment>().get('/', (context) => context.text('here'));
    const stopped = await serveHttp(app, quickSettings({ MAX_QUEUED: 1 }));
    const drained = stopped.drain(60_000, () => {});
    for (const until = performance.now() + 600; performance.now() < until; );
    await delay(150);
    expect((await httpCall(stopped.url)).text).toBe('here');
    await drained;
  });

  it('does not listen where another one does', async () => {
    const app = new Hono<Environment>();
    const first = await serveHttp(app, quickSettings());
    onTestFinished(() => first.drain(0, () => {}));
    const PORT = Number(new URL(first.url).port);
    await expect(serveHttp(app, quickSettings({ PORT }))).rejects.toMatchObject({ code: 'EADDRINUSE', port: PORT });
  });

  it('takes so many connections and no more, and new ones once others have gone', async () => {
    // Time limits that no connection of this test meets: only the count may drop one.
    const limits = { ...LIMITS, headersTimeout: 120_000, requestTimeout: 120_000 };
    const app = new Hono<Environment>().get('/', (context) => context.text('here'));
    const patient = await serveHttp(app, quickSettings({ MAX_QUEUED: 1 }), { limits, silentMs: 120_000 });
    onTestFinished(() => patient.drain(0, () => {}));
    const { hostname, port } = new URL(patient.url);
    const held: Socket[] = [];
    let dropped = 0;
    for (let count = 0; count < 4050; count++) {
      const socket = connect(Number(port), hostname);
      socket.on('error', () => {});
      socket.on('close', () => dropped++);
      socket.resume();
      held.push(socket);
      if (count % 50 === 49) await new Promise(setImmediate);
    }
    await expect.poll(() => dropped, { timeout: 60_000 }).toBeGreaterThan(40);
    expect(dropped).toBeLessThan(1000); // a busy machine refuses some of its own
    for (const socket of held) socket.destroy();
    await expect
      .poll(
        () =>
          fetch(patient.url).then(
            (answer) => answer.status,
            () => 0,
          ),
        { timeout: 60_000 },
      )
      .toBe(200);
  });
});

/** Sends a byte now and then until the other side has had enough; resolves to what it said. */
async function trickle(socket: Socket, text: string): Promise<string> {
  let sent = 0;
  const timer = setInterval(() => socket.write(text[sent++] ?? 'x'), TRICKLE_MS);
  try {
    return await everything(socket);
  } finally {
    clearInterval(timer);
  }
}

async function everything(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (chunk) => {
    text += chunk;
  });
  await new Promise((resolve) => socket.once('close', resolve)); // `once` of node:events would throw a reset
  return text;
}
