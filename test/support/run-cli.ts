import { PassThrough, Readable } from 'node:stream';
import { runCommand } from '../../src/cli/program.ts';

/** Runs a command of the command line in this process, without a terminal; what it wrote, and its exit code. */
export const runCli = (...line: string[]) => runCliIn({}, ...line);

/** The same with an environment. */
export async function runCliIn(
  environment: NodeJS.ProcessEnv,
  ...line: string[]
): Promise<{ code: number; out: string; err: string }> {
  const [stdout, stderr] = [new PassThrough(), Object.assign(new PassThrough(), { isTTY: false })];
  const told = Promise.all([stdout, stderr].map((stream) => stream.setEncoding('utf8').toArray()));
  const surroundings = { environment, stdin: Readable.from([]), stdout, stderr, onInterrupt() {} };
  const code = await runCommand(line, surroundings);
  stdout.end();
  stderr.end();
  const [out = '', err = ''] = (await told).map((chunks) => chunks.join(''));
  return { code, out, err };
}
