import { expect, test } from 'vitest';
import { brokenIn, type Entry, longestTakeover, verdictOf } from './verdict.ts';

const experiment: Entry = { kind: 'experiment', what: 'a test', seed: 7 };
const called = (number: number, at: number): Entry => ({ at, kind: 'called', number });
type Answered = Extract<Entry, { kind: 'answered' }>;
const answered = (number: number, more: Partial<Answered> = {}): Entry => ({
  ...{ at: 0, kind: 'answered', number, ms: 5, status: 200, own: number, code: null, mayHaveRun: null },
  ...{ mockId: null, error: null, uncertain: false, ...more },
});
const refused = (number: number, more: Partial<Answered> = {}) =>
  answered(number, {
    status: 503,
    own: null,
    code: 'overloaded',
    mayHaveRun: false,
    error: 'It did not run.',
    ...more,
  });

test('a story in which every promise was kept', () => {
  const story = [
    experiment,
    called(1, 0),
    answered(1),
    called(2, 1),
    refused(2),
    called(3, 2),
    answered(3, { status: 0 }),
  ];
  expect(verdictOf(story)).toMatchObject({ seed: 7, calls: 2, answered: 1, refused: 1, cutOff: 1 });
  expect(brokenIn(verdictOf(story))).toEqual([]);
});

test.each<[string, Entry[], RegExp]>([
  ['an answer of another call', [called(1, 0), answered(1, { own: 2 })], /call 1 was lost: 200/],
  [
    'a refusal that does not say whether it ran',
    [called(1, 0), refused(1, { mayHaveRun: true })],
    /call 1 was lost: 503/,
  ],
  ['a call without an end', [called(1, 0)], /call 1 never ended/],
  [
    'a request that was found twice',
    [
      { kind: 'found', mockId: 'm', number: 1 },
      { kind: 'found', mockId: 'm', number: 1 },
    ],
    /request m was found twice/,
  ],
  [
    'a call that ran twice',
    [
      { kind: 'ran', number: 1 },
      { kind: 'ran', number: 1 },
    ],
    /call 1 ran more than once/,
  ],
  [
    'a run of which it was said that it did not',
    [called(1, 0), refused(1), { kind: 'ran', number: 1 }],
    /call 1 ran, and/,
  ],
])('%s breaks a promise', (_what, entries, line) => {
  expect(brokenIn(verdictOf([experiment, ...entries])).join('\n')).toMatch(line);
});

test('a call whose key may have been forgotten may run again', () => {
  const ran: Entry = { kind: 'ran', number: 1 };
  expect(brokenIn(verdictOf([experiment, called(1, 0), ran, ran, answered(1, { uncertain: true })]))).toEqual([]);
});

test('the longest take-over is counted from the later of the end of the fault and the write of the answer', () => {
  const story: Entry[] = [
    called(1, 0),
    { at: 100, kind: 'fault', fault: 'f', phase: 'begins', forgets: false },
    { at: 200, kind: 'wrote', number: 1 },
    { at: 300, kind: 'fault', fault: 'f', phase: 'ends', forgets: false },
    answered(1, { at: 450 }),
    called(2, 400),
    answered(2, { at: 900 }),
  ];
  expect(longestTakeover(story, 'at-its-end')).toBe(150);
  expect(longestTakeover(story, 'at-its-begin')).toBe(250);
});
