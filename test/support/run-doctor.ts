import { PassThrough, Readable } from 'node:stream';
import { z } from 'zod';
import { runCommand } from '../../src/cli/program.ts';

const findingsSchema = z.array(z.looseObject({ level: z.enum(['ok', 'warn', 'fail']), message: z.string() }));

/** How `rule-server doctor` ended, and what it warned of and failed for: its findings as they are, one a line. */
export type Diagnosis = { exitCode: number; warned: string; failed: string };

/** Runs it in this process. */
export async function runDoctor(
  environment: Record<string, string>,
  parameters: string[] = ['--url', 'http://127.0.0.1:1'],
): Promise<Diagnosis> {
  const [out, err] = [new PassThrough(), Object.assign(new PassThrough(), { isTTY: false })];
  const said = out.setEncoding('utf8').toArray();
  err.resume();
  const exitCode = await runCommand(['doctor', '--json', ...parameters], {
    ...{ environment, stdin: Readable.from([]), stdout: out, stderr: err },
    onInterrupt: () => {},
  });
  out.end();
  const findings = findingsSchema.parse(JSON.parse((await said).join('')));
  const named = (level: string) =>
    findings
      .filter((finding) => finding.level === level)
      .map((finding) => JSON.stringify(finding))
      .join('\n');
  return { exitCode, warned: named('warn'), failed: named('fail') };
}
