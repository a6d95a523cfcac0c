// `press-calls.ts URL`: makes the calls of each load it is sent, tells when they are made, and then how each of them ended.
import { Agent, type IncomingMessage, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { type Load, loadSchema, type Pressed } from './press.ts';

const TICK_MS = 5;

const [url = ''] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true, maxFreeSockets: 2000 });

async function press({ perSecond, seconds }: Load): Promise<void> {
  const calls: Promise<Pressed>[] = [];
  const beganAt = performance.now();
  const total = perSecond * seconds;
  while (calls.length < total) {
    const passedMs = performance.now() - beganAt;
    const due = Math.min(total, Math.floor((passedMs * perSecond) / 1000));
    while (calls.length < due) calls.push(call(calls.length, passedMs));
    await delay(TICK_MS);
  }
  process.send?.('made');
  process.send?.(await Promise.all(calls));
}

function call(number: number, at: number): Promise<Pressed> {
  const body = JSON.stringify({ app: 1, ruleId: 1, 'the service': { number } });
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  const startedAt = performance.now();
  const told = (how: Omit<Pressed, 'number' | 'at' | 'ms'>) => ({
    number,
    at,
    ms: performance.now() - startedAt,
    ...how,
  });
  return new Promise((resolve) => {
    const failed = (error: Error) => resolve(told({ status: 0, code: error.message }));
    request(`${url}/rule-server/mock/execute`, { method: 'POST', headers, agent }, (incoming) => {
      read(incoming).then((how) => resolve(told(how)), failed);
    })
      .on('error', failed)
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

process.on('message', (message) => void press(loadSchema.parse(message)));
process.send?.('ready');
