// Holds every call open for ever, below Hono or behind it, and tells its port: what a held call takes at least. For `held-calls`.
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';

/** As long as the bench looks. */
const HELD_MS = 600_000;

const inNode: RequestListener = (incoming, outgoing) => {
  incoming.resume();
  setTimeout(() => outgoing.end('{}'), HELD_MS);
};

function inHono(layers: number): RequestListener {
  const app = new Hono();
  for (let layer = 0; layer < layers; layer++)
    app.use(async (_context, next) => {
      await next();
    });
  app.post('*', async (context) => {
    await context.req.text();
    await new Promise((resolve) => setTimeout(resolve, HELD_MS));
    return context.json({});
  });
  return getRequestListener(app.fetch);
}

const [kind = 'node', layers = '0'] = process.argv.slice(2);
const server = createServer(kind === 'node' ? inNode : inHono(Number(layers))).listen(0, '127.0.0.1');
await once(server, 'listening');
process.send?.((server.address() as AddressInfo).port);
