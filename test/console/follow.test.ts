import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Followed, follow } from '../../src/console/api/follow.ts';

/** A stream that the test opens and breaks. */
class Stream extends EventTarget {
  static readonly OPEN = 1;
  static readonly CLOSED = 2;
  readyState = 0;
  open() {
    this.readyState = Stream.OPEN;
    this.dispatchEvent(new Event('open'));
  }
  break() {
    this.readyState = 0;
    this.dispatchEvent(new Event('error'));
  }
  close() {
    this.readyState = Stream.CLOSED;
  }
}

let stream: Stream;
beforeEach(() => {
  vi.useFakeTimers();
  const Opened = class extends Stream {
    constructor() {
      super();
      stream = this;
    }
  };
  vi.stubGlobal('EventSource', Opened);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test('a question that fails after events came again says nothing, and is not put again', async () => {
  const told: Followed<string>[] = [];
  const questions: PromiseWithResolvers<string>[] = [];
  const ask = () => {
    const question = Promise.withResolvers<string>();
    questions.push(question);
    return question.promise;
  };
  const stop = follow(
    { path: '/events', events: { state: (data) => data }, ask, isOver: (now) => now === 'ended' },
    (followed) => told.push(followed),
  );
  stream.open();
  stream.dispatchEvent(new MessageEvent('state', { data: 'queued' }));
  stream.break();
  await vi.advanceTimersByTimeAsync(0);
  stream.open();
  questions[0]?.reject(new Error('The service does not answer.'));
  await vi.advanceTimersByTimeAsync(10_000);
  expect(questions).toHaveLength(1);
  expect(told.at(-1)).toEqual({ kind: 'known', now: 'queued', connection: { kind: 'live' } });
  stop();
});
