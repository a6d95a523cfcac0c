// `node bench/gateways.ts`: what a call costs at the gateway, and what its caller hears when the API dies under a call on a connection
// that was used before. HAProxy with `option httpclose` (as deploy/gateway), HAProxy and nginx that keep the caller's connection.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tellFailures } from './findings.ts';
import { load } from './load.ts';
import { freePort, startScript, untilReady, usage } from './processes.ts';

const SECONDS = Number(process.env.BENCH_SECONDS ?? 6);
const CALLERS = 20;
const folder = await mkdtemp(join(tmpdir(), 'rule-server-bench-'));

type Ports = { at: number; to: number };
const haproxy = (option: string) => ({
  program: 'haproxy',
  parameters: (file: string) => ['-db', '-f', file],
  configuration: ({ at, to }: Ports) => `defaults
    mode http
    timeout connect 2s
    timeout client 90s
    timeout server 90s
    ${option}
    http-reuse never
    http-error status 502 content-type application/json string '{"mayHaveRun":true}'
frontend public
    bind 127.0.0.1:${at}
    default_backend apis
backend apis
    server api 127.0.0.1:${to}
`,
});
const nginx = {
  program: 'nginx',
  parameters: (file: string) => ['-p', folder, '-c', file, '-g', 'daemon off; master_process off;'],
  configuration: ({ at, to }: Ports) => `pid ${folder}/nginx.pid;
error_log ${folder}/errors;
events { worker_connections 1024; }
http {
  access_log off;
  keepalive_requests 1000000;
  client_body_temp_path ${folder}/bodies;
  proxy_temp_path ${folder}/answers;
  server {
    listen 127.0.0.1:${at};
    error_page 502 =502 @died;
    location @died { default_type application/json; return 502 '{"mayHaveRun":true}'; }
    location / { proxy_pass http://127.0.0.1:${to}; proxy_next_upstream off; proxy_read_timeout 90s; }
  }
}
`,
};
const gateways = [
  { name: 'HAProxy, a connection for each call', ...haproxy('option httpclose') },
  { name: 'HAProxy, connections kept', ...haproxy('option http-keep-alive') },
  { name: 'nginx, connections kept', ...nginx },
];

try {
  for (const gateway of gateways) {
    if (spawnSync(gateway.program, ['-v']).error)
      console.log(`${gateway.name}: left out, there is no ${gateway.program}`);
    else await measure(gateway);
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function measure({ name, program, parameters, configuration }: (typeof gateways)[number]): Promise<void> {
  const { child: api, message: to } = await startScript('./one-answer.ts', []);
  const at = await freePort();
  const file = join(folder, `${at}.conf`);
  await writeFile(file, configuration({ at, to: Number(to) }));
  const gateway = spawn(program, parameters(file), { stdio: ['ignore', 'ignore', 'inherit'] });
  try {
    await untilReady(`http://127.0.0.1:${at}/`);
    await load(`http://127.0.0.1:${at}`, CALLERS, 1);
    const before = costsOf(gateway);
    const made = await load(`http://127.0.0.1:${at}`, CALLERS, SECONDS);
    const after = costsOf(gateway);
    const each = (of: 'gateway' | 'caller') => `${(((after[of] - before[of]) * 1e6) / made.calls).toFixed(0)} µs`;
    const heard = await hearOfDeath(at, api);
    console.log(
      `${name}: ${made.perSecond.toFixed(0)}/s, ${tellFailures(name, made)}; a call costs ${each('gateway')} at the gateway, ${each('caller')} at ` +
        `the caller; when the API dies the caller gets ${heard}`,
    );
  } finally {
    gateway.kill('SIGKILL');
    api.kill('SIGKILL');
  }
}

function costsOf(gateway: ChildProcess) {
  const { user, system } = process.cpuUsage();
  return { gateway: usage(gateway).cpuSeconds, caller: (user + system) / 1e6 };
}

/** Makes one call, and a second one on the same connection if it is still there; the API dies under the second. */
async function hearOfDeath(port: number, api: ChildProcess): Promise<string> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  await call(port, agent, '/');
  const second = call(port, agent, '/slow');
  setTimeout(() => api.kill('SIGKILL'), 300);
  return second;
}

async function call(port: number, agent: Agent, path: string): Promise<string> {
  const sent = request({ host: '127.0.0.1', port, agent, path, method: 'POST' });
  const reused = () => (sent.reusedSocket ? 'on the kept connection' : 'on a new connection');
  sent.end('{}');
  try {
    const [response] = await once(sent, 'response');
    let text = '';
    for await (const part of response.setEncoding('utf8')) text += part;
    return `${response.statusCode} ${text} ${reused()}`;
  } catch (error) {
    return `no answer (${error instanceof Error ? error.message : error}) ${reused()}`;
  }
}
