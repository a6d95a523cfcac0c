import { z } from 'zod';
import { runCliWith } from './run-cli.ts';

const findingsSchema = z.array(
  z.looseObject({ check: z.string(), level: z.enum(['ok', 'warn', 'fail']), message: z.string() }),
);

/** How `rule-server doctor` ended, and what it warned of and failed for: its findings as they are, one a line. */
export type Diagnosis = { exitCode: number; warned: string; failed: string; findings: z.infer<typeof findingsSchema> };

/** Runs it in this process. */
export async function runDoctor(
  environment: Record<string, string>,
  parameters: string[] = ['--url', 'http://127.0.0.1:1'],
): Promise<Diagnosis> {
  const { code, out } = await runCliWith({ environment }, 'doctor', '--json', ...parameters);
  const findings = findingsSchema.parse(JSON.parse(out));
  const named = (level: string) =>
    findings
      .filter((finding) => finding.level === level)
      .map((finding) => JSON.stringify(finding))
      .join('\n');
  return { exitCode: code, warned: named('warn'), failed: named('fail'), findings };
}
