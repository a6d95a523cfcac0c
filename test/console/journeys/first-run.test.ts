import { expect, test } from 'vitest';
import { describeInBrowser, useJourney } from '../support/journey.ts';
import { expectAccessible, headline, holds, picture, pressRun, runButton, says } from '../support/on-the-page.ts';
import { paintedTree } from '../support/painted-tree.ts';

const BIG = '9007199254740993';

describeInBrowser('the console, first visit', () => {
  const journey = useJourney();

  test('one press of Run shows which node decided, and why', async () => {
    const page = await journey.visit('/');
    await says(headline(page), 'Not run yet');
    await holds(page.getByRole('combobox', { name: 'Rule' }), '#1  Recharge campaign');
    await holds(page.getByLabel('cost', { exact: true }), '100');
    await page
      .getByText('“Run for real” may run the actions “coupon of 20”, “a point for every 10”, “spring bonus”.')
      .waitFor();
    await expectAccessible(page);

    await pressRun(page);
    await page.locator('.verdict .chip', { hasText: 'TRUE' }).waitFor();
    expect(await headline(page).textContent()).toMatch(/^Done on .+/);
    expect(await page.locator('.why').textContent()).toContain(
      '“campaign” #1 is TRUE because all 4 nodes below it are TRUE',
    );
    expect(await paintedTree(page)).toEqual([
      'AND campaign #1 TRUE',
      '  spent 100 or more #2 TRUE',
      '  not blocked #3 TRUE',
      '  coupon of 20 #4 TRUE',
      '    if coupon city #5 TRUE',
      '  always TRUE points #6 TRUE',
      '    a point for every 10 #7 TRUE',
      '      if gold or better #8 TRUE',
      '    spring bonus #9 NONE · outside its time window',
    ]);
    expect(await page.locator('.change:not(.same)').allTextContents()).toEqual([
      expect.stringMatching(/points.*10.*→.*20.*#7/),
      expect.stringMatching(/coupon.*"amount":20.*#4/),
    ]);
    await expectAccessible(page);
    await picture(page, 'console');
  });

  test('Run waits for the example that the form is filled with', async () => {
    const page = await journey.visit('/favicon.svg');
    const schema = Promise.withResolvers<void>();
    await page.route('**/schema?**', async (route) => {
      await schema.promise;
      await route.continue();
    });
    await page.goto(`${journey.service.url}/?app=9001&rule=1`);
    await page.getByRole('treegrid').waitFor();
    await says(page.locator('#run-hint'), 'Reading which keys the rule reads. You can run it in a moment.');
    expect(await runButton(page).getAttribute('aria-disabled')).toBe('true');
    schema.resolve();
    await holds(page.getByLabel('cost', { exact: true }), '100');
    await pressRun(page);
    await says(page.locator('.verdict'), /TRUE/);
  });

  test('edit and run again: the tree says where it stopped and what was not reached', async () => {
    const page = await journey.visit('/?app=9001&rule=1');
    await page.getByLabel('cost', { exact: true }).fill('99.50');
    await pressRun(page);
    await page.locator('.verdict .chip', { hasText: 'FALSE' }).waitFor();
    await says(
      page.locator('.why'),
      '“spent 100 or more” #2 is FALSE: cost is 99.50, min is 100. “campaign” #1 is FALSE because “spent 100 or more” #2 is FALSE. The nodes after “spent 100 or more” #2 did not run. The result would be TRUE with cost = 100, if “coupon of 20” #4 comes to TRUE. This is computed, not run. Write it into the form',
    );
    expect((await paintedTree(page)).slice(0, 4)).toEqual([
      'AND campaign #1 FALSE',
      '  spent 100 or more #2 FALSE',
      '  (not blocked #3 · not reached: “spent 100 or more” #2 is FALSE)',
      '  (coupon of 20 #4 · not reached: “spent 100 or more” #2 is FALSE)',
    ]);
    await page.getByText('This run changed nothing.').waitFor();
    await picture(page, 'console-false');

    await page.getByRole('button', { name: 'Ran', exact: true }).click();
    expect(await paintedTree(page)).toEqual(['AND campaign #1 FALSE', '  spent 100 or more #2 FALSE']);
    await expectAccessible(page);

    await page.getByRole('button', { name: 'Write it into the form' }).click();
    await holds(page.getByLabel('cost', { exact: true }), '100');
    await pressRun(page);
    await page.locator('.verdict .chip', { hasText: 'TRUE' }).waitFor();
  });

  test('a large integer is exact in the form, the JSON, the call, the output and the changes', async () => {
    const page = await journey.visit('/?app=9001&rule=3', { permissions: ['clipboard-read', 'clipboard-write'] });
    await page.getByLabel('uid', { exact: true }).fill(BIG);
    await page.getByRole('tab', { name: 'JSON' }).click();
    const editor = page.getByRole('textbox', { name: 'Input as JSON' });
    await editor.waitFor();
    await says(editor, new RegExp(BIG));
    await pressRun(page);
    await page.getByText('Done on').waitFor({ timeout: 30_000 });

    await page.getByText(`"uid":${BIG}`).first().waitFor(); // in the changes: the profile that was added
    await page.getByRole('tab', { name: 'Output' }).click();
    expect(await page.locator('.json-view').innerText()).toContain(`"uid": ${BIG},`);
    await page.getByRole('tab', { name: 'Raw' }).click();
    await page.getByRole('button', { name: 'Copy as cURL' }).last().click();
    const copied = () => page.evaluate(() => navigator.clipboard.readText());
    await expect.poll(copied).toMatch(new RegExp(`'\\{"app":9001,"ruleId":3,.*"the service":\\{"uid":${BIG}\\}`));
    expect(new URL(page.url()).hash).toContain(BIG);
    await expectAccessible(page);
  });

  test('JSON over several lines can be replaced as a whole, line by line and to nothing', async () => {
    const page = await journey.visit('/?app=9001&rule=1');
    await holds(page.getByLabel('cost', { exact: true }), '100');
    await page.getByRole('tab', { name: 'JSON' }).click();
    const editor = page.getByRole('textbox', { name: 'Input as JSON' });
    await says(editor, /"cost": 100/);
    const lines = ['{"a": "text",', ' "b": [1, true]}'];
    for (const text of ['1', lines.join('\n'), '1', lines.join('\n'), '{}', lines.join('\n'), '', lines.join('\n')]) {
      await editor.fill(text);
      await expect.poll(() => editor.locator('.cm-line').allTextContents()).toEqual(text.split('\n'));
      if (text) await editor.locator('.cm-line span').first().waitFor();
    }
    await editor.press('Control+a');
    await editor.pressSequentially('{"cost": 8}');
    await page.getByRole('tab', { name: 'Form' }).click();
    await holds(page.getByLabel('cost', { exact: true }), '8');
  });

  test('form and JSON are one document: nothing is lost from one to the other', async () => {
    const page = await journey.visit('/?app=9001&rule=1');
    await page.getByLabel('cost', { exact: true }).waitFor();
    await page.getByRole('tab', { name: 'JSON' }).click();
    const editor = page.getByRole('textbox', { name: 'Input as JSON' });
    await editor.fill('{"cost": 0.10, "extra": {"2": 1, "1": -0}, "uid": 12');
    await page.getByText('Line 1, column 53: it ends too early').waitFor();
    await page.getByText('Correct the JSON first: it is not valid.').waitFor();
    expect(await runButton(page).getAttribute('aria-disabled')).toBe('true');
    await page.getByRole('tab', { name: 'Form' }).click();
    await page.getByText('The JSON is not valid: line 1, column 53').waitFor();

    await page.getByRole('tab', { name: 'JSON' }).click();
    await editor.fill('{"cost": 0.10, "extra": {"2": 1, "1": -0}, "uid": 12}');
    await page.getByRole('tab', { name: 'Form' }).click();
    await holds(page.getByLabel('cost', { exact: true }), '0.10');
    await holds(page.getByLabel('extra', { exact: true }), '{"2": 1, "1": -0}');
    await page.getByText('not used by this rule').waitFor();
    await page.getByLabel('uid', { exact: true }).fill('12a');
    await page.getByText('Correct uid first: it is not a whole number.').waitFor();
    await expectAccessible(page);
    await page.getByLabel('uid', { exact: true }).fill('13');
    await page.getByRole('button', { name: 'Do not send cost' }).click();
    await page.getByRole('tab', { name: 'JSON' }).click();
    await says(editor, '{"extra": {"2": 1, "1": -0}, "uid": 13}');
  });

  test('what was typed is still there when the page went on before the address had it', async () => {
    const page = await journey.visit('/healthz');
    await page.addInitScript((pauseMs) => {
      const real = window.setTimeout;
      const isSlow = () => document.documentElement.hasAttribute('data-slow');
      const slower = (task: () => void, ms?: number) => real(task, isSlow() && ms === pauseMs ? 60_000 : ms);
      Object.assign(window, { setTimeout: slower });
    }, 300);
    await page.goto(`${journey.service.url}/?app=9001&rule=1`);
    await page.waitForURL(/#input=/); // the example
    await page.evaluate(() => document.documentElement.setAttribute('data-slow', ''));
    await page.getByLabel('city', { exact: true }).fill('Lyon');
    await page.getByRole('combobox', { name: 'Rule' }).click();
    await page.getByRole('option', { name: /A slow look-up/ }).click();
    await page.getByLabel('uid', { exact: true }).waitFor();
    await page.goBack();
    await holds(page.getByLabel('city', { exact: true }), 'Lyon');
  });

  test('what was typed for a rule is still there after a reload and after looking at another rule', async () => {
    const page = await journey.visit('/?app=9001&rule=1');
    await page.getByLabel('city', { exact: true }).fill('Lyon');
    await page.getByRole('combobox', { name: 'Rule' }).click();
    await page.getByRole('option', { name: /A slow look-up/ }).click();
    await page.getByLabel('uid', { exact: true }).waitFor();
    await page.goBack();
    await holds(page.getByLabel('city', { exact: true }), 'Lyon');
    await page.reload();
    await holds(page.getByLabel('city', { exact: true }), 'Lyon');
  });
});
