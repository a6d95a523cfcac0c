// `node bench/start.ts [checkout …]`: how long `--version`, an `exec` and the first answer of `npm start` without Redis take, in several
// checkouts (each with its node_modules and its console built), in turn. Beside each: the time by that of the first checkout.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { median } from './median.ts';
import { freePort } from './processes.ts';

const TURNS = Number(process.env.BENCH_TURNS ?? 7);
/** `--rule-id`, or what an earlier version has for it. */
const RULE_OPTION = process.env.BENCH_RULE_OPTION ?? '--rule-id';
const given = process.argv.slice(2);
const checkouts = given.length > 0 ? given : [join(import.meta.dirname, '..')];
type Times = { checkout: string; version: number[]; exec: number[]; start: number[] };
const took = checkouts.map((checkout): Times => ({ checkout, version: [], exec: [], start: [] }));

for (let turn = 0; turn < TURNS; turn++)
  for (const times of turn % 2 ? took.toReversed() : took) {
    const command = join(times.checkout, 'bin/rule-server.js');
    const run = (...parameters: string[]) =>
      timed(async () => void (await promisify(execFile)(process.execPath, [command, ...parameters])));
    times.version.push(await run('--version'));
    const folder = await mkdtemp(join(tmpdir(), 'rule-server-start-'));
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    let service: ReturnType<typeof spawn> | undefined;
    times.start.push(
      await timed(async () => {
        const env = { PATH: process.env.PATH, PORT: String(port), LOG_LEVEL: 'error' };
        service = spawn(process.execPath, [command, 'all'], {
          cwd: folder,
          stdio: ['ignore', 'ignore', 'inherit'],
          env,
        });
        while (!(await answers(url))) await delay(5);
      }),
    );
    times.exec.push(await run('exec', '--url', url, '--app', '9001', RULE_OPTION, '1', '--data', '{"cost":120}'));
    if (service) {
      const exited = once(service, 'exit');
      service.kill('SIGKILL');
      await exited;
    }
    await rm(folder, { recursive: true });
  }

for (const { checkout, version, exec, start } of took) {
  const of = (times: number[], first: number[] = []) =>
    `${median(times).toFixed(0).padStart(5)} ms (${(median(times) / median(first)).toFixed(2)})`;
  console.log(
    `${basename(checkout).padEnd(16)} --version ${of(version, took[0]?.version)}, exec ${of(exec, took[0]?.exec)}, first answer ${of(start, took[0]?.start)}`,
  );
}

async function timed(work: () => Promise<void>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

async function answers(url: string): Promise<boolean> {
  const body = '{"app":9001,"ruleId":1,"the service":{"cost":120}}';
  const headers = { 'content-type': 'application/json' };
  const reply = await fetch(`${url}/rule-server/mock/execute`, { method: 'POST', headers, body }).catch(() => null);
  return reply?.ok === true;
}
