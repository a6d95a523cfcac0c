import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { answers, createResponder } from '../support/responder.ts';
import { type Service, startService } from '../support/start-service.ts';

const BODY = '{"app":1,"ruleId":1}';
const CALL = [
  'POST /rule-server/mock/execute HTTP/1.1',
  'host: 127.0.0.1',
  'content-type: application/json',
  `content-length: ${BODY.length}`,
  '',
  BODY,
].join('\r\n');
const CALLERS = 20;

it('a call that is on its way on an open connection when an API stops is answered or refused', async () => {
  await using service = await startService();
  await using client = await createResponder({ sharedDir: service.sharedDir, app: 1, does: answers() });
  const callers = await Promise.all(Array.from({ length: CALLERS }, () => openConnection(service)));
  for (const { heard } of callers) expect(await heard(1)).toMatch(/^HTTP\/1\.1 200 /);
  for (const { socket } of callers) socket.write(CALL); // the system has it, and the API has not read it
  const stopped = service.apis[0]?.stop();
  expect(await endings(callers)).toEqual(Array(CALLERS).fill('answered or refused'));
  await stopped;
  const refused = callers.filter(({ text }) => text().includes('HTTP/1.1 503')).length;
  expect(client.found).toHaveLength(2 * CALLERS - refused);
});

it('a call on a connection that the system took when an API stopped is answered or refused', async () => {
  await using service = await startService();
  await using client = await createResponder({ sharedDir: service.sharedDir, app: 1, does: answers() });
  const callers = Array.from({ length: CALLERS }, () => listen(connectTo(service), 1));
  for (const { socket } of callers) socket.write(CALL);
  await new Promise<void>((resolve) => process.nextTick(resolve)); // the system has connected, and the API has not looked
  const stopped = service.apis[0]?.stop();
  expect(await endings(callers)).toEqual(Array(CALLERS).fill('answered or refused'));
  await stopped;
  const refused = callers.filter(({ text }) => text().includes('HTTP/1.1 503')).length;
  expect(client.found).toHaveLength(CALLERS - refused);
});

type Caller = ReturnType<typeof listen>;

function connectTo({ url }: Service): Socket {
  const { hostname, port } = new URL(url);
  return connect(Number(port), hostname);
}

/** A connection on which one call was made and answered. */
async function openConnection(service: Service): Promise<Caller> {
  const socket = connectTo(service);
  await once(socket, 'connect');
  const caller = listen(socket, 2);
  socket.write(CALL);
  return caller;
}

/** Hears what comes, up to so many answers. `ending`: the last of them, or how the connection broke. */
function listen(socket: Socket, awaited: number) {
  let received = '';
  const count = () => received.split('HTTP/1.1 ').length - 1;
  const waiting: { answers: number; resolve: (text: string) => void }[] = [];
  const look = () => {
    for (const { answers: wanted, resolve } of waiting)
      if (count() >= wanted && received.endsWith('}')) resolve(received);
  };
  const heard = (wanted: number) =>
    new Promise<string>((resolve) => {
      waiting.push({ answers: wanted, resolve });
      look();
    });
  const broken = new Promise<string>((resolve) => {
    socket.on('error', (error) => resolve(String(error)));
    socket.on('close', () => resolve(`closed after ${count()} answers`));
  });
  socket.on('data', (chunk) => {
    received += chunk;
    look();
  });
  const isTold = (text: string) => {
    const last = text.slice(text.lastIndexOf('HTTP/1.1 '));
    return /^HTTP\/1\.1 (200|503) /.test(last) ? 'answered or refused' : last.slice(0, 200);
  };
  const ending = Promise.race([heard(awaited).then(isTold), broken]);
  return { socket, heard, ending, text: () => received };
}

async function endings(callers: Caller[]): Promise<string[]> {
  const all = await Promise.all(callers.map(({ ending }) => ending));
  for (const { socket } of callers) socket.destroy();
  return all;
}
