import type { z } from 'zod';
import { noCounts } from '../../shared/cases/batch.ts';
import { visible, visibleJson } from '../../shared/contract/json/visible-text.ts';
import { findingCodes, readinessSchema } from '../../shared/contract/readiness.ts';
import { junitReport } from '../../shared/reports/junit.ts';
import type { ReportedItem } from '../../shared/reports/reported.ts';
import { exitCodes } from '../terminal/exit-codes.ts';
import { createHttpApi, get, type HttpApi, readAnswer } from '../terminal/http-api.ts';
import { openOutput } from '../terminal/output-file.ts';
import { CommandFailed, type Surroundings } from '../terminal/surroundings.ts';

export type CheckOptions = {
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

function junitOf({ app, target, rules }: Answer): string {
  const items = rules.map((rule, index): ReportedItem => itemOf(rule, { n: index + 1, target }));
  const counts = noCounts();
  for (const { verdict } of items) counts[verdict]++;
  return junitReport({
    batch: {
      batchId: 'check',
      app,
      ruleId: null,
      confId: null,
      targets: [target],
      file: null,
      createdAt: Date.now(),
    },
    progress: { counts: [counts] },
    items,
  });
}

/** In JUnit a rule that cannot ship is a failure, an untested one an error. Findings that are only information are left out. */
function itemOf({ ruleId, name, state, findings }: Rule, { n, target }: { n: number; target: string }): ReportedItem {
  const verdict = { 'can-ship': 'passed', 'cannot-ship': 'failed', 'not-tested': 'error' } as const;
  const reasons = findings.filter(({ code }) => findingCodes[code] !== 'tells');
  return {
    ...{ n, name: `rule ${ruleId}${name === null ? '' : ` ${name}`}`, line: null, target, mockId: '' },
    ...{ verdict: verdict[state], outcome: null, address: null, code: null, mayHaveRun: false, tookMs: null },
    error: reasons.length === 0 ? null : reasons.map(({ message }) => message).join('\n'),
    differences: [],
    notChecked: [],
    parting: null,
  };
}
