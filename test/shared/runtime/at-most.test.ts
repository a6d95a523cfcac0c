import { stat } from 'node:fs/promises';
import { setImmediate as turnOfLoop } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { resultWithin } from '../../../src/shared/runtime/async.ts';

describe('work that is waited for so long at most', () => {
  const late = () => 'late';

  it('is late when it has not ended', async () => {
    expect(await resultWithin(20, { of: new Promise(() => {}), late })).toBe('late');
  });

  it('is not late when it ended while the event loop stood still', async () => {
    await turnOfLoop(); // what comes next is timers
    const result = resultWithin(20, { of: stat('.').then(() => 'done'), late });
    for (const until = performance.now() + 300; performance.now() < until; );
    expect(await result).toBe('done');
  });
});
