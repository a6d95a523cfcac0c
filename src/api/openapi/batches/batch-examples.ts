import { noCounts } from '../../../shared/cases/batch.ts';
import { DATA_FIELD } from '../../../shared/contract/data-field.ts';
import { BATCH_ID } from '../examples.ts';

/** The path of the batches, and what their operations have in common. */
export const BATCHES = '/rule-server/mock/batches';
export const common = { method: 'get', needs: 'read', tag: 'Batches' } as const;

export const batchId = BATCH_ID;
const counts = { ...noCounts(), passed: 1, failed: 1 };
export const batch = {
  ...{ batchId, app: 9001, ruleId: 1, confId: null, cases: 1, items: 2, concurrency: 4, stopAfterFailures: null },
  ...{
    keyName: null,
    createdAt: 1_790_000_000_000,
    endedAt: 1_790_000_001_000,
    file: null,
    etag: null,
    from: null,
    dryRun: false,
    ignore: [],
  },
  ...{ state: 'finished', counts },
  targets: [
    { target: 'all', counts: { ...counts, failed: 0 } },
    { target: 'lane:beta', counts: { ...counts, passed: 0 } },
  ],
};

export const item = {
  ...{ n: 2, name: 'spends 100', line: null, target: 'lane:beta', verdict: 'failed', outcome: 'TRUE', address: 'vm_1' },
  ...{
    code: null,
    reason: null,
    params: {},
    mayHaveRun: true,
    error: null,
    tookMs: 12,
    mockId: '2ecce912-bc72-8159-b6c0-da7bff77fd38',
    rules: { released: 18, loaded: 18, digest: 'Qm9xX2Vzc2VudGlhbGx5MT' },
    parting: null,
    differences: 1,
  },
};
const difference = { path: 'data.coupon.amount', expected: '20', actual: '25', how: 'differs' };
export const itemDetails = {
  [DATA_FIELD]: { cost: 120.1 },
  expect: { data: { coupon: { amount: 20 } } },
  decidedBy: { id: '4', name: 'coupon of 20' },
  judged: { differences: [difference], notChecked: [] },
  of: null,
};
export const wholeItem = {
  ...item,
  ts: null,
  [DATA_FIELD]: { cost: 120.1 },
  expect: { data: { coupon: { amount: 20 } } },
  changed: { coupon: { amount: 25 } },
  cut: false,
  nodes: { 4: ['TRUE'] },
  differences: [difference],
  notChecked: [],
  ignore: [],
  masked: [],
};
