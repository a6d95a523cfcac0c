import { ReplyError } from 'ioredis';
import { expect, it } from 'vitest';
import { isStoreUnavailable } from '../../../src/shared/store/store-error.ts';

it.each([
  ['OOM command not allowed', true],
  ['ERR user_script:1: a mistake of ours', false],
])('whether the store takes nothing at the moment: %s: %s', (message, isAway) => {
  expect(isStoreUnavailable(new ReplyError(message))).toBe(isAway);
});
