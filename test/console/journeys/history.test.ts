import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { answersWithoutPickingUp, type Behaviour, createResponder } from '../../support/responder.ts';
import { describeInBrowser, useJourney } from '../support/journey.ts';
import {
  aim,
  expectAccessible,
  headline,
  holds,
  leftHistory,
  picture,
  pressRun,
  SLIP_MS,
  says,
  toHistory,
  toRule,
  unfold,
} from '../support/on-the-page.ts';

describeInBrowser('earlier runs in the console', () => {
  const journey = useJourney({ settings: { RESULT_TIMEOUT_MS: 540_000 } });

  const chips = (page: Page) => page.locator('.history tbody .chip').allTextContents();

  test('two runs side by side; then back to one, with its input, and mine can be taken back', async () => {
    const page = await journey.visit('/?app=9001&rule=1');
    await page.getByLabel('cost', { exact: true }).fill('100');
    await pressRun(page);
    await says(page.locator('.verdict'), /TRUE/);
    await page.getByLabel('cost', { exact: true }).fill('99');
    await pressRun(page);
    await says(page.locator('.verdict'), /FALSE/);
    await toHistory(page);
    await expect.poll(() => chips(page), { timeout: 60_000 }).toEqual(['FALSE', 'TRUE']);

    // A rule is TRUE by all of its nodes; what is FALSE names the one that decided.
    const reasons = page.locator('.history tbody .reason-of');
    await expect.poll(() => reasons.allInnerTexts()).toEqual(['by spent 100 or more #2', '']);
    // Whichever is ticked first, A is the older one.
    const boxes = await page.getByRole('checkbox', { name: /^Select the run of/ }).all();
    for (const box of boxes.reverse()) await box.check();
    await page.getByRole('button', { name: 'Compare', exact: true }).click();
    await says(page.locator('.compare-head [role=status]'), /differs: its result is FALSE, not TRUE\.$/);
    await says(page.locator('.compare-table .first'), /“spent 100 or more” #2\s+TRUE .*\s+FALSE/);
    await says(page.locator('.compare-table .follows').first(), /“campaign” #1\s+TRUE\s+FALSE/);
    await says(page.getByRole('row', { name: /^cost / }), /cost\s+100\s+99/);
    expect(await page.locator('.input-form').isVisible()).toBe(false);
    await expectAccessible(page);
    await picture(page, 'console-history');

    await page.getByRole('link', { name: 'Rule', exact: true }).click();
    await page.getByLabel('cost', { exact: true }).fill('50');
    await toHistory(page);
    await page
      .getByRole('link', { name: /^Show the run of/ })
      .last()
      .click();
    await says(page.locator('.verdict'), /TRUE/);
    await holds(page.getByLabel('cost', { exact: true }), '100');
    await page.getByText('The form now has the input of the run you opened.').waitFor();
    await page.getByRole('button', { name: 'Restore what I typed' }).click();
    await holds(page.getByLabel('cost', { exact: true }), '50');
    await expectAccessible(page);

    await toHistory(page);
    await page.getByRole('button', { name: 'Run the rule again for real with this input' }).last().click();
    await leftHistory(page);
    await says(page.locator('.verdict'), /TRUE/);
    await toHistory(page);
    await expect.poll(() => chips(page), { timeout: 60_000 }).toEqual(['TRUE', 'FALSE', 'TRUE']);
    await toRule(page);
    await holds(page.getByLabel('cost', { exact: true }), '100');
  });

  test('a run of a comparison is shown without being asked for again', async () => {
    const page = await journey.visit('/?app=9001&rule=2');
    for (const _ of [1, 2]) {
      await pressRun(page);
      await says(headline(page), /^Done on/);
    }
    await toHistory(page);
    const boxes = page.getByRole('checkbox', { name: /^Select the run of/ });
    for (const at of [0, 1]) await boxes.nth(at).check();
    await page.getByRole('button', { name: 'Compare', exact: true }).click();
    await page.reload();
    await says(page.locator('.compare-head [role=status]'), /agree/);
    const asked: string[] = [];
    page.on('request', (request) => {
      if (/\/executions\/[0-9a-f-]{36}(\/events)?$/.test(request.url())) asked.push(request.url());
    });
    await page.locator('.compare-table thead').getByRole('link').first().click();
    await says(headline(page), /^Done on/);
    expect(asked).toEqual([]);
  });

  test('a run of the list that is pressed twice runs again once, however long the page reads it each time', async () => {
    const page = await journey.visit('/?app=9001&rule=2');
    await pressRun(page);
    await says(headline(page), /^Done on/);
    const calls: string[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/execute')) calls.push(request.url());
    });
    const ran = new URL(page.url()).searchParams.get('run') ?? '';
    await toHistory(page);
    let reads = 0;
    await page.route(`**/executions/${ran}`, async (route) => {
      await new Promise((resolve) => setTimeout(resolve, SLIP_MS * 1.5 * reads++));
      await route.continue();
    });
    await page.getByRole('button', { name: 'Run the rule again for real with this input' }).first().dblclick();
    await leftHistory(page);
    await says(headline(page), /^Done on/);
    expect([reads, calls.length]).toEqual([1, 1]);
  });

  test('a link has everything: somebody else sees the same run and the same input', async () => {
    const page = await journey.visit('/?app=9001&rule=1', { permissions: ['clipboard-read', 'clipboard-write'] });
    await page.getByLabel('cost', { exact: true }).fill('1e2');
    await aim(page, 'Lane');
    await pressRun(page);
    await says(page.locator('.verdict'), /TRUE/);
    await page.getByRole('button', { name: 'Copy link' }).first().click();
    await page.getByText(/^Link copied/).waitFor();
    const link = await page.evaluate(() => navigator.clipboard.readText());

    const other = await journey.visit(link.slice(journey.service.url.length));
    await says(headline(other), (await headline(page).innerText()).trim());
    await holds(other.getByLabel('cost', { exact: true }), '1e2');
    await unfold(other);
    await holds(other.getByRole('combobox', { name: 'Lane' }), 'beta');

    await expectAccessible(other);
  });

  test('without a clipboard, as on plain HTTP, copying still works', async () => {
    const page = await journey.visit('/?app=9001&rule=1');
    await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }));
    await page.getByRole('button', { name: 'Copy link' }).first().click();
    await page.getByText(/^Link copied/).waitFor();
  });

  test('a reload in the middle of a run picks it up again, and two pages agree', async () => {
    const seen = Promise.withResolvers<void>();
    const does: Behaviour = async (request, responder) => {
      await request.pickUp();
      await seen.promise;
      await answersWithoutPickingUp(request, responder);
    };
    const { sharedDir } = journey.service;
    await using _ = await createResponder({ sharedDir, app: 9001, lane: 'held', address: 'held-1', does });
    const page = await journey.visit('/?app=9001&rule=1&target=lane:held');
    await holds(page.getByLabel('cost', { exact: true }), '100');
    await pressRun(page);
    await says(headline(page), /has picked up the request and is running the rule\.$/);
    const address = page.url().slice(journey.service.url.length);
    await page.reload();
    await says(headline(page), /has picked up the request and is running the rule\.$/);
    const other = await journey.another(page, address);
    await says(headline(other), /has picked up the request and is running the rule\.$/);
    seen.resolve();
    await says(headline(page), /^Done on/);
    await says(headline(other), (await headline(page).innerText()).trim());
  });

  test('a connection that breaks is said to, and so is its return', async () => {
    const page = await journey.visit('/?app=9001&rule=3');
    await page.getByLabel('uid', { exact: true }).waitFor();
    await page.route('**/events', (route) => route.abort());
    await pressRun(page);
    await page.getByText('Live updates are interrupted. The page asks the service every second instead.').waitFor();
    await page.unroute('**/events');
    await page.getByText('Connection resumed.').waitFor();
    await says(headline(page), /^Done on/);
    await page.route('**/rule-server/**', (route) => route.abort());
    await says(page.locator('.now'), 'The service does not answer');
  });

  test('the time of a window’s edge: the same input as of then', async () => {
    const page = await journey.visit('/?app=9001&rule=1');
    const bonus = page.getByRole('row', { name: /spring bonus/ });
    const result = () => bonus.locator('.chip').innerText();
    await bonus.click();
    await page.getByRole('button', { name: 'Set “As of” to its start' }).click();
    await pressRun(page);
    await says(page.locator('.verdict'), /TRUE/);
    await expect.poll(result).toBe('TRUE');
    expect(new URL(page.url()).searchParams.get('ts')).toBe(String(Date.UTC(2026, 2, 1)));
    await page.getByRole('button', { name: 'Set “As of” to 1 ms before its start' }).click();
    await pressRun(page);
    await expect.poll(result).toBe('NONE');
    await expectAccessible(page);
  });

  test('only one node of a rule', async () => {
    const page = await journey.visit('/?app=9001&rule=1');
    await page.getByRole('row', { name: /a point for every 10/ }).click();
    await page.getByRole('button', { name: 'Choose only this node' }).click();
    await page.getByText('Only node 7').waitFor();
    await expect.poll(() => page.locator('.tree-row').count()).toBe(2);
    await pressRun(page);
    await says(page.locator('.verdict'), /TRUE/);
    await page.getByRole('button', { name: 'Choose the whole rule' }).click();
    await expect.poll(() => page.locator('.tree-row').count()).toBe(9);
  });
});
