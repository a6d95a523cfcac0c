// `node bench/start.ts [checkout …]`: how long `--version`, an `exec` and the first answer of `npm start` without Redis take, in several
// checkouts (each with its node_modules and its console built), in turn. Beside each: the time by that of the first checkout.
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { median } from './median.ts';
import { freePort, kill, startEmbedded, untilReady } from './processes.ts';

const TURNS = Number(process.env.BENCH_TURNS ?? 7);
const FIRST_CALL = {
  everyMs: 5,
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: '{"app":9001,"ruleId":1,"the service":{"cost":120}}',
};
const given = process.argv.slice(2);
const checkouts = given.length > 0 ? given : [join(import.meta.dirname, '..')];
type Times = { checkout: string; version: number[]; exec: number[]; start: number[] };
const took = checkouts.map((checkout): Times => ({ checkout, version: [], exec: [], start: [] }));

for (let turn = 0; turn < TURNS; turn++)
  for (const times of turn % 2 ? took.toReversed() : took) {
    const command = join(times.checkout, 'bin/rule-server.js');
    const run = async (...parameters: string[]) => {
      const began = performance.now();
      await promisify(execFile)(process.execPath, [command, ...parameters]);
      return performance.now() - began;
    };
    times.version.push(await run('--version'));
    const folder = await mkdtemp(join(tmpdir(), 'rule-server-start-'));
    const PORT = String(await freePort());
    const url = `http://127.0.0.1:${PORT}`;
    const began = performance.now();
    const service = startEmbedded(folder, { PORT }, times.checkout);
    await untilReady(`${url}/rule-server/mock/execute`, 60_000, FIRST_CALL);
    times.start.push(performance.now() - began);
    times.exec.push(await run('exec', '--url', url, '--app', '9001', '--rule-id', '1', '--data', '{"cost":120}'));
    await kill(service);
    await rm(folder, { recursive: true });
  }

for (const { checkout, version, exec, start } of took) {
  const of = (times: number[], first: number[] = []) =>
    `${median(times).toFixed(0).padStart(5)} ms (${(median(times) / median(first)).toFixed(2)})`;
  console.log(
    `${basename(checkout).padEnd(16)} --version ${of(version, took[0]?.version)}, exec ${of(exec, took[0]?.exec)}, first answer ${of(start, took[0]?.start)}`,
  );
}
