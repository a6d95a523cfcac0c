import { describe, expect, test } from 'vitest';
import type { Item } from '../../src/console/api/batch-items.ts';
import { type Execution, readExecution } from '../../src/console/api/executions.ts';
import { releasesOf } from '../../src/console/cases/releases.ts';
import { causesOf } from '../../src/console/run/history/causes.ts';
import { toldExecution } from '../support/told-execution.ts';

const rules = (released: string, digest: string) => ({ released, loaded: released, digest });

function run({ input = '{"cost":90}', ran = rules('4', 'a'), address = 'vm_1' }): Execution {
  return readExecution(toldExecution({ app: 7, address, rules: ran, input }));
}

describe('what differs between compared calls', () => {
  test('is nothing where they were the same', () => {
    expect(causesOf([run({}), run({})])).toEqual({ input: null, rules: null, clients: null });
  });

  test('is the input, to the last digit', () => {
    expect(causesOf([run({}), run({ input: '{"cost":90.0000000000000001}' })]).input).toBe(
      'cost 90 → 90.0000000000000001',
    );
  });

  test('is the rules, by their versions, also where one version had two', () => {
    expect(causesOf([run({}), run({ ran: rules('9007199254740993', 'b') })]).rules).toBe('4, 9007199254740993');
    expect(causesOf([run({}), run({ ran: rules('4', 'b') })]).rules).toBe('4');
    expect(causesOf([run({}), run({ ran: rules('5', 'a') })]).rules).toBeNull();
  });

  test('is the clients', () => {
    expect(causesOf([run({}), run({ address: 'vm_2' })]).clients).toBe('vm_1, vm_2');
  });
});

describe('the releases between two batches', () => {
  const item = (released: string | null, digest: string | null): Item => ({
    ...{ n: 1, name: 'a', target: 'all', verdict: 'passed', outcome: 'TRUE', address: null, code: null },
    ...{
      mayHaveRun: true,
      error: null,
      tookMs: 1,
      mockId: 'm',
      ...{ input: null, expected: null, decidedBy: null },
      rules: { released, loaded: null, digest },
    },
  });

  test('are named where the rules are others, and only there', () => {
    expect(releasesOf([item('4', 'a')], [item('5', 'b'), item('5', 'b')])).toEqual({ before: '4', now: '5' });
    expect(releasesOf([item('4', 'a')], [item('4', 'a'), item('5', 'b')])).toEqual({ before: '4', now: '4, 5' });
    expect(releasesOf([item('4', 'a')], [item('5', 'a')])).toBeNull();
    expect(releasesOf([item('4', null)], [item('5', 'b')])).toBeNull();
    expect(releasesOf([], [item('5', 'b')])).toBeNull();
  });
});
