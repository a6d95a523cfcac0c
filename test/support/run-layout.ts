import { PassThrough } from 'node:stream';
import { runCommand } from '../../src/cli/program.ts';

/** Runs `rule-server layout` with these options. */
export async function runLayout(options: readonly string[]): Promise<{ code: number; printed: string }> {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const code = await runCommand(['layout', ...options], { environment: {}, stdin, stdout, stderr, onInterrupt() {} });
  return { code, printed: `${stdout.read() ?? ''}${stderr.read() ?? ''}` };
}
