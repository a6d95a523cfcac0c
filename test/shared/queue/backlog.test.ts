import { describe, expect, it } from 'vitest';
import { createBacklog } from '../../../src/shared/queue/backlog.ts';
import type { WorkerReport } from '../../../src/shared/queue/worker-registry.ts';
import { createOwnTimers } from '../../support/own-time.ts';

const CHECK_EVERY_MS = 250;

type Turn = { begins?: number; waiting: number; ms?: number };

describe('how long a new call would wait', () => {
  it('is not known before workers were seen to begin something for two and a half seconds', async () => {
    const { backlog, inIt, turns } = await open();
    expect(inIt(backlog.delayMs)).toBe(0);
    await turns(10, { begins: 50, waiting: 5000 });
    expect(inIt(backlog.delayMs)).toBe(0);
    await turns(1, { begins: 50, waiting: 5000 });
    expect(inIt(backlog.delayMs)).toBe(25_000);
  });

  it('is what is to be begun, by how many are begun in a ms: what waits, and what workers have and have not sent', async () => {
    const { backlog, inIt, turns, tell } = await open();
    await turns(12, { begins: 50, waiting: 1000 });
    expect(inIt(backlog.delayMs)).toBe(5000);
    tell('worker', { busy: 500 });
    await turns(1, { begins: 50, waiting: 1000 });
    expect(inIt(backlog.delayMs)).toBe(7500);
    await turns(1, { begins: 50, waiting: 0 });
    expect(inIt(backlog.delayMs)).toBe(2500);
  });

  it('is nothing while there are fewer than 200 to begin, however slow the workers are', async () => {
    const { backlog, inIt, turns } = await open();
    await turns(13, { begins: 1, waiting: 1000 });
    await turns(1, { begins: 1, waiting: 199 });
    expect(inIt(backlog.delayMs)).toBe(0);
    await turns(1, { begins: 1, waiting: 200 });
    expect(inIt(backlog.delayMs)).toBe(50_000);
  });

  it('grows at once with what this API adds, and shrinks with the time since the look', async () => {
    const { backlog, inIt, turns, pass } = await open();
    await turns(12, { begins: 50, waiting: 1000 });
    inIt(() => {
      for (let call = 0; call < 100; call++) backlog.added();
    });
    expect(inIt(backlog.delayMs)).toBe(5500);
    pass(200);
    expect(inIt(backlog.delayMs)).toBe(5300);
    await turns(1, { begins: 50, waiting: 1100, ms: 50 });
    expect(inIt(backlog.delayMs)).toBe(5500); // the look has counted them
  });

  it('follows workers that become slower within three seconds', async () => {
    const { backlog, inIt, turns } = await open();
    await turns(20, { begins: 100, waiting: 1000 });
    expect(inIt(backlog.delayMs)).toBe(2500);
    await turns(12, { begins: 25, waiting: 1000 });
    expect(inIt(backlog.delayMs)).toBe(10_000);
  });

  it('is measured only while there was enough to do: workers with nothing to begin do not count as slow', async () => {
    const { backlog, inIt, turns } = await open();
    await turns(12, { begins: 2, waiting: 3 });
    await turns(11, { begins: 50, waiting: 1000 });
    expect(inIt(backlog.delayMs)).toBe(5000);
  });

  it('is known at once when the next load comes, and no more after a minute without one', async () => {
    const { backlog, inIt, turns } = await open();
    await turns(12, { begins: 50, waiting: 1000 });
    await turns(1, { begins: 50, waiting: 0 });
    await turns(100, { begins: 0, waiting: 0 }); // 25 s
    await turns(1, { begins: 0, waiting: 1000 });
    expect(inIt(backlog.delayMs)).toBe(5000);
    await turns(1, { begins: 50, waiting: 0 });
    await turns(250, { begins: 0, waiting: 0 }); // 62 s
    await turns(1, { begins: 0, waiting: 1000 });
    expect(inIt(backlog.delayMs)).toBe(0);
  });
});

describe('a worker', () => {
  it('that counts from 0 again has begun nothing meanwhile, and not less than nothing', async () => {
    const { backlog, inIt, turns, tell } = await open();
    tell('other', { begun: 100_000 });
    await turns(12, { begins: 50, waiting: 1000 });
    tell('other', { begun: 3 });
    await turns(1, { begins: 50, waiting: 1000 });
    expect(inIt(backlog.delayMs)).toBe(5000);
  });

  it('that is new counts from its second look on', async () => {
    const { backlog, inIt, turns, tell } = await open();
    await turns(12, { begins: 50, waiting: 1000 });
    tell('new', { begun: 100_000 });
    await turns(1, { begins: 50, waiting: 1000 });
    expect(inIt(backlog.delayMs)).toBe(5000);
    tell('new', { begun: 100_000 + 500 });
    await turns(1, { begins: 50, waiting: 1000 });
    expect(inIt(backlog.delayMs)).toBe(2500);
  });

  it('that leaves takes with it neither what others began nor what it began before', async () => {
    const { backlog, inIt, turns, tell, reports } = await open();
    for (let turn = 0; turn < 14; turn++) {
      tell('leaving', { begun: 5000, busy: turn % 2 === 0 ? 301 : 300 });
      await turns(1, { begins: 50, waiting: 700 });
    }
    expect(inIt(backlog.delayMs)).toBe(5000);
    reports.delete('leaving');
    await turns(1, { begins: 50, waiting: 700 });
    expect(inIt(backlog.delayMs)).toBe(3500);
  });
});

it('workers that begin nothing any more do not open the door', async () => {
  const { backlog, inIt, turns } = await open();
  await turns(12, { begins: 100, waiting: 5000 });
  await turns(20, { begins: 0, waiting: 5000 });
  expect(inIt(backlog.delayMs)).toBeGreaterThan(10_000);
});

describe('a stall', () => {
  it('of the workers for one look changes the wait by little: it is neither endless nor nothing', async () => {
    const { backlog, inIt, turns } = await open();
    await turns(13, { begins: 50, waiting: 1000 });
    await turns(1, { begins: 0, waiting: 1000 });
    const delayMs = inIt(backlog.delayMs);
    expect(delayMs).toBeGreaterThan(5000);
    expect(delayMs).toBeLessThan(6000);
  });

  it('of a look: what is begun meanwhile is taken off, and the late look measures by its own time', async () => {
    const { backlog, inIt, turns, pass } = await open();
    await turns(12, { begins: 50, waiting: 1000 });
    pass(2000);
    expect(inIt(backlog.delayMs)).toBe(3000);
    pass(60_000);
    expect(inIt(backlog.delayMs)).toBe(0);
    await turns(1, { begins: 50 * 249, waiting: 1000, ms: 250 });
    expect(inIt(backlog.delayMs)).toBe(5000);
  });
});

/** One worker, and an API that looks at it. */
async function open() {
  const { run, standStill: pass } = createOwnTimers();
  const backlog = run(() => createBacklog());
  const reports = new Map<string, WorkerReport>();

  function tell(id: string, load: Partial<WorkerReport>): void {
    const before = reports.get(id) ?? { name: id, takesJobs: true, fault: null, busy: 0, begun: 0 };
    reports.set(id, { ...before, ...load });
  }

  async function turns(count: number, { begins = 0, waiting, ms = CHECK_EVERY_MS }: Turn): Promise<void> {
    for (let turn = 0; turn < count; turn++) {
      pass(ms);
      tell('worker', { begun: (reports.get('worker')?.begun ?? 0) + begins });
      run(() => backlog.update(waiting, new Map(reports)));
    }
  }

  tell('worker', {});
  return { backlog, reports, inIt: run, pass, tell, turns };
}
