// `press-calls.ts URL`: makes calls at the rate it is told, and tells how each of them ended.
import { Agent, type IncomingMessage, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { orderSchema, type Pressed, type Told } from './press.ts';

const TICK_MS = 5;
const TELL_EVERY_MS = 200;

const [url = ''] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true, maxFreeSockets: 2000 });
let untold: Pressed[] = [];
let isStopped = false;

const tell = (told: Told) => void process.send?.(told);

async function press(perSecond: number): Promise<void> {
  const calls: Promise<void>[] = [];
  const beganAt = performance.now();
  for (; !isStopped; await delay(TICK_MS)) {
    const passedMs = performance.now() - beganAt;
    while (calls.length < Math.floor((passedMs * perSecond) / 1000)) calls.push(call(calls.length, passedMs));
  }
  await Promise.all(calls);
  clearInterval(telling);
  tell({ ended: untold, made: calls.length });
}

const telling = setInterval(() => {
  tell({ ended: untold });
  untold = [];
}, TELL_EVERY_MS);

async function call(number: number, at: number): Promise<void> {
  const startedAt = performance.now();
  const how = await ask(JSON.stringify({ app: 1, ruleId: 1, 'the service': { number } })).catch((error: Error) => ({
    status: 0,
    code: error.message,
  }));
  untold.push({ number, at, ms: performance.now() - startedAt, ...how });
}

function ask(body: string): Promise<Omit<Pressed, 'number' | 'at' | 'ms'>> {
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    request(`${url}/rule-server/mock/execute`, { method: 'POST', headers, agent }, (incoming) => {
      read(incoming).then(resolve, reject);
    })
      .on('error', reject)
      .end(body);
  });
}

async function read(incoming: IncomingMessage) {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const { code, mayHaveRun, 'the service': data } = JSON.parse(Buffer.concat(chunks).toString());
  const retryAfter = incoming.headers['retry-after'];
  return {
    status: incoming.statusCode ?? 0,
    code,
    mayHaveRun,
    echoed: data?.number,
    ...(retryAfter && { retryAfter }),
  };
}

process.on('message', (message) => {
  const order = orderSchema.parse(message);
  if (order.kind === 'stop') isStopped = true;
  else void press(order.perSecond);
});
process.send?.('ready');
