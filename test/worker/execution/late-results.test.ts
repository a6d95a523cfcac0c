import { expect, it } from 'vitest';
import type { ExecutionRecord } from '../../../src/shared/contract/execution-record.ts';
import { createLateResults } from '../../../src/worker/execution/late-results.ts';
import { keptRecord } from '../../support/kept-record.ts';
import { captureLog } from '../../support/start-service.ts';

const SILENT = { status: 504, code: 'no-answer', reason: null, params: {}, mayHaveRun: true } as const;

/** The sweep has found a text that is no answer to execution m, which ended like this. */
function found(ending: ExecutionRecord['ending']) {
  const file = { stamp: 'first' };
  const removed: string[] = [];
  const present = () => ({ kind: 'present', judgement: { kind: 'wrong' }, ...file, lease: { release: () => {} } });
  const parts = {
    claims: { findAnywhere: async () => ({ kind: 'claimed', claim: { mockId: 'm', app: 1, address: 'a' } }) },
    history: { get: async () => keptRecord({ ending }) },
    mailbox: {
      readResult: async () => ({ found: present() }),
      removeResultSeen: async (_claim: unknown, stamp: string) => void removed.push(stamp),
      removeIfLeft: async () => {},
    },
    log: captureLog().log,
  };
  return { file, removed, ...createLateResults(parts as unknown as Parameters<typeof createLateResults>[0]) };
}

it('what is no answer is removed once it has not changed from one sweep to the next: it may still be written', async () => {
  const { file, removed, keep } = found(SILENT);
  expect(await keep('m')).toBe(true);
  file.stamp = 'second';
  await keep('m');
  expect(removed).toEqual([]);
  await keep('m');
  expect(removed).toEqual(['second']);
});

it.each([
  ['with an answer', { ...SILENT, status: 200, code: null }],
  ['without a run', { ...SILENT, mayHaveRun: false }],
  ['not yet', null],
])('of an execution that ended %s nothing comes late', async (_how, ending) => {
  expect(await found(ending).keep('m')).toBe(false);
});
