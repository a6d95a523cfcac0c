import { describe, expect, it } from 'vitest';
import { groupFailures } from '../../../src/api/executions/search/group-failures.ts';
import type { State } from '../../../src/shared/contract/endings/states.ts';
import { openRecord } from '../../../src/shared/contract/execution-record.ts';

type Ended = { error?: string | null; address?: string | null; at?: number; state?: State; code?: string | null };

let count = 0;

function record({ error = null, address = 'shop-1', at = 1000, state = 'failed', code = null }: Ended) {
  const mockId = `00000000-0000-4000-8000-${String(++count).padStart(12, '0')}`;
  const data = { app: 7, ruleId: '1', confId: null, ts: null, target: 'all', keyName: null, input: '{}' };
  const open = openRecord({ mockId, data: { v: 1, ...data, claimBy: 0 }, queuedAt: 0 });
  const ending = { status: 200, code, reason: null, params: {}, mayHaveRun: true };
  return { ...open, address, error, state, ending, history: [...open.history, { state, at }] };
}

describe('failures that are alike', () => {
  it('are one group, whatever numbers, ids, quoted values and clients stand in them', () => {
    const groups = groupFailures([
      record({ error: 'shop-2: card 4711 of "Ann" was refused', address: 'shop-2', at: 30 }),
      record({ error: 'shop-1: card 12.50 of "Bob" was refused', at: 10 }),
      record({ error: 'shop-1: card -3 of "O’Neil, Jr." was refused', at: 20 }),
    ]);
    expect(groups).toEqual([
      {
        code: 'failed',
        reason: null,
        params: {},
        sentence: '<client>: card <number> of <value> was refused',
        count: 3,
        first: 10,
        last: 30,
        mockId: expect.any(String),
        clients: [
          { address: 'shop-1', count: 2 },
          { address: 'shop-2', count: 1 },
        ],
      },
    ]);
  });

  it('name the newest of them, which comes first', () => {
    const [newest, older] = [record({ error: 'no' }), record({ error: 'no' })];
    expect(groupFailures([newest, older])).toMatchObject([{ mockId: newest.mockId, count: 2 }]);
  });

  it('are told apart by their code and by their words, the most frequent first', () => {
    const groups = groupFailures([
      record({ state: 'rejected', code: 'no-client', address: null, error: 'nobody is there' }),
      record({ error: 'no stock' }),
      record({ error: 'no card' }),
      record({ error: 'no card' }),
    ]);
    expect(groups.map(({ code, sentence, count }) => [code, sentence, count])).toEqual([
      ['failed', 'no card', 2],
      ['no-client', 'nobody is there', 1],
      ['failed', 'no stock', 1],
    ]);
    expect(groups[1]?.clients).toEqual([{ address: null, count: 1 }]);
  });

  it('are not those that succeeded, that somebody cancelled, or that have not ended', () => {
    expect(
      groupFailures([
        record({ state: 'succeeded' }),
        record({ state: 'cancelled', code: 'cancelled' }),
        record({ state: 'picked-up' }),
      ]),
    ).toEqual([]);
  });
});
