import { spawn, spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { runCli } from '../support/run-cli.ts';

const SMALL_CLIENT = join(import.meta.dirname, '../support/small-client.py');
const SHELL_CLIENT = join(import.meta.dirname, '../../examples/client.sh');
const hasPython = spawnSync('python3', ['--version']).status === 0;
const findingsSchema = z.array(z.looseObject({ check: z.string(), level: z.string() }));

/** A shared directory with that of one client, which the command plays, if there is one. */
async function clientIn(command?: string, ...parameters: string[]) {
  const sharedDir = await mkdtemp(join(tmpdir(), 'rule-server-'));
  const directory = join(sharedDir, 'mock/7/mine');
  await mkdir(directory, { recursive: true });
  const places = { SHARED: sharedDir, DIRECTORY: directory };
  const given = parameters.map(
    (parameter) => Object.entries(places).find(([name]) => name === parameter)?.[1] ?? parameter,
  );
  const client = command === undefined ? undefined : spawn(command, given, { stdio: 'ignore' });
  const ended = new Promise((resolve) => (client ? client.once('exit', resolve) : resolve(null)));
  return {
    ...{ sharedDir, directory },
    async [Symbol.asyncDispose]() {
      client?.kill('SIGKILL');
      await ended;
    },
  };
}

/** The exit code, and the names of what failed. */
async function check(directory: string, ...more: string[]) {
  const { code, out } = await runCli('check-client', directory, '--json', ...more);
  const findings = findingsSchema.parse(JSON.parse(out));
  return { code, failed: findings.filter(({ level }) => level === 'fail').map(({ check: name }) => name) };
}

describe.concurrent('a client of somebody’s own', () => {
  it.skipIf(!hasPython)('of twenty lines of Python passes, and nothing is left in its directory', async () => {
    await using client = await clientIn('python3', SMALL_CLIENT, 'DIRECTORY');
    expect(await check(client.directory)).toEqual({ code: 0, failed: [] });
    expect(await readdir(client.directory)).toEqual([]);
  });

  it('of twenty lines of shell passes', async () => {
    await using client = await clientIn('sh', SHELL_CLIENT, 'SHARED', '7', 'mine');
    expect(await check(client.directory)).toEqual({ code: 0, failed: [] });
  });

  it.skipIf(!hasPython).each([
    { faults: ['floats', 'in-place', 'any-name'], failed: ['exact numbers', 'being written', 'others', 'complete'] },
    { faults: ['runs-anyway', 'dies'], failed: ['taken back', 'no request', 'directory'] },
  ])('with the faults $faults fails at $failed', async ({ faults, failed }) => {
    await using client = await clientIn('python3', SMALL_CLIENT, 'DIRECTORY', ...faults);
    expect(await check(client.directory, '--within', '4')).toEqual({ code: 1, failed: expect.arrayContaining(failed) });
  });

  it.skipIf(!hasPython)('that does not delete its requests, or whose heartbeat is old, fails', async () => {
    await using client = await clientIn('python3', SMALL_CLIENT, 'DIRECTORY', 'keeps');
    const home = join(client.sharedDir, 'clients/7');
    await mkdir(home, { recursive: true });
    await writeFile(join(home, 'm_mine.json'), '{"address":"mine","app":7}');
    await writeFile(join(home, 'b_mine.json'), '{"lastHeartbeat":1}');
    const { code, failed } = await check(client.directory);
    expect([code, failed]).toEqual([1, expect.arrayContaining(['answer', 'taken back', 'registration'])]);
  });

  it('that does not run is told of, and nothing is left of the request', async () => {
    await using client = await clientIn();
    expect(await check(client.directory, '--within', '1')).toEqual({ code: 1, failed: ['answer'] });
    expect(await readdir(client.directory)).toEqual([]);
  });

  it.each([
    { what: 'a directory of nobody', path: 'clients', more: [] },
    { what: 'a directory that is not there', path: 'mock/7/other', more: [] },
    { what: 'an input that is no object', path: 'mock/7/mine', more: ['--data', '[1]'] },
    { what: 'a time that is none', path: 'mock/7/mine', more: ['--within', 'soon'] },
    { what: 'a rule that is no number', path: 'mock/7/mine', more: ['--rule-id', 'x'] },
  ])('is not looked for: $what is a wrong command line', async ({ path, more }) => {
    await using client = await clientIn();
    const { code, err } = await runCli('check-client', join(client.sharedDir, path), ...more);
    expect([code, err]).toEqual([2, expect.stringMatching(/directory|--data|--within|--rule-id/)]);
  });
});
