import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { BATCH_VERSION, type ItemHead, itemHeadSchema } from '../../../src/shared/cases/batch.ts';
import type { Case } from '../../../src/shared/cases/case.ts';
import { batchLimitsOf } from '../../../src/shared/runtime/settings/settings.ts';
import type { Service } from '../../support/start-service.ts';
import { describeInBrowser, useJourney } from '../support/journey.ts';
import { expectAccessible, says } from '../support/on-the-page.ts';

const ROWS = 10_000;
/** Four times slower than this machine, which may be busy besides. */
const SLOWER = 4;
const LONGEST_TASK_MS = 1500;
const FIRST_PICTURE_MS = 20_000;

describeInBrowser('ten thousand results in the console', () => {
  const journey = useJourney();

  test('are read, sorted, found and scrolled through without holding up the page, on a slow machine', async () => {
    const batchId = await keepBatch(journey.service);
    const page = await journey.visit('/?app=9001&rule=1');
    await page.getByLabel('cost', { exact: true }).waitFor();
    const devtools = await page.context().newCDPSession(page);
    await devtools.send('Emulation.setCPUThrottlingRate', { rate: SLOWER });
    const began = Date.now();
    await page.goto(`${journey.service.url}/?app=9001&rule=1&panel=tests&of=inputs&batch=${batchId}`);
    await observeTasks(page);
    await says(page.locator('.results-tools [role=status]'), /^10,?000 cases$/);
    expect(Date.now() - began).toBeLessThan(FIRST_PICTURE_MS);

    const grid = page.getByRole('grid');
    const cells = page.locator('.results .case-name');
    await says(cells.first(), 'user 7');
    for (const row of [9000, 2500, 6000, 20]) {
      await grid.evaluate((box, top) => box.scrollTo(0, top), row * 30);
      await expect.poll(() => grid.evaluate(firstRowSeen), { timeout: 60_000 }).toBeGreaterThanOrEqual(row - 1);
      expect(await cells.count()).toBeLessThan(100);
    }
    await page.getByRole('combobox', { name: 'Order' }).selectOption('Slowest first');
    await grid.focus();
    await page.keyboard.press('Home');
    await says(cells.first(), `user ${ROWS}`);
    await page.keyboard.press('End');
    await page.getByText('user 1', { exact: true }).waitFor();
    await page
      .getByRole('searchbox', { name: 'Name, value of the input, client, error or result' })
      .pressSequentially('user 4321');
    await says(page.locator('.results-tools [role=status]'), /^1 of 10,?000 cases$/);
    await says(cells.first(), 'user 4321');

    const tasks = await page.evaluate(() => performance.getEntriesByName('long-task').map(({ duration }) => duration));
    console.info(`long tasks with a CPU ${SLOWER} times slower: ${tasks.map(Math.round).join(', ')} ms`);
    expect(Math.max(0, ...tasks)).toBeLessThan(LONGEST_TASK_MS);
    await devtools.send('Emulation.setCPUThrottlingRate', { rate: 1 });
    await expectAccessible(page);
  });
});

/** The number of the row below the head of the table. */
function firstRowSeen(box: Element): number {
  const { top } = box.getBoundingClientRect();
  const rows = [...box.querySelectorAll('[role=row]')].slice(1);
  const seen = rows.find((row) => row.getBoundingClientRect().bottom > top + 26);
  return Number(seen?.getAttribute('aria-rowindex')) - 2;
}

/** Notes every task of more than 50 ms that the page does from now on. */
async function observeTasks(page: Page): Promise<void> {
  await page.evaluate(() => {
    const note = (list: PerformanceObserverEntryList) => {
      for (const { startTime, duration } of list.getEntries())
        performance.measure('long-task', { start: startTime, duration });
    };
    new PerformanceObserver(note).observe({ type: 'longtask', buffered: true });
  });
}

/** A batch that is over, as the service keeps one: only its runs were left out. */
async function keepBatch({ backends, settings }: Service): Promise<string> {
  const [backend] = backends;
  if (!backend) throw new Error('the service has no queue');
  const store = backend.openBatches(batchLimitsOf(settings));
  const batchId = randomUUID();
  const plain = { input: '{"cost":100}', ts: null, tags: [], skip: false, line: null, expect: null };
  const cases: Case[] = Array.from({ length: ROWS }, (_, index) => ({ name: `user ${index + 1}`, ...plain }));
  const batch = {
    ...{ v: BATCH_VERSION, batchId, app: 9001, ruleId: '1', confId: null, targets: ['all'], cases: ROWS },
    ...{ concurrency: 4, stopAfterFailures: null, keyName: null, createdAt: Date.now() },
    ...{ file: null, etag: null, from: null, dryRun: false, ignore: [] },
  };
  expect(await store.create(batch, cases)).toBe('created');
  for (let n = 1; n <= ROWS; n++) await store.settle(batchId, { n, targetIndex: 0, head: headOf(n), detail: null });
  expect(await store.change(batchId, ['running', 'cancelling'], 'finished')).toBe(true);
  return batchId;
}

function headOf(n: number): ItemHead {
  const failed = n % 100 === 7;
  const head = { verdict: failed ? 'error' : 'passed', outcome: failed ? 'ERROR' : 'TRUE', tookMs: n, address: 'vm_1' };
  return itemHeadSchema.parse({ ...head, error: failed ? `the card service refused ${n}` : null });
}
