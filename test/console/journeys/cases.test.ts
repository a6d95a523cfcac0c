import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { describeInBrowser, useJourney } from '../support/journey.ts';
import { expectAccessible, holds, picture, pressRun, says, toTests } from '../support/on-the-page.ts';

describeInBrowser('cases in the console', () => {
  const journey = useJourney();

  const rows = (page: Page) => page.locator('.results [role=row]').allInnerTexts();
  const bar = (page: Page) => page.locator('.batch-words strong');
  const cases = (rule: number) => journey.service.call(`/rule-server/mock/cases?app=9001&ruleId=${rule}`);

  async function runWith(page: Page, cost: string): Promise<void> {
    await page.getByLabel('cost', { exact: true }).fill(cost);
    await pressRun(page);
    // It is off while the run is on its way, and then for the run that is shown.
    await expect
      .poll(() => page.getByRole('button', { name: 'Save as case' }).isEnabled(), { timeout: 60_000 })
      .toBe(true);
  }

  async function saveAs(page: Page, name: string): Promise<void> {
    await page.getByRole('button', { name: 'Save as case' }).click();
    await page.getByLabel('Name', { exact: true }).fill(name);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText(`“${name}” is saved`).waitFor();
  }

  test('a run is kept with what is ticked, run on two lanes, and its difference found beside the tree', async () => {
    const page = await journey.visit('/?app=9001&rule=1');
    await holds(page.getByLabel('cost', { exact: true }), '100'); // the example is there
    await page.getByLabel('uid', { exact: true }).fill('9007199254740993');
    await runWith(page, '120.10');
    await page.getByRole('button', { name: 'Save as case' }).click();
    const form = page.getByRole('form', { name: 'Save this run as a case' });
    await form.getByRole('checkbox', { name: /^Result TRUE$/ }).waitFor();
    await form.getByRole('checkbox', { name: /^coupon = \{"amount":20,/ }).waitFor();
    await expectAccessible(page);
    await picture(page, 'console-save-case');
    await page.getByLabel('Name', { exact: true }).fill('spends 120');
    await page.keyboard.press('Enter');
    await page.getByText('“spends 120” is saved').waitFor();
    const { text } = await cases(1);
    expect(text).toMatch(/"name":"spends 120","input":\{[^}]*"uid":9007199254740993[,}]/);
    expect(text).toContain('"cost":120.10,');

    await runWith(page, '99');
    await saveAs(page, 'spends too little');
    await toTests(page);
    await page.getByRole('checkbox', { name: 'lane beta' }).check();
    await page.getByRole('button', { name: 'Run all 2 cases' }).click();
    await says(bar(page), /^4 runs in /);
    await expect
      .poll(async () => (await rows(page))[1], { timeout: 60_000 })
      .toMatch(/^spends 120\s+120\.10\s+passed\s+TRUE[\s\S]*failed\s+TRUE/);
    const cut = (words: Element[]) => words.filter((each) => each.scrollHeight > each.clientHeight + 1);
    expect(await page.locator('.results .clamped').evaluateAll((words) => words.length)).toBe(4);
    expect(await page.locator('.results .clamped').evaluateAll(cut)).toEqual([]);
    await expectAccessible(page);

    await page.locator('.results :is(.case-name, .result-cell)').nth(2).click();
    await says(page.locator('.case-head h2'), 'spends 120');
    await says(page.locator('.expectation .missed').first(), /data\.coupon\.\w+/);
    await holds(page.getByLabel('cost', { exact: true }), '120.10');
    await expectAccessible(page);
    await picture(page, 'console-cases');
    const target = () => new URL(page.url()).searchParams.get('target');
    await expect.poll(target).toBe('lane:beta');
    await page.locator('.results :is(.case-name, .result-cell)').nth(1).click();
    await expect.poll(target).toBe(null);
    await says(page.locator('.verdict'), /TRUE/);
    expect(await page.locator('.since').count()).toBe(0); // it ran on one of them, as it would again
    await page.goBack();
    await expect.poll(target).toBe('lane:beta');
    const link = page.url().slice(journey.service.url.length);
    const other = await journey.visit(link);
    await says(other.locator('.case-head h2'), 'spends 120');
    await says(other.locator('.expectation .missed').first(), /data\.coupon\.\w+/);
    await holds(other.getByLabel('uid', { exact: true }), '9007199254740993');
  });

  test('the page says which rules can ship to a lane, and why not', async () => {
    const page = await journey.visit('/?app=9001&rule=2');
    await page.getByRole('link', { name: 'Can it ship?', exact: true }).click();
    await page.getByLabel('Release to').selectOption('lane:beta');
    const row = (name: RegExp) => page.getByRole('row', { name });
    await says(
      row(/A slow look-up #3/)
        .getByRole('cell')
        .first(),
      'not tested',
    );
    await says(row(/A slow look-up #3/), /The rule has no saved cases that run\.$/);
    await says(row(/Recharge campaign #1/), /cannot ship\s+\d cases? failed on lane beta\./);
    await says(page.locator('.release [role=status]'), '0 of 5 rules can ship.');
    await expectAccessible(page);
    await picture(page, 'console-release');
    await page.getByRole('link', { name: /Recharge campaign/ }).click();
    await says(page.locator('.answers'), /failed/);
  });

  test('what the last run came to becomes what is expected; the failed are run again; what changed is told', async () => {
    const page = await journey.visit('/?app=9001&rule=5');
    await page.getByLabel('cost', { exact: true }).waitFor();
    await pressRun(page);
    await page.getByRole('button', { name: 'Save as case' }).waitFor();
    await saveAs(page, 'a payment');
    const saved = await cases(5);
    const wrong = saved.text.replace(/"outcome":"\w+"/, '"outcome":"NONE"');
    expect(wrong).not.toBe(saved.text);
    const put = await journey.service.call('/rule-server/mock/cases?app=9001&ruleId=5', {
      method: 'PUT',
      body: wrong,
      headers: { 'if-match': String(saved.headers.etag), 'content-type': 'application/yaml' },
    });
    expect(put.status).toBe(200);
    await toTests(page);
    const all = page.getByRole('button', { name: 'Run the case' });
    await all.click();
    await says(page.locator('.answers'), /(failed|error)\s+1/);
    await page.locator('.results :is(.case-name, .result-cell)').nth(1).click();
    await says(page.locator('.expectation .missed').first(), /outcome\s+NONE/);
    await page.getByRole('button', { name: 'Expect the result of the last run' }).click();
    await page.getByRole('button', { name: 'Change what is expected' }).click();
    await page.getByText('“a payment” is saved').waitFor();
    const first = page.url();
    await page.getByRole('button', { name: 'Run again for real: the one that changed or failed' }).click();
    await page.waitForURL((url) => url.href !== first);
    await says(page.locator('.answers'), /failed\s+1/);
    await all.click();
    await says(page.locator('.since'), /^Since .*: 1 passes again\.$/);
    await page.locator('.results :is(.case-name, .result-cell)').nth(1).click();
    await page.getByRole('button', { name: 'Remove this case' }).click();
    await page.getByRole('button', { name: 'Yes, remove it' }).click();
    await page.getByText('“a payment” is removed').waitFor();
  });

  test('a second case is saved at once after the first', async () => {
    const page = await journey.visit('/?app=9001&rule=5');
    await page.getByLabel('cost', { exact: true }).waitFor();
    await pressRun(page);
    await saveAs(page, 'one');
    await page.route('**/mock/cases?**', async (route) => {
      if (route.request().method() === 'GET') await new Promise((done) => setTimeout(done, 2000));
      await route.continue();
    });
    for (const name of ['two', 'three']) await saveAs(page, name);
    const { text } = await cases(5);
    for (const name of ['one', 'two', 'three']) expect(text).toContain(name);
  });

  test('somebody else saved meanwhile: the page names what differs, loses nothing, and saves on top', async () => {
    const [mine, theirs] = [await journey.visit('/?app=9001&rule=2'), await journey.visit('/?app=9001&rule=2')];
    for (const page of [mine, theirs]) {
      await page.locator('.run-bar .primary[aria-disabled=false]').waitFor();
      await pressRun(page);
      await page.getByRole('button', { name: 'Save as case' }).click();
    }
    await mine.getByLabel('Name', { exact: true }).fill('mine');
    await theirs.getByLabel('Name', { exact: true }).fill('theirs');
    await theirs.getByRole('button', { name: 'Save', exact: true }).click();
    await theirs.getByText('“theirs” is saved').waitFor();
    await mine.getByRole('button', { name: 'Save', exact: true }).click();
    await says(
      mine.locator('.save-case .notice'),
      /^Somebody else saved cases of this rule meanwhile\. They changed “theirs”\./,
    );
    await expectAccessible(mine);
    await mine.getByRole('button', { name: 'Save mine too' }).click();
    await mine.getByText('“mine” is saved').waitFor();
    expect((await cases(2)).text).toMatch(/theirs[\s\S]*mine/);
  });

  test.each([
    ['a laptop, in the dark', { viewport: { width: 1024, height: 768 }, colorScheme: 'dark' }],
    ['a phone', { viewport: { width: 390, height: 844 }, hasTouch: true }],
    ['Chinese', { locale: 'zh-CN' }],
  ] as const)('on %s everything can be reached', async (_, options) => {
    const page = await journey.visit('/?app=9001&rule=1&panel=tests', options);
    await page.locator('.results, .drawer .empty-line').first().waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth)).toBe(false);
    await expectAccessible(page);
    if ('locale' in options) await picture(page, 'console-cases-zh');
    await page.locator('.sources a').nth(1).click();
    await page.locator('#inputs-text').fill('cost\n1\n2');
    await page.locator('.inputs-preview').waitFor();
    await expectAccessible(page);
    await page.locator('.sources a').nth(2).click();
    await page.locator('.replay button[type=submit]').click();
    await page.locator('.replay .start-batch').waitFor();
    await expectAccessible(page);
    await page.locator('.views a').last().click();
    await page.locator('.release-table').waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth)).toBe(false);
    await expectAccessible(page);
    if ('locale' in options) await picture(page, 'console-release-zh');
  });
});
