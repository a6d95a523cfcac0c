import { randomUUID } from 'node:crypto';
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

describeInBrowser('ten thousand results in the console', () => {
  const journey = useJourney();

  test('are read, sorted, found and scrolled through on a slow machine, never more than a hundred of them drawn', async () => {
    const batchId = await keepBatch(journey.service);
    const page = await journey.visit('/?app=9001&rule=1');
    await page.getByLabel('cost', { exact: true }).waitFor();
    const devtools = await page.context().newCDPSession(page);
    await devtools.send('Emulation.setCPUThrottlingRate', { rate: SLOWER });
    const pages: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/items?')) pages.push(new URL(request.url()).searchParams.get('cursor') ?? '');
    });
    await page.route(/items\?cursor=5000&/, (route) => route.abort(), { times: 2 });
    await page.goto(`${journey.service.url}/?app=9001&rule=1&panel=tests&of=inputs&batch=${batchId}`);
    await says(page.locator('.results-tools [role=status]'), /^10,?000 cases$/);
    // A page that cannot be read is asked for again, and those before it are kept.
    expect(pages.filter((cursor) => cursor === '5000')).toHaveLength(3);
    expect(pages.filter((cursor) => cursor === '0')).toHaveLength(1);

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
    await page.getByRole('searchbox', { name: /^Name, value/ }).pressSequentially('user 4321');
    await says(page.locator('.results-tools [role=status]'), /^1 of 10,?000 cases$/);
    await says(cells.first(), 'user 4321');

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
