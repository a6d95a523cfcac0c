/** Members of a file as they are written; configured values are text in the file and an object here. */
type Members = Record<string, unknown>;

const AND = 1;
const TRUE = 2;
const ANY = 4;
const FLOW = 5;
const RESULT = 6;
const NONE = 7;
const PARALLEL_ALL = 11;
const BETWEEN = 7;
const spring = { timeType: BETWEEN, start: Date.UTC(2026, 2, 1), end: Date.UTC(2026, 3, 1) - 1 };

/** The demo's rules by id. */
export const demoRules: Record<number, Members> = {
  1: { name: 'Recharge campaign', scenes: 'recharge', confId: 1 },
  2: { name: 'Welcome a member', scenes: 'welcome', confId: 20 },
  3: { name: 'A slow look-up', confId: 30 },
  4: { name: 'A payment that fails', confId: 40 },
  5: { name: 'A payment that may fail', confId: 50 },
};

/** The demo's nodes by id. */
export const demoNodes: Record<number, Members> = {
  1: { name: 'campaign', type: AND, sonIds: '2,3,4,6' },
  2: { name: 'spent 100 or more', type: FLOW, confName: 'demo.SpendThreshold', confField: { min: 100 } },
  3: { name: 'not blocked', type: FLOW, confName: 'demo.BlockedUser', confField: { uids: [13, 666] }, inverse: true },
  4: {
    ...{ name: 'coupon of 20', type: RESULT, confName: 'demo.GiveCoupon', forwardId: 5 },
    confField: { amount: 20, reason: 'spent at least 100' },
  },
  5: { name: 'coupon city', type: FLOW, confName: 'demo.InCity', confField: { cities: ['Berlin', 'Lyon', '杭州'] } },
  6: { name: 'points', type: TRUE, sonIds: '7,9' },
  7: {
    name: 'a point for every 10',
    type: RESULT,
    confName: 'demo.GivePoints',
    forwardId: 8,
    confField: { per: 10, key: 'points' },
  },
  8: { name: 'gold or better', type: FLOW, confName: 'demo.MemberLevel', confField: { min: 2 } },
  9: {
    ...{ name: 'spring bonus', type: RESULT, confName: 'demo.GivePoints', ...spring },
    confField: { per: 1, key: 'springPoints' },
  },
  20: { name: 'welcome', type: AND, sonIds: '21,24' },
  21: { name: 'both at once', type: PARALLEL_ALL, sonIds: '22,23' },
  22: { name: 'profile', type: NONE, confName: 'demo.LookUpProfile', confField: { ms: 40 } },
  23: { name: 'is a member', type: FLOW, confName: 'demo.MemberLevel' },
  24: {
    name: 'welcome coupon',
    type: RESULT,
    confName: 'demo.GiveCoupon',
    confField: { amount: 5, reason: 'welcome' },
  },
  30: { name: 'slow', type: NONE, confName: 'demo.LookUpProfile', confField: { ms: 5000 } },
  40: { name: 'pay', type: AND, sonIds: '2,41' },
  41: { name: 'charge', type: RESULT, confName: 'demo.ChargeCard' },
  50: { name: 'pay or give', type: ANY, sonIds: '51,24' },
  51: { name: 'charge, a failure is no', type: RESULT, confName: 'demo.ChargeCard', errorState: 0 },
};
