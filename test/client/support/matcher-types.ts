import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../../sdks/run.ts';

const readme = join(import.meta.dirname, '../../../src/client/README.md');

/** What the README tells a user to declare, or to import, so that a test runner knows the matchers; and nothing at all. */
export async function matcherDeclarations(): Promise<string[]> {
  const text = await readFile(readme, 'utf8');
  const declared = [...text.matchAll(/declare (?:module '[^']+'|global) \{.*?\}\s*\}(?:\s*\})*/gs)].map(([all]) => all);
  const imported = [...text.matchAll(/import '[^']*testing\/[^']+';/g)].map(([all]) => all);
  return ['', ...declared, ...imported];
}

/** A test of a rule in TypeScript, as a user of a test runner writes it. `from`: where `expect` is imported from; else it is global. */
export function matcherUsage(from: string | null): string {
  return `
${from === null ? '' : `import { expect, test } from '${from}';`}
import { testRule } from 'rule-server/client';
import { ruleMatchers, type RuleMatchers } from 'rule-server/client/testing';
expect.extend(ruleMatchers);
export type Known = RuleMatchers;
test('who spends 110 is let through', async () => {
  const result = await testRule('rules/1', { leaves: {}, ruleId: 1, data: { cost: 120 } });
  expect(result).toHaveOutcome('TRUE');
  expect(result).not.toHaveOutcome(null);
  expect(result).toHaveData({ cost: 120, coupon: undefined });
  expect(result).toHaveSteps({ SpentAtLeast: 'TRUE', GiveCoupon: ['TRUE', 'FALSE'], 12: null });
  // @ts-expect-error: no outcome
  expect(result).toHaveOutcome('MAYBE');
});
`;
}

/** What a compiler says of a file, strictly; nothing when it compiles. */
export async function compileUsage(tsc: string, path: string, types = 'node'): Promise<string> {
  const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2024', '--skipLibCheck'];
  const given = [...options, '--types', types, '--ignoreConfig', path];
  return run(tsc, given, { cwd: join(path, '..'), timeoutMs: 60_000 }).then(
    (said) => said.trim(),
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
}
