import { describe, expect, it } from 'vitest';
import { atFirst, next } from '../../../src/worker/execution/next.ts';
import type { EffectOutcome, Facts, State, WaitEvent } from '../../../src/worker/execution/state.ts';
import type { Claim } from '../../../src/worker/files/claims/claims.ts';
import { openFileName, requestFileName, resultFileName } from '../../../src/worker/files/file-names.ts';

const mockId = '7f3a5c1e-0000-4000-8000-000000000001';
const claim: Claim = {
  ...{ v: 1, mockId, app: 1, address: 'here', lane: null, directoryName: 'here', registered: true, dialect: 'rule' },
  ...{ sdk: 'node', givesUp: true, madeDirectory: false, temporary: `.${mockId}.a1.tmp`, answerBy: 60_000 },
};
const facts: Facts = { claim, marksFirst: false, resultTimeoutMs: 60_000, clientTimeoutMs: 30_000 };
const directoryOnly: Facts = { ...facts, claim: { ...claim, registered: false } };

const lease = { release: () => {} };
const answer = {
  kind: 'answer',
  body: '{}',
  success: true,
  outcome: null,
  error: null,
  rules: null,
  isDry: false,
  showsRun: false,
} as const;
const broken = { kind: 'wrong', fault: { problem: 'not-json' } } as const;
const sight = { stamp: 'a', bytes: 2 };
const present = (judgement: typeof answer | typeof broken): EffectOutcome => ({
  ...{ kind: 'result', sight },
  found: { kind: 'present', judgement, stamp: 'a', writtenAt: 5, lease },
});
const absent: EffectOutcome = { kind: 'result', found: { kind: 'absent' }, sight: undefined };
const unreadable: EffectOutcome = { kind: 'result', found: { kind: 'unreadable', code: 'EIO' }, sight };
const done = (outcome: EffectOutcome): WaitEvent => ({ kind: 'done', outcome });
const withdrawn = (isWithdrawn: boolean) => done({ kind: 'withdrawn', isWithdrawn });
const listing = (names: string[] | null, registered = true): WaitEvent => ({
  ...{ kind: 'listing', registered },
  names: names && new Set(names),
});
const request = requestFileName(mockId);
const mark = openFileName(mockId);
const result = resultFileName(mockId);

/** An event, and the ms that pass before it. */
type Given = WaitEvent | [afterMs: number, event: WaitEvent];

/** Runs events through the machine: where they lead to, and what the last one does. */
function run(events: readonly Given[], how: Facts = facts) {
  let at = 0;
  let state: State = atFirst;
  let effects: ReturnType<typeof next>['effects'] = [];
  for (const given of events) {
    const [afterMs, event] = Array.isArray(given) ? given : [0, given];
    at += afterMs;
    ({ state, effects } = next(state, event, { now: at, monotonic: at }, how));
  }
  return {
    state,
    does: effects.map((effect) =>
      'event' in effect && typeof effect.event === 'string' ? `${effect.kind}: ${effect.event}` : effect.kind,
    ),
  };
}

const endingOf = (events: readonly Given[], how?: Facts) => {
  const { state } = run(events, how);
  if (state.kind !== 'over') return state.kind;
  return state.ending.kind === 'unanswered'
    ? [state.ending.noAnswer.code, state.ending.noAnswer.mayHaveRun]
    : state.ending.kind;
};

const pickedUp: WaitEvent[] = [{ kind: 'mark' }, done({ kind: 'mark', mark: 'written' }), listing([mark])];
const vanished: Given[] = [listing(null), [600, listing(null)], done({ kind: 'mark', mark: 'written' })];
const leaves: Given[] = [listing([request], false), [600, listing([request], false)]];

describe('the machine of a wait', () => {
  it.each<[string, Given[], string | (string | boolean)[]]>([
    ['an answer is taken', [{ kind: 'result' }, done(present(answer)), done({ kind: 'done' })], 'answered'],
    ['a hand-over ends it without an ending', [{ kind: 'hand-over' }], 'interrupted'],
    [
      'at the deadline the request is taken back',
      [{ kind: 'deadline' }, done(absent), withdrawn(true)],
      ['not-picked-up', false],
    ],
    ['at the deadline the client has it', [{ kind: 'deadline' }, done(absent), withdrawn(false)], ['no-answer', true]],
    [
      'at the deadline it was picked up long ago',
      [...pickedUp, { kind: 'deadline' }, done(absent)],
      ['no-answer', true],
    ],
    [
      'at the deadline it vanished with its directory',
      [...vanished, { kind: 'deadline' }, done(absent), withdrawn(false)],
      ['no-answer', true],
    ],
    [
      'the answer comes with the deadline',
      [{ kind: 'deadline' }, done(present(answer)), done({ kind: 'done' })],
      'answered',
    ],
    ['the directory hangs at the deadline', [{ kind: 'deadline' }, [4000, { kind: 'hangs' }]], ['no-answer', true]],
    [
      'the result cannot be read to the end',
      [{ kind: 'deadline' }, done(unreadable), withdrawn(false)],
      ['no-answer', true],
    ],
    [
      'a wrong result stays as it is',
      [
        { kind: 'result' },
        done(present(broken)),
        [2000, { kind: 'result' }],
        done({ kind: 'result', found: { kind: 'skipped' }, sight }),
        withdrawn(false),
      ],
      ['invalid-result', true],
    ],
    ['cancelled before it was picked up', [{ kind: 'cancel', why: 'asked' }, withdrawn(true)], ['cancelled', false]],
    ['cancelled after it was picked up', [...pickedUp, { kind: 'cancel', why: 'asked' }], ['cancelled', true]],
    [
      'cancelled when the client just had it',
      [{ kind: 'cancel', why: 'asked' }, withdrawn(false)],
      ['cancelled', true],
    ],
    [
      'its caller left when the client had it: the answer belongs in the history',
      [...pickedUp, { kind: 'cancel', why: 'caller-left' }],
      'picked-up',
    ],
    [
      'the client left before it picked up',
      [...leaves, done(absent), done({ kind: 'client', is: 'gone' }), withdrawn(true)],
      ['client-left', false],
    ],
    [
      'the client left after it picked up',
      [
        ...pickedUp,
        listing([mark], false),
        [600, listing([mark], false)],
        done(absent),
        done({ kind: 'client', is: 'gone' }),
      ],
      ['client-left', true],
    ],
    [
      'the client left, and nobody saw whether it picked up',
      [...leaves, done(absent), done({ kind: 'client', is: 'gone' }), withdrawn(false)],
      ['client-left', true],
    ],
    ['the client answered before it left', [...leaves, done(present(answer)), done({ kind: 'done' })], 'answered'],
    ['the client moved to another lane', [...leaves, done(absent), done({ kind: 'client', is: 'here' })], 'dispatched'],
    [
      'the whole shared directory is away',
      [...leaves, done(absent), done({ kind: 'client', is: 'not known' })],
      'dispatched',
    ],
    [
      'an earlier attempt took the request back, for a cancel',
      [{ kind: 'resumed' }, done(absent), done({ kind: 'earlier withdrawal', found: { isRegistered: true } })],
      ['cancelled', false],
    ],
    [
      'an earlier attempt took the request back, because the client left',
      [{ kind: 'resumed' }, done(absent), done({ kind: 'earlier withdrawal', found: { isRegistered: false } })],
      ['client-left', false],
    ],
    [
      'an earlier attempt took the request back, at the deadline',
      [
        [60_000, { kind: 'resumed' }],
        done(absent),
        done({ kind: 'earlier withdrawal', found: { isRegistered: true } }),
      ],
      ['not-picked-up', false],
    ],
    [
      'an earlier attempt left nothing',
      [{ kind: 'resumed' }, done(absent), done({ kind: 'earlier withdrawal', found: null })],
      'dispatched',
    ],
  ])('%s', (_, events, ending) => {
    expect(endingOf(events)).toEqual(ending);
  });

  it.each<[string, Given[], string[], Facts?]>([
    [
      'a result that cannot be read is counted once',
      [{ kind: 'result' }, done(unreadable)],
      ['count unreadable result'],
    ],
    [
      'the second time it is not counted',
      [{ kind: 'result' }, done(unreadable), { kind: 'result' }, done(unreadable)],
      [],
    ],
    ['without its mark nothing tells why a request is gone', [{ kind: 'request' }], []],
    [
      'so it is looked for once the mark is written',
      [{ kind: 'request' }, { kind: 'mark' }, done({ kind: 'mark', mark: 'written' })],
      ['handle'],
    ],
    [
      'the request of a client that is only a directory is looked for at once',
      [{ kind: 'request' }],
      ['find request'],
      directoryOnly,
    ],
    ['a request that is gone beside its mark was picked up', pickedUp, ['tell of pick-up']],
    [
      'where the mark came first that is looked at again',
      [listing([mark])],
      ['find request in'],
      { ...facts, marksFirst: true },
    ],
    ['a directory that is missing for a moment means nothing', [listing(null), [400, listing(null)]], []],
    ['the directory of a client that lives is made again', [listing(null), [600, listing(null)]], ['make directory']],
    [
      'a client that is only a directory has left with it',
      [listing(null), [600, listing(null)]],
      ['read result'],
      directoryOnly,
    ],
    ['a result in a listing is read', [listing([request, result])], ['read result']],
    ['the deadline reads once more, and does not wait for ever', [{ kind: 'deadline' }], ['read result']],
    [
      'a cancel gives up a read, which is done again',
      [{ kind: 'result' }, { kind: 'cancel', why: 'asked' }],
      ['withdraw', 'handle again'],
    ],
    [
      'a client that did not delete its request has it removed with the answer',
      [{ kind: 'result' }, done(present(answer))],
      ['take answer'],
    ],
  ])('%s', (_, events, does, how = facts) => {
    expect(run(events, how).does).toEqual(does);
  });

  it('a client that runs for long, of an SDK that cannot beat meanwhile, has not left when another server took it for dead', () => {
    const ice: Facts = { ...facts, claim: { ...claim, dialect: 'ice', sdk: 'java' } };
    const goneLong = (how: Facts) =>
      run([...pickedUp, [20_000, listing([mark], false)], [600, listing([mark], false)]], how).does;
    expect(goneLong(facts)).toEqual(['read result']);
    expect(goneLong(ice)).toEqual([]);
  });

  it.each<[string, Given[], string[]]>([
    ['an answer that is taken', [{ kind: 'deadline' }, done(present(answer))], ['release']],
    ['a wrong result, whose memory was given back before', [{ kind: 'deadline' }, done(present(broken))], []],
    ['a last look that has found nothing yet', [{ kind: 'deadline' }], []],
  ])('the directory hangs after the deadline with %s: the memory of an answer is given back', (_, events, does) => {
    const { state, does: done } = run([...events, [4000, { kind: 'hangs' }]]);
    expect([state.kind, done]).toEqual(['over', does]);
  });

  it('stays over: nothing that comes after the end does anything', () => {
    const events: WaitEvent[] = [
      { kind: 'hand-over' },
      { kind: 'result' },
      { kind: 'deadline' },
      withdrawn(true),
      { kind: 'hangs' },
    ];
    for (let count = 2; count <= events.length; count++)
      expect(run(events.slice(0, count))).toEqual({ ...run(events.slice(0, 1)) });
  });

  it('changes no state that it was given', () => {
    const freeze = <T>(value: T): T => {
      if (typeof value === 'object' && value !== null && !(value instanceof Set))
        Object.values(Object.freeze(value)).forEach(freeze);
      return value;
    };
    let state: State = freeze(atFirst);
    for (const event of [...pickedUp, { kind: 'result' } as const, done(present(broken))])
      state = freeze(next(state, event, { now: 0, monotonic: 0 }, facts).state);
    expect(state.kind).toBe('picked-up');
  });
});
