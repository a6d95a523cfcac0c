import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it, type TestContext, vi } from 'vitest';
import { problemSchema } from '../../src/shared/contract/problem.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { startNameServer } from '../support/name-server.ts';
import { keepWritten } from '../support/written-output.ts';

const CONFIGURATION = fileURLToPath(new URL('../../deploy/gateway/haproxy.cfg', import.meta.url));
const ERRORS = fileURLToPath(new URL('../../deploy/gateway/errors', import.meta.url));
const CLIENTS = fileURLToPath(new URL('./stock-clients', import.meta.url));
/** Programs that POST twice with what their language brings along, and print a line for each answer. */
const stockClients = [
  { name: 'Java', command: 'java', version: ['-version'], parameters: [`${CLIENTS}/Call.java`] },
  { name: 'Go', command: 'go', version: ['version'], parameters: ['run', `${CLIENTS}/call.go`] },
  { name: 'Python', command: 'python3', version: ['--version'], parameters: [`${CLIENTS}/call.py`] },
  { name: 'Node', command: process.execPath, version: ['--version'], parameters: [`${CLIENTS}/call.js`] },
];
const run = promisify(execFile);
const hasHaproxy = process.platform === 'linux' && spawnSync('haproxy', ['-v']).status === 0;
/** The composition has 3.2.4. An earlier one answers what it cannot read with pages of its own, whatever its configuration says. */
const usesErrorFiles = hasHaproxy && isAtLeast(spawnSync('haproxy', ['-v'], { encoding: 'utf8' }).stdout, [3, 2, 4]);
const HEAD = 'POST /rule-server/mock/execute HTTP/1.1\r\nHost: localhost\r\n';

it('refuses what it cannot read in the words of the service, whatever version of HAProxy is here', async () => {
  const names = await readdir(ERRORS);
  expect(names).not.toEqual([]);
  for (const name of names) {
    const [, body = ''] = (await readFile(`${ERRORS}/${name}`, 'utf8')).split(/\r?\n\r?\n/);
    expect(problemSchema.parse(JSON.parse(body)), name).toMatchObject({ code: 'bad-request', mayHaveRun: false });
  }
});

describe.skipIf(!hasHaproxy).concurrent('the gateway (needs haproxy)', () => {
  it('spreads calls over every instance the name stands for, also over one that joins later', async (test) => {
    const { call, instances, names } = await startGateway(test, { names: ['127.0.0.2', '127.0.0.3'] });
    await Promise.all([call(), call(), call(), call()]);
    expect(instances.map(({ calls }) => calls.length)).toEqual([2, 2]);

    const joined = await startInstance(test, { host: '127.0.0.4', port: instances[0]?.port });
    names.push('127.0.0.4');
    await vi.waitFor(
      async () => {
        await Promise.all([call(), call(), call()]);
        expect(joined.calls.length).toBeGreaterThan(0);
      },
      { timeout: 60_000 },
    );
  });

  it('sends a call once, and says so when the instance dies under it', async (test) => {
    const { call, instances } = await startGateway(test, {
      names: ['127.0.0.2', '127.0.0.3'],
      answer: (response) => response.destroy(),
    });
    const response = await call();
    expect(response.status).toBe(502);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
    expect(problemSchema.parse(await response.json())).toMatchObject({
      status: 502,
      code: 'outcome-unknown',
      mayHaveRun: true,
      error: expect.stringMatching(/may have run/),
    });
    expect(instances.flatMap(({ calls }) => calls)).toHaveLength(1);
  });

  it('takes the call elsewhere when an instance cannot be connected to', async (test) => {
    const { call, instances } = await startGateway(test, { names: ['127.0.0.2', '127.0.0.3'] });
    instances[0]?.server.close();
    const statuses = await Promise.all(Array.from({ length: 6 }, async () => (await call()).status));
    expect(statuses).toEqual([200, 200, 200, 200, 200, 200]);
  });

  it('gives no call to an instance that is not ready, unless none is', async (test) => {
    const { call, instances } = await startGateway(test, { names: ['127.0.0.2', '127.0.0.3'] });
    const [first, second] = instances;
    if (first === undefined || second === undefined) throw new Error('two instances were started');
    first.ready = false;
    await vi.waitFor(
      async () => {
        const before = first.calls.length;
        await Promise.all([call(), call(), call()]);
        expect(first.calls.length).toBe(before);
      },
      { timeout: 60_000 },
    );
    second.ready = false;
    await vi.waitFor(() => expect(second.checksFailed).toBeGreaterThan(2), { timeout: 60_000 });
    expect((await call()).status).toBe(200);
  });

  it('takes the call back when the caller leaves', async (test) => {
    let closed = false;
    const { call, instances } = await startGateway(test, {
      names: ['127.0.0.2'],
      answer: (response) => {
        response.on('close', () => {
          closed = true;
        });
      },
    });
    const caller = new AbortController();
    const left = call(caller.signal);
    await eventually(() => expect(instances[0]?.calls).toHaveLength(1));
    caller.abort();
    await expect(left).rejects.toThrow();
    await eventually(() => expect(closed).toBe(true));
  });

  it('answers in the words of the service when there is no instance', async (test) => {
    const { call } = await startGateway(test, { names: [] });
    const response = await call();
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('5');
    expect(problemSchema.parse(await response.json())).toMatchObject({
      code: 'no-api',
      mayHaveRun: false,
      error: expect.stringMatching(/Nothing has run/),
    });
  });

  it.for([
    ['is no HTTP', 'POST /rule-server/mock/execute\r\nno header\r\n\r\n', 400, 400],
    ['does not arrive', 'POST /rule-server/mock/execute HTTP/1.1\r\nHost: ', 408, 408],
    ['has an address that is too long', `POST /${'a'.repeat(20_000)} HTTP/1.1\r\n\r\n`, 414, 400],
    ['is encoded in an unknown way', `${HEAD}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`, 422, 422],
    ['has headers that are too large', `${HEAD}X: ${'a'.repeat(20_000)}\r\n\r\n`, 431, 400],
  ] as const)('passes a request that %s on to nobody, and says so', async ([, sent, status, olderStatus], test) => {
    const { port, instances } = await startGateway(test, { names: ['127.0.0.2'] });
    const { head, body } = await rawAnswer(port, sent);
    expect(head).toMatch(`HTTP/1.1 ${usesErrorFiles ? status : olderStatus} `);
    expect(instances[0]?.calls).toEqual([]);
    if (!usesErrorFiles) return expect(head).toMatch(/content-type: text\/html/i);
    expect(head).toMatch(/content-type: application\/problem\+json/i);
    const said = {
      status,
      code: 'bad-request',
      mayHaveRun: false,
      error: expect.stringMatching(/ run\./),
    };
    expect(problemSchema.parse(JSON.parse(body))).toMatchObject(said);
  });

  it('says of a call whose caller closed its half of the connection that it may have run', async (test) => {
    const { port, instances } = await startGateway(test, { names: ['127.0.0.2'], answer: () => {} });
    const sent = 'POST /rule-server/mock/execute HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}';
    const received = rawAnswer(port, sent, () => eventually(() => expect(instances[0]?.calls).toHaveLength(1)));
    const { head, body } = await received;
    expect(head).toMatch(/content-type: application\/problem\+json/i);
    const said = { status: 400, code: 'outcome-unknown', reason: 'outcome-unknown', params: {}, mayHaveRun: true };
    expect(problemSchema.parse(JSON.parse(body))).toMatchObject(said);
  });

  it('says everything once in its log', async (test) => {
    const { call, instances, log } = await startGateway(test, { names: ['127.0.0.2', '127.0.0.3'] });
    const [first] = instances;
    if (first !== undefined) first.ready = false;
    await vi.waitFor(() => expect(log()).toMatch(/Server ready\/api\d+ is DOWN/), { timeout: 60_000 });
    await delay(500);
    expect(log().match(/api1 is DOWN|api2 is DOWN/g)).toHaveLength(1);
    await call();
    await eventually(() => expect(log().match(/POST \/rule-server\/mock\/execute/g)?.length).toBeGreaterThan(0));
  });

  // Some of these send a call again by themselves when its connection is closed without an answer.
  it.for(stockClients)(
    '$name, which has used its connection before, is told and sends nothing twice',
    async (client, test) => {
      test.skip(!isInstalled(client), `${client.name} is not installed`);
      let answered = 0;
      const { port, instances } = await startGateway(test, {
        names: ['127.0.0.2'],
        answer: (response) => void (answered++ === 0 ? response.end('{}') : response.destroy()),
      });
      const { stdout } = await run(client.command, [
        ...client.parameters,
        `http://127.0.0.1:${port}/rule-server/mock/execute`,
      ]);
      const [first = '', second = ''] = stdout.trim().split('\n');
      expect(first).toBe('200 {}');
      expect(second).toMatch(/^502 \{.*"code":"outcome-unknown",.*"mayHaveRun":true/);
      expect(instances[0]?.calls).toHaveLength(2);
    },
  );
});

/** What comes back for these bytes; the caller closes its half once `closes` resolves, or else keeps it open. */
async function rawAnswer(
  port: number,
  sent: string,
  closes?: () => Promise<unknown>,
): Promise<{ head: string; body: string }> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.write(sent);
  if (closes) void closes().then(() => socket.end());
  let text = '';
  for await (const part of socket) text += part;
  socket.destroy();
  const [head = '', body = ''] = text.split('\r\n\r\n');
  return { head, body };
}

function isAtLeast(printed: string, wanted: number[]): boolean {
  const found = /version (\d+)\.(\d+)\.(\d+)/.exec(printed)?.slice(1).map(Number) ?? [];
  const differs = wanted.findIndex((part, index) => part !== found[index]);
  return differs < 0 || (found[differs] ?? 0) > (wanted[differs] ?? 0);
}

type StockClient = (typeof stockClients)[number];

function isInstalled({ command, version }: StockClient): boolean {
  return spawnSync(command, version).status === 0;
}

type Instance = {
  server: Server;
  port: number;
  calls: string[];
  ready: boolean;
  checksPassed: number;
  checksFailed: number;
};
type InstanceOptions = { host: string; port?: number | undefined; answer?: Answer };
type Answer = (response: ServerResponse) => void;

const ok: Answer = (response) => response.end('{}');

async function startGateway(test: TestContext, { names, answer = ok }: { names: string[]; answer?: Answer }) {
  const instances: Instance[] = [];
  for (const host of names) instances.push(await startInstance(test, { host, port: instances[0]?.port, answer }));
  const nameServer = await startNameServer(() => names);
  test.onTestFinished(() => nameServer.close());
  const port = await freePort();
  const haproxy = spawn('haproxy', ['-db', '-f', CONFIGURATION], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      GATEWAY_LISTEN: `127.0.0.1:${port}`,
      GATEWAY_DNS: nameServer.address,
      GATEWAY_API: `api.test:${instances[0]?.port ?? 1}`,
    },
  });
  let log = '';
  for (const stream of [haproxy.stdout, haproxy.stderr])
    stream.on('data', (part) => {
      log += part;
      keepWritten(`gateway-${haproxy.pid}`, part);
    });
  test.onTestFinished(async () => {
    haproxy.kill('SIGKILL');
    if (haproxy.exitCode === null && haproxy.signalCode === null) await once(haproxy, 'exit');
  });
  const call = (signal?: AbortSignal) =>
    fetch(`http://127.0.0.1:${port}/rule-server/mock/execute`, {
      method: 'POST',
      body: '{}',
      ...(signal ? { signal } : {}),
    });
  await untilItRoutes(call, instances);
  return { call, port, instances, names, log: () => log };
}

async function untilItRoutes(call: () => Promise<Response>, instances: Instance[]): Promise<void> {
  await vi.waitFor(
    async () => {
      if (instances.length === 0) await call();
      for (const { checksPassed } of instances) expect(checksPassed).toBeGreaterThan(1);
    },
    { timeout: 60_000 },
  );
}

/** A stand-in for one API instance: it says whether it is ready, and answers calls as the test wants. */
async function startInstance(test: TestContext, options: InstanceOptions): Promise<Instance> {
  const { host, port = 0, answer = ok } = options;
  const server = createServer((request, response) => {
    if (request.url !== '/readyz') {
      instance.calls.push(request.url ?? '');
      return answer(response);
    }
    if (instance.ready) instance.checksPassed += 1;
    else instance.checksFailed += 1;
    response.writeHead(instance.ready ? 200 : 503).end();
  });
  server.listen(port, host);
  await once(server, 'listening');
  test.onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const instance: Instance = { server, port: address.port, calls: [], ready: true, checksPassed: 0, checksFailed: 0 };
  return instance;
}
