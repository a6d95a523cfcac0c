import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { describeInBrowser, useJourney } from '../support/journey.ts';
import { expectAccessible, holds, picture, says, toTests } from '../support/on-the-page.ts';

const csv = [
  'name,uid,cost,city',
  'spends enough,9007199254740993,120.10,Berlin',
  'spends too little,2,99.99,Berlin',
].join('\n');

describeInBrowser('many inputs in the console', () => {
  const journey = useJourney();

  const cells = (page: Page) => page.locator('.results :is(.case-name, .result-cell)').allInnerTexts();
  const text = (page: Page) => page.getByLabel('Inputs as CSV or JSON');

  test('a table is pasted, looked at, run on two targets, and each difference is found node by node', async () => {
    const page = await journey.visit('/?app=9001&rule=1');
    await toTests(page, 'Many inputs');
    await text(page).fill(csv);
    await text(page).click(); // a browser asks only whoever has touched the page
    const asked = page.waitForEvent('dialog');
    void page.reload().catch(() => {}); // does not come to an end before the dialog is answered
    const dialog = await asked;
    expect(dialog.type()).toBe('beforeunload');
    await dialog.dismiss();
    await holds(text(page), csv);
    const preview = page.getByRole('region', { name: 'The first inputs' });
    await says(preview.locator('caption'), 'The first 2 of 2 inputs');
    // Which fields the rule reads comes with its schema.
    await expect
      .poll(() => preview.locator('th').allInnerTexts())
      .toEqual([
        expect.stringMatching(/^name\s+name of the case$/),
        expect.stringMatching(/^uid\s+number$/),
        expect.stringMatching(/^cost\s+number$/),
        expect.stringMatching(/^city\s+text$/),
      ]);
    await page.getByRole('checkbox', { name: 'lane beta' }).check();
    await says(
      page.locator('#batch-warning'),
      /^4 real runs on any client \(trunk first\), lane beta; they may run the actions “/,
    );
    await expectAccessible(page);
    await picture(page, 'console-inputs');

    await page.getByRole('button', { name: 'Run all 2 inputs' }).click();
    await says(page.locator('.batch-words strong'), /^4 runs in /);
    await says(page.locator('.answers'), /coupon\.amount 20 → 25[\s\S]*TRUE\s+1\s+25 %/);
    await expect.poll(async () => (await cells(page)).length).toBe(6);
    await page
      .locator('.answers')
      .getByRole('button', { name: /coupon\.amount/ })
      .click();
    await expect.poll(async () => (await cells(page)).length).toBe(3);
    await expectAccessible(page);

    await page.locator('.results :is(.case-name, .result-cell)').nth(2).click();
    await holds(page.getByLabel('uid', { exact: true }), '9007199254740993');
    await says(page.locator('.verdict'), /TRUE/);
    await says(page.locator('.case-head h2'), 'spends enough');
    await page.getByRole('button', { name: 'Compare these runs node by node' }).click();
    await says(page.locator('.compare-head [role=status]'), /differs: .* coupon\.amount is|differs: coupon\.amount is/);
    await expectAccessible(page);
    await picture(page, 'console-lanes');
  });

  test('the runs of one target are what those of the others are compared with, when that is chosen', async () => {
    const page = await journey.visit('/?app=9001&rule=1&panel=tests&of=inputs');
    await text(page).fill(csv);
    await page.getByText('Compare with: what is expected').waitFor();
    await page.getByRole('checkbox', { name: 'lane beta' }).check();
    await page.getByLabel('Compare with').selectOption('all');
    await page.getByRole('button', { name: 'Run all 2 inputs' }).click();
    await page.getByText('Compared with the run on any client (trunk first).').waitFor();
    await says(page.locator('.answers'), /^coupon\.amount 20 → 25, coupon\.days – → 30\s+1\s+25 %.*same\s+1\s+25 %/s);
    const { items } = (await journey.service.call('/rule-server/mock/batches?app=9001')).json;
    expect(items[0]).toMatchObject({ against: 'all', counts: { changed: 1, same: 1, ran: 2 } });
  });

  test('begin with one target, whatever other cases ran on', async () => {
    const page = await journey.visit('/?app=9001&rule=1&target=each&panel=tests&of=inputs');
    const ticked = () => page.locator('.batch-targets label:has(:checked)').allInnerTexts();
    await text(page).fill('cost\n120\n');
    await page.getByRole('checkbox', { name: 'lane beta' }).check();
    expect(await ticked()).toEqual(['Any client (trunk first)', 'lane beta']);
    await page.reload();
    await text(page).fill('cost\n120\n');
    expect(await ticked()).toEqual(['Any client (trunk first)']);
    await page.goto(`${journey.service.url}/?app=9001&rule=1&target=lane:beta&panel=tests&of=inputs`);
    await text(page).fill('cost\n120\n');
    expect(await ticked()).toEqual(['lane beta']);
  });

  test('a progress survives a reload; a link opens the same batch for somebody else', async () => {
    const page = await journey.visit('/?app=9001&rule=3&panel=tests&of=inputs');
    await text(page).fill(`[${Array.from({ length: 12 }, (_, index) => `{"uid": ${index + 1}}`).join(',')}]`);
    await page.getByRole('button', { name: 'Run all 12 inputs' }).click();
    await says(page.locator('.batch-words strong'), /of 12 runs have ended\.$/);
    await page.reload();
    await says(page.locator('.batch-words strong'), /of 12 runs have ended\.$/);
    const other = await journey.visit(page.url().slice(journey.service.url.length));
    await says(other.locator('.batch-words strong'), /of 12 runs have ended\.$/);
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await says(page.locator('.batch-words strong'), /^Stopped after /);
    await says(other.locator('.batch-words strong'), /^Stopped after /);
    await says(other.locator('.answers'), /skipped/);
    await expectAccessible(other);
  });

  test('what cannot be used is told in place, and nothing runs', async () => {
    const page = await journey.visit('/?app=9001&rule=1&panel=tests&of=inputs');
    await text(page).fill('{"cost": 1}');
    await page.getByText('Give a JSON list of inputs: [{"cost": 1}, {"cost": 2}]').waitFor();
    await text(page).fill('cost,cost\n1,2');
    await says(page.locator('.inputs-mistakes'), /gives "cost" twice, first in column 1 \(column 2\)/);
    expect(await page.getByRole('button', { name: /^Run (all|this)/ }).count()).toBe(0);
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'latin.csv', mimeType: 'text/csv', buffer: Buffer.from('city\nM\xfcnchen\n', 'latin1') });
    await says(page.locator('.inputs-read'), /^latin\.csv is not valid UTF-8: byte 2 of line 2 is/);
    await page.getByRole('button', { name: 'Clear', exact: true }).click();
    await page.getByText(/^Each row of a CSV/).waitFor();
    await expectAccessible(page);
  });

  test('rows with mistakes are named before the run, mended in the text, or left out', async () => {
    const page = await journey.visit('/?app=9001&rule=1&panel=tests&of=inputs');
    await text(page).fill('uid,cost,asOf\n1,120.10,\n2,$99,2026-03-15 12:00\n3,"12,5",next friday\n');
    const mistakes = page.locator('.inputs-mistakes');
    await says(mistakes, /^2 rows have mistakes:/);
    await says(mistakes, /cost must be a number as JSON writes it, found "\$99"$/m);
    await says(mistakes, /asOf is not a time such as .+, found "next friday"/);
    await says(page.locator('.inputs-preview caption'), '1 input');
    expect(await page.getByRole('button', { name: 'Run this input' }).count()).toBe(0);
    await expectAccessible(page);
    await picture(page, 'console-mistakes');

    await mistakes.getByRole('button', { name: 'line 3' }).first().click();
    await page.keyboard.type('2,99,2026-03-15 12:00');
    await says(mistakes, /^1 row has a mistake:/);
    await says(page.locator('.inputs-preview th').nth(2), /time it runs as of; .+ where it has no offset/);
    await page.getByRole('checkbox', { name: 'Leave this row out and run the others' }).check();
    await page.getByRole('button', { name: 'Run all 2 inputs' }).click();
    await says(page.locator('.batch-words'), /^2 runs in .*1 input was left out\./s);
    await says(page.locator('.answers'), /TRUE\s+1\s+50 %\s+FALSE\s+1\s+50 %/);
    const isFalse = page.getByRole('button', { name: /^FALSE/ });
    await isFalse.click();
    await expect
      .poll(() => cells(page))
      .toEqual([expect.stringMatching(/^row 2/), expect.stringMatching(/FALSE\s+by spent 100 or more #2/)]);
    await isFalse.click();
    expect(await page.locator('.results [role=columnheader]').allInnerTexts()).toEqual([
      'Case',
      'uid',
      'cost',
      'Any client (trunk first)',
    ]);
    const values = () => page.locator('.input-value').allInnerTexts();
    await expect.poll(values).toEqual(['1', '120.10', '2', '99']);
    await page.getByRole('searchbox', { name: /^Name, value/ }).fill('120.10');
    await expect.poll(() => cells(page)).toEqual([expect.stringMatching(/^row 1/), expect.anything()]);
    await page.getByRole('searchbox', { name: /^Name, value/ }).fill('');
    await page.getByRole('combobox', { name: 'Deciding node' }).selectOption({ label: 'spent 100 or more #2: 1 run' });
    await expect.poll(() => cells(page)).toEqual([expect.stringMatching(/^row 2/), expect.anything()]);
    await expectAccessible(page);
    await page.getByRole('link', { name: 'Many inputs' }).click();
    await text(page).fill('[{"uid": 1},\n{"input": {"uid": 2}, "asOf": "next friday"}]');
    await says(mistakes, /^1 row has a mistake:\s+line 2 \[1\]\.asOf/);
    await page.getByRole('button', { name: 'Run this input' }).waitFor({ state: 'detached' });
  });

  test('a file is chosen, results are downloaded, and all of it goes by keyboard', async () => {
    const page = await journey.visit('/?app=9001&rule=1&panel=tests&of=inputs');
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'users.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) });
    await says(page.locator('.inputs-preview caption'), 'The first 2 of 2 inputs');
    await page.getByRole('button', { name: 'Run all 2 inputs' }).focus();
    await page.keyboard.press('Enter');
    await says(page.locator('.batch-words strong'), /^2 runs in /);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'JUnit' }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/^batch-.*\.xml$/);
    await expect.poll(async () => (await cells(page)).length).toBe(4);
    await page.getByRole('grid', { name: 'Cases and their verdicts' }).focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await says(page.locator('.case-head h2'), 'spends too little');
    await says(page.locator('.verdict'), /FALSE/);
    await holds(page.getByLabel('cost', { exact: true }), '99.99');
  });

  test('a file and a text are dropped on the field, and shown as what they are', async () => {
    const page = await journey.visit('/?app=9001&rule=1&panel=tests&of=inputs');
    const folder = await mkdtemp(join(tmpdir(), 'rule-server-drop-'));
    await writeFile(join(folder, 'dropped.csv'), csv);
    const cdp = await page.context().newCDPSession(page);
    const drop = async (data: { files?: string[]; items: { mimeType: string; data: string }[] }) => {
      const box = await text(page).boundingBox();
      const at = { x: (box?.x ?? 0) + 40, y: (box?.y ?? 0) + 20 };
      for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
        await cdp.send('Input.dispatchDragEvent', { type, ...at, data: { ...data, dragOperationsMask: 1 } });
    };
    await drop({ files: [join(folder, 'dropped.csv')], items: [] });
    await says(page.locator('.inputs-preview caption'), 'The first 2 of 2 inputs');
    await holds(text(page), csv);
    await drop({ items: [{ mimeType: 'text/plain', data: '[{"cost": 120.10}]' }] });
    await holds(text(page), '[{"cost": 120.10}]');
    await page.getByRole('button', { name: 'Run this input' }).click();
    await says(page.locator('.batch-words strong'), /^1 run in /);
  });

  test('more than a hundred real runs are confirmed by their number, which no second click can be', async () => {
    const page = await journey.visit('/?app=9001&rule=1&panel=tests&of=inputs');
    await text(page).fill(`cost\n${Array.from({ length: 101 }, (_, index) => index % 50).join('\n')}`);
    const batches = async () => (await journey.service.call('/rule-server/mock/batches?app=9001')).json.items.length;
    const before = await batches();
    await says(page.locator('#batch-warning'), /^101 real runs on any client/);
    const all = page.getByRole('button', { name: 'Run all 101 inputs' });
    const first = await all.boundingBox();
    await all.dblclick();
    await all.dblclick();
    expect(await all.boundingBox()).toEqual(first);
    const typed = page.getByLabel('Type 101 to run them for real:');
    const sure = page.getByRole('button', { name: 'Run 101 for real' });
    for (const wrong of ['', '100', '1010', 'yes']) {
      await typed.fill(wrong);
      await sure.click({ force: true });
      await typed.press('Enter');
    }
    expect(await batches()).toBe(before);
    await typed.fill('１０１');
    await sure.dblclick();
    await says(page.locator('.batch-words strong'), /^101 runs in /);
    expect(await batches()).toBe(before + 1);
    await page.getByLabel('Nodes reached').check();
    await says(page.locator('.results-tools [role=status]'), /^No case reaches \d of 9 nodes\.$/);
    expect(await page.locator('.coverage-row').nth(1).innerText()).toMatch(/101 of 101$/);
    await page.getByRole('checkbox', { name: 'Only nodes that no case reached' }).check();
    await page.getByText('no case', { exact: true }).first().waitFor();
    await expectAccessible(page);
    await picture(page, 'console-coverage');
    await page.getByRole('button', { name: 'Find an input that reaches “coupon of 20” #4' }).click();
    await says(
      page.locator('.batch-results .notice'),
      /^“coupon of 20” #4 would run with the input of “.+” and cost = 100\b.*\. This is computed, not run\. The form now has this input/,
    );
    await holds(page.getByLabel('cost', { exact: true }), '100');
  });
});
