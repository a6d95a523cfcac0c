import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { describeInBrowser, useJourney } from '../support/journey.ts';
import { expectAccessible, headline, holds, pressRun, SLIP_MS, says } from '../support/on-the-page.ts';

const MOD = process.platform === 'darwin' ? 'Meta' : 'Control';

describeInBrowser('the console without a mouse', () => {
  const journey = useJourney();

  const focused = (page: Page) =>
    page.evaluate(
      () => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent ?? '',
    );

  test('choose a rule, type, run, walk through the tree, read a node', async () => {
    const page = await journey.visit('/?app=9001');
    await page.getByLabel('cost', { exact: true }).waitFor();
    while ((await focused(page)) !== 'Rule') await page.keyboard.press('Tab');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.type('payment that may');
    await page.keyboard.press('Enter');
    await holds(page.getByRole('combobox', { name: 'Rule' }), '#5  A payment that may fail');
    while (!(await focused(page)).startsWith('Run')) await page.keyboard.press('Tab');
    await page.locator('.run-bar .primary[aria-disabled=false]').waitFor();
    await page.keyboard.press('Enter');
    await says(headline(page), /^Done on/);
    expect(await focused(page)).toMatch(/^Run/); // and stays where it was

    await page.keyboard.press('j');
    await page.keyboard.press('j');
    const active = page.locator('.tree-row.active');
    await says(active.locator('.node-name'), 'charge, a failure is no');
    await page.keyboard.press('k');
    await says(active.locator('.node-name'), 'pay or give');

    while ((await focused(page)) !== 'Rule tree') await page.keyboard.press('Tab');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: /^charge, a failure is no #51/ }).waitFor();
    await page
      .getByText(/failed \(the card service refused .*\)\. It is set to count as FALSE when it fails\./)
      .first()
      .waitFor();
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    expect(await page.locator('.tree-row').count()).toBe(1);
    await page.keyboard.press('ArrowRight');
    expect(await page.locator('.tree-row').count()).toBeGreaterThan(1);
    await expectAccessible(page);
  });

  test('a run that is asked for twice at once is one run, by keys and by clicks', async () => {
    const page = await journey.visit('/?app=9001&rule=1');
    let calls = 0;
    page.on('request', (request) => {
      if (request.url().endsWith('/execute')) calls++;
    });
    const cost = page.getByLabel('cost', { exact: true });
    await cost.fill('120');
    await page.locator('.run-bar .primary[aria-disabled=false]').waitFor();
    await page.evaluate(() => {
      const now = performance.now();
      performance.now = () => now; // all presses are at once, however long the browser takes from one to the next
    });
    for (let press = 0; press < 3; press++) await page.keyboard.press(`${MOD}+Enter`);
    await says(headline(page), /^Done on/);
    await cost.fill('121');
    await page.locator('.run-bar .primary').dblclick();
    await page.locator('.run-bar .primary').click();
    await says(headline(page), /^Done on/);
    await cost.fill('122'); // another input is another run, however soon
    await page.keyboard.press(`${MOD}+Enter`);
    await expect.poll(() => calls).toBe(3);
    await says(headline(page), /^Done on/);
    expect((await journey.service.call('/rule-server/mock/executions?app=9001&ruleId=1')).json.items).toHaveLength(3);
  });

  test('a first run has none before it to be compared with, a second one has; nothing is asked for that is not there', async () => {
    // a rule that no test before this one runs
    const page = await journey.visit('/?app=9001&rule=2');
    const missing: string[] = [];
    page.on('response', (response) => {
      if (response.status() === 404) missing.push(response.url());
    });
    const link = page.getByRole('link', { name: 'Compare with the run before' });
    const asked = page.waitForResponse((response) => /\/executions\?.*[?&]to=/.test(response.url()));
    await pressRun(page);
    await asked;
    await page.locator('.verdict').waitFor();
    expect(await link.count()).toBe(0);
    await pressRun(page);
    await link.waitFor();
    expect(missing).toEqual([]);
  });

  test('Enter that is held down on Run runs once, however slowly the keyboard repeats', async () => {
    const page = await journey.visit('/?app=9001&rule=2');
    let calls = 0;
    page.on('request', (request) => {
      if (request.url().endsWith('/execute')) calls++;
    });
    await page.locator('.run-bar .primary[aria-disabled=false]').focus();
    await page.keyboard.down('Enter');
    await says(headline(page), /^Done on/);
    await page.waitForTimeout(SLIP_MS);
    await page.keyboard.down('Enter');
    await page.keyboard.up('Enter');
    await page.getByLabel('Dry run').check();
    await page.keyboard.press(`${MOD}+Enter`); // what the page does with the keys before is seen once this one has done something
    await says(page.locator('.dry-run-notice'), /^This was a dry run\./);
    expect(calls).toBe(2);
  });

  test('shortcuts run, search, filter and explain themselves, and leave those alone who type', async () => {
    const page = await journey.visit('/?app=9001&rule=1');
    const cost = page.getByLabel('cost', { exact: true });
    await cost.fill('99');
    await page.keyboard.press(`${MOD}+Enter`);
    await says(page.locator('.verdict'), /FALSE/);
    await page.getByLabel('city', { exact: true }).fill('');
    await page.keyboard.type('jerk e/?');
    await holds(page.getByLabel('city', { exact: true }), 'jerk e/?');

    await page.locator('.why').click();
    await page.keyboard.press('/');
    await page.keyboard.type('gold');
    await expect.poll(() => page.locator('.tree-row.found').count()).toBe(1);
    await page.keyboard.press('Escape');
    await holds(page.getByRole('searchbox', { name: 'Search nodes' }), '');
    await page.keyboard.press('e');
    await expect.poll(() => page.locator('.tree-row').count()).toBe(2);
    await page.keyboard.press('?');
    await page.getByRole('heading', { name: 'Keyboard shortcuts' }).waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await page.getByRole('heading', { name: 'Keyboard shortcuts' }).waitFor({ state: 'detached' });
  });

  test('the places have keys and titles; rows go by arrow keys; the outcome is read out with its reason', async () => {
    const page = await journey.visit('/?app=9001&rule=1');
    const cost = page.getByLabel('cost', { exact: true });
    for (const value of ['120', '99']) {
      await cost.fill(value);
      await pressRun(page);
      await says(page.locator('.verdict'), value === '99' ? /FALSE/ : /TRUE/);
    }
    await says(page.locator('.spoken'), /^FALSE\. “spent 100 or more” #2 is FALSE: cost is 99, min is 100/);
    await expect.poll(() => page.title()).toBe('FALSE · #1 Recharge campaign · Rule server');
    await page.locator('h1').click();
    const go = async (key: string, title: string) => {
      await page.keyboard.press('g');
      await page.keyboard.press(key);
      await expect.poll(() => page.title()).toBe(title);
    };
    await go('t', 'Tests · #1 Recharge campaign · Rule server');
    await go('s', 'Can it ship? · App 9001 · Rule server');
    await go('h', 'History · #1 Recharge campaign · Rule server');
    await page.locator('.history tbody tr').nth(1).waitFor();
    for (let tabs = 0; !(await focused(page)).startsWith('Show the run of'); tabs++) {
      expect(tabs).toBeLessThan(10);
      await page.keyboard.press('Tab');
    }
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await says(page.locator('.verdict'), /TRUE/);
    await holds(cost, '120');
  });

  test('the first value is reached within three tabs, its type and whether it is sent after it', async () => {
    const page = await journey.visit('/?app=9001&rule=1');
    await holds(page.getByLabel('cost', { exact: true }), '100');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await expect
      .poll(() => page.evaluate(() => document.activeElement?.matches('.input-form .row:first-child .value')))
      .toBe(true);
    const first = (await page.locator('.input-form .row').first().locator('label').innerText()).trim();
    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe(`Type of ${first}`);
    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe(`Do not send ${first}`);
  });

  test('Escape leaves the JSON editor for its tab and stops no run; a second one stops it', async () => {
    const page = await journey.visit('/?app=9001&rule=3#input=%7B%22uid%22:42%7D');
    await page.getByRole('tab', { name: 'JSON' }).click();
    const editor = page.getByRole('textbox', { name: 'Input as JSON' });
    await pressRun(page);
    await says(headline(page), /is running the rule\.$/);
    await editor.focus();
    await page.keyboard.press('Escape');
    expect(await focused(page)).toBe('JSON');
    await says(headline(page), /is running the rule\.$/);
    await page.keyboard.press('Escape');
    await says(headline(page), /was cancelled after/);
  });

  test.each([1440, 390])('at %i px, / goes to the search of the tree and is not typed into it', async (width) => {
    const page = await journey.visit('/?app=9001&rule=1', { viewport: { width, height: 844 } });
    await page.getByLabel('cost', { exact: true }).waitFor();
    await page.locator('h1').click();
    await page.keyboard.press('/');
    await page.keyboard.type('gold/');
    await holds(page.getByRole('searchbox', { name: 'Search nodes' }), 'gold/');
  });
});
