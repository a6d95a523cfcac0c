import { describe, expect, test } from 'vitest';
import { compare } from '../../../src/shared/conclusions/compare.ts';
import { type Conclusion, conclusionOf, factsOfTrees } from '../../../src/shared/conclusions/conclusion.ts';
import { leaf, node } from '../../console/support/rule-tree.ts';

type Told = {
  input?: string;
  data?: string;
  process?: string | null;
  error?: string;
  assumed?: number[];
  stubbed?: number[];
  facts?: ReturnType<typeof factsOfTrees>;
};

/** A run of a client, its answer as the client would write it. */
function ran({
  input = '{"cost":1}',
  data,
  process = null,
  error,
  assumed = [],
  stubbed = [],
  facts,
}: Told): Conclusion {
  const members = [
    `"success":${error === undefined}`,
    ...(data === undefined ? [] : [`"the service":${data}`]),
    ...(process === null ? [] : [`"process":${JSON.stringify(process)}`]),
    ...(error === undefined ? [] : [`"error":${JSON.stringify(error)}`]),
    ...(assumed.length + stubbed.length === 0 ? [] : [`"effects":${JSON.stringify({ assumed, stubbed, unsure: [] })}`]),
  ];
  return conclusionOf({ input, body: `{${members.join(',')}}`, success: error === undefined, ...(facts && { facts }) });
}

const action = (id: number) => node(id, 'LeafResult');
/** ANY(AND(income, ratio, approve), decline). */
const loans = factsOfTrees([node(1, 'Any', [node(2, 'And', [leaf(3), leaf(4), action(9)]), action(8)])]);
const approved = '[3:I:T:0][4:R:T:0][9:Approve:T:0][2:And:T:0][1:Any:T:0]';
const declined = '[3:I:F:0][2:And:F:0][8:Decline:T:0][1:Any:T:0]';
const same = { data: '{"cost":1}' };

const partsOf = (before: Conclusion, after: Conclusion, ignore: string[] = []) => {
  const { kind, changes, notCompared } = compare(before, after, ignore);
  return [
    kind,
    ...changes.map(({ part, path, before: old, after: now }) => `${part} ${path} ${old} → ${now}`),
    ...notCompared.map(({ part, why, nodes }) => `${part} ${why} ${nodes.join()}`.trim()),
  ];
};

describe('two real runs', () => {
  const before = ran({ ...same, process: approved, facts: loans });

  test('are the same when outcome, data, actions and errors are', () => {
    expect(partsOf(before, ran({ ...same, process: approved, facts: loans }))).toEqual(['same']);
  });
  test('of one outcome that reached another action have changed, and part at the first other node', () => {
    const after = ran({ ...same, process: declined, facts: loans });
    expect(partsOf(before, after)).toEqual(['changed', 'actions  #9 → #8']);
    expect(compare(before, after).parting).toMatchObject({ id: '3', state: 'FALSE' });
  });
  test('that wrote another value have changed, exactly', () => {
    const coupon = (amount: string) =>
      ran({
        data: `{"cost":1,"coupon":{"amount":${amount},"at":1}}`,
        process: '[4:Pay:T:0]',
        facts: factsOfTrees([action(4)]),
      });
    expect(partsOf(coupon('20'), coupon('25'))).toEqual(['changed', 'data coupon.amount 20 → 25']);
    expect(partsOf(coupon('9007199254740993'), coupon('9007199254740992'))).toEqual([
      'changed',
      'data coupon.amount 9007199254740993 → 9007199254740992',
    ]);
    expect(partsOf(coupon('20.10'), coupon('2.01e1'))).toEqual(['same']);
    expect(partsOf(coupon('1'), coupon('2'), ['coupon.amount'])).toEqual(['same']);
  });
  test('of which one added, removed or left a key differ in that key alone', () => {
    const one = ran({ data: '{"cost":1,"a":[1,2]}', process: '[3:I:T:0]', facts: loans });
    expect(partsOf(one, ran({ data: '{"cost":1,"a":[1]}', process: '[3:I:T:0]', facts: loans }))).toEqual([
      'changed',
      'data a[1] 2 → null',
    ]);
    expect(partsOf(one, ran({ data: '{"a":[1,2]}', process: '[3:I:T:0]', facts: loans }))).toEqual([
      'changed',
      'data cost 1 → null',
    ]);
  });
  test('that failed before or now say so with both errors', () => {
    const failed = ran({ ...same, process: '[3:I:S:0]', error: 'no rate', facts: loans });
    expect(partsOf(before, failed)).toEqual([
      'changed',
      'outcome  TRUE → ERROR',
      'error  null → no rate',
      'actions  #9 → null',
    ]);
    expect(partsOf(failed, failed)).toEqual(['same']);
  });
  test('of another way and the same end are the same, and part', () => {
    const facts = factsOfTrees([node(1, 'Any', [leaf(3), leaf(4)])]);
    const one = ran({ ...same, process: '[3:I:T:0][1:Any:T:0]', facts });
    const other = ran({ ...same, process: '[3:I:F:0][4:R:T:0][1:Any:T:0]', facts });
    expect(compare(one, other)).toMatchObject({ kind: 'same', parting: { id: '3', state: 'FALSE' } });
  });
  test('whose nodes ended in parallel in another order are the same', () => {
    const facts = factsOfTrees([node(1, 'P-And', [action(3), action(4)])]);
    const one = ran({ ...same, process: '[3:A:T:0][4:B:T:0][1:P-And:T:0]', facts });
    const other = ran({ ...same, process: '[4:B:T:0][3:A:T:0][1:P-And:T:0]', facts });
    expect(compare(one, other)).toMatchObject({ kind: 'same', parting: null });
  });
  test('are not known to be the same where a value is hidden', () => {
    const hidden = ran({ data: '{"cost":1,"card":"***"}', process: approved, facts: loans });
    expect(partsOf(hidden, hidden)).toEqual(['unknown', 'data hidden']);
  });
});

describe('a dry run, compared with a real one', () => {
  const before = ran({ ...same, process: approved, facts: loans });

  test('that reached an action the other one did not has changed', () => {
    expect(partsOf(before, ran({ ...same, process: declined, assumed: [8], facts: loans }))).toEqual([
      'changed',
      'actions  #9 → #8',
      'outcome not-called 8',
      'data not-called 8',
    ]);
  });
  test('that reached the same action is not known to be the same', () => {
    const wrote = ran({ data: '{"cost":1,"loan":5}', process: approved, facts: loans });
    expect(partsOf(wrote, ran({ ...same, process: approved, assumed: [9], facts: loans }))).toEqual([
      'unknown',
      'outcome not-called 9',
      'data not-called 9',
    ]);
  });
  test('has no certain outcome behind an action that it did not call', () => {
    const facts = factsOfTrees([node(1, 'And', [action(2), leaf(3)])]);
    const real = ran({ ...same, process: '[2:A:T:0][3:B:T:0][1:And:T:0]', facts });
    const dry = ran({ ...same, process: '[2:A:T:0][3:B:F:0][1:And:F:0]', assumed: [2], facts });
    expect(compare(real, dry).kind).toBe('unknown');
  });
  test('that reached no action is as certain as a real one', () => {
    const refused = ran({ ...same, process: '[3:I:F:0][2:And:F:0][1:And:F:0]', facts: loans });
    expect(partsOf(refused, refused)).toEqual(['same']);
    expect(partsOf(before, refused)).toEqual(['changed', 'outcome  TRUE → FALSE', 'actions  #9 → null']);
  });
  test('knows the leaf that acts by the dry run alone where nothing else says so', () => {
    const [old, now] = [ran({ ...same, process: approved }), ran({ ...same, process: declined, assumed: [8] })];
    expect(compare(old, now)).toMatchObject({ kind: 'changed', changes: [{ part: 'actions', after: '#8' }] });
  });
  test('with a stub is not known behind it', () => {
    const stubbed = ran({ ...same, process: approved, stubbed: [3], facts: loans });
    expect(compare(before, stubbed).kind).toBe('unknown');
  });
});

describe('runs of published clients', () => {
  const python = '[51:P-And:T:1][52:P-Any:T-I:0][50:And:F:1]';
  const java = '[61:AgeFlow:T:0][62:Amount:T:0][51:P-And:T:4][61:AgeFlow:T:0][63:AgeFlow:F:0][0:P-Any:T:0][50:And:T:3]';

  test('the letters tell the outcome of the root, inverted where they say so', () => {
    expect(ran({ ...same, process: python }).outcome).toBe('FALSE');
    expect(ran({ ...same, process: '[121:AgeFlow:T:0][166:And:T-I:5]' }).outcome).toBe('FALSE');
    expect(ran({ ...same, process: '[133:AgeFlow:O]' }).outcome).toBe('NONE');
    expect(ran({ ...same, process: '[26:AgeFlow:F:0][25:AgeFlow:R-F]' }).outcome).toBe('FALSE');
  });
  test('what ran below a parallel node without children in its trace is not known', () => {
    const facts = factsOfTrees([node(50, 'And', [node(51, 'P-And', [leaf(61), action(62)]), leaf(52)])]);
    const run = ran({ ...same, process: python, facts });
    expect(partsOf(run, run)).toEqual(['unknown', 'actions not-told']);
    const told = ran({ ...same, process: java, facts });
    expect(partsOf(told, told)).toEqual(['same']);
  });
  test('without a tree, other leaves may have acted', () => {
    const one = ran({ ...same, process: '[3:A:T:0][1:Any:T:0]' });
    const other = ran({ ...same, process: '[3:A:F:0][4:B:T:0][1:Any:T:0]' });
    expect(partsOf(one, other)).toEqual(['unknown', 'actions not-told 4']);
    expect(partsOf(one, one)).toEqual(['same']);
  });
  test('two failures without a trace are not known to be the same', () => {
    const failed = ran({ error: 'kaboom' });
    expect(partsOf(failed, failed)).toEqual(['unknown', 'data not-told', 'actions not-told']);
  });
  test('outside the time window of the rule nothing ran: in all dialects the same', () => {
    const expired = [ran({ ...same, process: '' }), ran({ ...same })];
    for (const one of expired) for (const other of expired) expect(partsOf(one, other)).toEqual(['same']);
    expect(partsOf(ran({ ...same }), ran({ ...same, process: approved, facts: loans }))).toEqual([
      'changed',
      'outcome  null → TRUE',
      'actions  null → #9',
    ]);
  });
  test('a trace that ends in something else tells nothing', () => {
    const odd = ran({ ...same, process: '[3:A:T:0]what' });
    expect(partsOf(odd, odd)).toEqual(['unknown', 'outcome not-told', 'actions not-told']);
  });
  test('a parallel node that came to a shut-down has no outcome', () => {
    const shut = ran({ ...same, process: '[122:P-And:S:0]' });
    expect(compare(shut, shut).kind).toBe('unknown');
  });
});
