import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Data } from '../../src/client/engine/data/data.ts';
import { execute } from '../../src/client/engine/execution.ts';
import { createRegistry } from '../../src/client/leaves/registry.ts';
import { createRuleSet } from '../../src/client/rules/rule-set.ts';
import { releasedOf } from '../../src/client/runs/load-objects.ts';
import { createClientFiles, until } from './support/client-files.ts';
import { leafFile, smallLeaves } from './support/small-leaves.ts';

const program = join(import.meta.dirname, 'support/stray-program.ts');

/** Runs a process of its own, because the test runner listens for stray errors too. */
async function runProgram(...what: string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, [program, ...what], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text));
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { code, output };
}

describe('a leaf that leaves an error behind', () => {
  test('does not end the process, and is told', async () => {
    const rejects = ['rejects', 'rejects-later', 'rejects-in-handler'];
    const throws = ['loaded-throws-in-timer', 'throws-in-timer'];
    const { code, output } = await runProgram(...rejects, ...throws);
    const told = 'Stray (node 3 of rule 1) left an error behind,';
    for (const what of rejects)
      expect(output).toContain(`${what}: ${told} a promise that it did not wait for was rejected: lost\n`);
    for (const what of throws) expect(output).toContain(`${what}: ${told} it threw where nobody catches: lost\n`);
    for (const what of [...rejects, ...throws]) expect(output).toContain(`${what}: went on\n`);
    expect(code).toBe(0);
  });

  test.each(['service-rejects', 'service-throws'])('is not taken for the service: %s', async (what) => {
    const { code, output } = await runProgram(what);
    expect(code).toBe(1);
    expect(output).toContain('Error: of the service');
    expect(output).not.toContain(`${what}:`);
  });
});

test('what is put after the run has ended is told, and changes nothing', async () => {
  const files = await createClientFiles();
  try {
    await files.node(1, '"type":7,"confName":"Late"');
    await files.rule(1, '"confId":1');
    class Late {
      doNone(service: Data): void {
        service.put('in time', 1);
        void sleep(20).then(() => service.put('late', 2));
      }
    }
    const client = await files.start({ leaves: { Late } });
    expect((await client.run({ ruleId: 1 })).data).toEqual({ 'in time': 1 });
    await until(async () => files.errors[0]);
    expect(String(files.errors[0])).toBe(
      'Error: Late (node 1) put "late" after the run of rule 1 had ended: it is lost (is an await missing?)',
    );
  } finally {
    await files.close();
  }
});

test.each([1, 3])('a chain of 5,000 nodes below each other runs to its end (relation %i)', async (type) => {
  const length = 5000;
  const chain = Array.from({ length }, (_, at) => ({ id: at + 1, type, sonIds: String(at + 2) }));
  const nodes = [...chain, { id: length + 1, type: leafFile.T.type, confName: 'Yes' }];
  const rules = createRuleSet(releasedOf({ rules: [], nodes }), createRegistry(smallLeaves));
  const request = { ruleId: null, confId: 1n, ts: null, data: {} };
  const { ended, run } = execute(rules, request, { withSteps: true, timeoutMs: 20_000 });
  expect(await ended).toEqual({ kind: 'done', outcome: 'TRUE' });
  expect(run.steps?.list).toHaveLength(length + 1);
});
