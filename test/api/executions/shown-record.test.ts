import { describe, expect, it } from 'vitest';
import { shownRecord } from '../../../src/api/executions/shown-record.ts';
import { openRecord } from '../../../src/shared/contract/execution-record.ts';
import { createPrivacy } from '../../../src/shared/privacy/privacy.ts';
import { quickSettings } from '../../support/start-service.ts';

const INPUT = '{"phone":493012345}';
const data = {
  v: 1,
  app: 7,
  ruleId: '1',
  confId: null,
  ts: null,
  target: 'all',
  keyName: null,
  input: INPUT,
  claimBy: 0,
};
const record = { ...openRecord({ mockId: 'a', data, queuedAt: 0 }), error: 'cannot call 493012345 now' };
const hides = createPrivacy(quickSettings({ MASK: '7:phone' }));

function kept(input: string | null) {
  return { input: async () => input, result: async () => `{"success":false,"error":"cannot call 493012345 now"}` };
}

describe('the error of a run that was kept before MASK named a field', () => {
  it('is shown without what is hidden now', async () => {
    expect(await shownRecord(record, kept(INPUT), hides)).toMatchObject({ error: 'cannot call *** now' });
  });

  it('is not shown at all where its input is not kept, as nobody knows what it quotes', async () => {
    expect(await shownRecord(record, kept(null), hides)).toMatchObject({ error: null });
    expect(await shownRecord(record, kept(''), hides)).toMatchObject({ error: null });
  });

  it('is shown as it is for other apps, and where nothing is hidden', async () => {
    expect((await shownRecord({ ...record, app: 8 }, kept(INPUT), hides)).error).toBe(record.error);
    expect((await shownRecord(record, kept(INPUT), createPrivacy(quickSettings()))).error).toBe(record.error);
  });
});
