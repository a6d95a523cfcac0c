import type { z } from 'zod';
import { noCounts } from '../../shared/cases/batch.ts';
import { visible, visibleJson } from '../../shared/contract/json/visible-text.ts';
import { findingCodes, readinessSchema } from '../../shared/contract/readiness.ts';
import { junitReport } from '../../shared/reports/junit.ts';
import { exitCodes } from '../terminal/exit-codes.ts';
import { createHttpApi, get, type HttpApi, readAnswer } from '../terminal/http-api.ts';
import { openOutput } from '../terminal/output-file.ts';
import { CommandFailed, type Surroundings } from '../terminal/surroundings.ts';

type CheckOptions = {
  app: string;
  ruleId?: string;
  target: string;
  junit?: string;
  url: string;
  key?: string;
  json?: boolean;
};

type Answer = z.output<typeof readinessSchema>;
export type Rule = Answer['rules'][number];

export const readinessWords = {
  'can-ship': 'can ship',
  'cannot-ship': 'cannot ship',
  'not-tested': 'not tested',
} as const;

/** Tells whether the rules of an app can be released to a target. Nothing runs. Resolves to the exit code. */
export async function check(options: CheckOptions, { stdout, stderr }: Surroundings): Promise<number> {
  const api = createHttpApi({ url: options.url, key: options.key });
  const junit = options.junit === undefined ? null : await openOutput('--junit', options.junit);
  const { text, answer } = await readReadiness(api, options);
  stdout.write(options.json ? `${visibleJson(text)}\n` : linesOf(answer));
  if (junit !== null) {
    await junit(junitOf(answer), 'What it would tell is printed above.');
    stderr.write(`The report is in ${options.junit}.\n`);
  }
  return { 'can-ship': exitCodes.ok, 'cannot-ship': exitCodes.failed, 'not-tested': exitCodes.timedOut }[answer.state];
}

/** Whether the rules of an app can be released to a target: the answer, and its text. Throws `CommandFailed` where it has none. */
export async function readReadiness(
  api: HttpApi,
  { app, ruleId, target }: Pick<CheckOptions, 'app' | 'ruleId' | 'target'>,
): Promise<{ text: string; answer: Answer }> {
  const text = await get(api, 'readiness', { app, ruleId, target });
  const answer = readAnswer(readinessSchema, text);
  if (answer.rules.length === 0) throw new CommandFailed(`App ${app} has no rules.`, exitCodes.rejected);
  return { text, answer };
}

function linesOf({ target, rules }: Answer): string {
  const ready = rules.filter(({ state }) => state === 'can-ship').length;
  const lines = rules.flatMap(({ ruleId, name, state, findings }) => [
    `#${ruleId}${name === null ? '' : ` ${visible(name)}`}: ${readinessWords[state]}`,
    ...findings.map(({ message }) => `   ${visible(message)}`),
  ]);
  return `${[...lines, `${ready} of ${rules.length} rules can ship to ${visible(target)}.`].join('\n')}\n`;
}

/** In JUnit a rule that cannot ship is a failure, an untested one an error. Findings that are only information are left out. */
function junitOf({ app, target, rules }: Answer): string {
  const verdictOf = { 'can-ship': 'passed', 'cannot-ship': 'failed', 'not-tested': 'error' } as const;
  const counts = noCounts();
  const items = rules.map(({ ruleId, name, state, findings }) => {
    const verdict = verdictOf[state];
    counts[verdict]++;
    const reasons = findings.filter(({ code }) => findingCodes[code] !== 'tells');
    const error = reasons.length === 0 ? null : reasons.map(({ message }) => message).join('\n');
    const nothing = { line: null, code: null, mayHaveRun: false, tookMs: null, parting: null };
    const title = `rule ${ruleId}${name === null ? '' : ` ${name}`}`;
    return { ...nothing, name: title, target, verdict, error, differences: [], notChecked: [] };
  });
  const about = { batchId: 'check', app, ruleId: null, confId: null, file: null, createdAt: Date.now() };
  return junitReport({ ...about, targets: [{ target, counts }], items });
}
