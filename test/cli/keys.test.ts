import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { stringify } from 'yaml';
import { runCommand } from '../../src/cli/program.ts';

async function keys(parameters: string[], environment = {}): Promise<{ exitCode: number; out: string }> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const out = stdout.setEncoding('utf8').toArray();
  const exitCode = await runCommand(['keys', ...parameters], {
    environment,
    stdin: Readable.from([]),
    stdout,
    stderr,
    onInterrupt: () => {},
  });
  stdout.end();
  return { exitCode, out: (await out).join('') };
}

it('makes a key for a program, whose entry the keys file takes, and lists the entries as JSON', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'keys-'));
  try {
    const made = await keys(['new', '--name', 'reports', '--may', 'read', '--apps', '9001', '--json']);
    const { key, entry } = JSON.parse(made.out);
    expect(key).toMatch(/^[\w-]{43}$/);
    const file = join(folder, 'keys.yaml');
    await writeFile(file, stringify({ keys: [entry] }));
    const { exitCode, out } = await keys(['check', file, '--json']);
    expect(exitCode).toBe(0);
    expect(JSON.parse(out)).toEqual({ keys: [{ name: 'reports', may: ['read'], apps: [9001], expires: null }] });
    expect((await keys(['check', file], { RULE_SERVER_KEY: key })).out).toContain('is the key of reports');
  } finally {
    await rm(folder, { recursive: true });
  }
});
