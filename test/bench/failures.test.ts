import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { countFailures } from '../../bench/failures.ts';

it('calls that failed for one reason are counted together, whatever their ids and times are', () => {
  const failures = countFailures();
  for (let call = 0; call < 3; call++)
    failures.add(
      `503 {"mockId":"${randomUUID()}","executeAt":${Date.now() + call},"error":"1 executions are waiting"}`,
    );
  failures.add('a connection that broke', 2);
  failures.add('no answer within 60 s', 0);
  const refused = '3 × 503 {"mockId":"…","executeAt":…,"error":"1 executions are waiting"}';
  expect(failures.soFar()).toEqual({ failed: 5, why: `${refused}; 2 × a connection that broke` });
});

it('the commonest reasons are named, and how many others there are', () => {
  const failures = countFailures();
  for (const [at, why] of ['a', 'b', 'c', 'd', 'e'].entries()) failures.add(why, at + 1);
  expect(failures.soFar()).toEqual({ failed: 15, why: '5 × e; 4 × d; 3 × c; 2 other reasons' });
});
