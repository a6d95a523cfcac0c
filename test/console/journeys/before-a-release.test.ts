import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { describeInBrowser, useJourney } from '../support/journey.ts';
import { expectAccessible, says, toTests } from '../support/on-the-page.ts';

describeInBrowser('before a release', () => {
  const journey = useJourney();

  async function release(version: number, min: number): Promise<void> {
    const folder = join(journey.service.sharedDir, '9001');
    const path = join(folder, 'confs/2.json');
    const node = { ...JSON.parse(await readFile(path, 'utf8')), confField: `{"min":${min}}` };
    await writeFile(path, JSON.stringify(node));
    await writeFile(join(folder, 'version.txt'), String(version));
  }

  test('from earlier runs to a release: which decisions change, what is kept as cases, and whether it can ship', async () => {
    for (const cost of [99, 100, 120])
      await journey.service.execute({
        app: 9001,
        ruleId: 1,
        'the service': { cost, uid: 1, city: 'Berlin', level: 2 },
      });
    const page = await journey.visit('/?app=9001&rule=1');
    await release(2, 110);
    await eventually(async () => {
      const { json } = await journey.service.call('/rule-server/mock/clients?app=9001');
      for (const { loadedVersion } of json.items) expect(loadedVersion).toBe(2);
    });

    await toTests(page, 'Earlier runs');
    await page.getByRole('button', { name: 'Read the runs' }).click();
    await says(page.locator('.replay [role=status]').first(), '3 runs can be repeated.');
    await page.getByLabel('Only runs with').fill('state:failed'); // a state that is asked for is the state that is searched
    await page.getByRole('button', { name: 'Read the runs' }).click();
    await says(page.locator('.replay [role=status]').first(), '0 runs can be repeated.');
    await page.getByLabel('Only runs with').fill('');
    await page.getByRole('button', { name: 'Read the runs' }).click();
    await says(page.locator('.replay [role=status]').first(), '3 runs can be repeated.');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Save 2 cases, one for each way through the tree' }).click();
    await page.getByText('2 cases are saved.').waitFor();
    // The first lane is proposed, and what each run came to is what it is compared with.
    await page.locator('.inputs-start').getByText('Compare with: what each run came to').waitFor();
    await says(page.locator('#batch-dry'), '3 dry runs on lane beta, without effects');
    const newest = async () => (await journey.service.call('/rule-server/mock/batches?app=9001')).json.items;
    // Real runs are asked for by their number, however few they are; a second click on the button is no answer.
    await page.getByRole('button', { name: 'Run all 3 inputs again for real' }).dblclick();
    await page.getByLabel('Type 3 to run them for real:').fill('2');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Run 3 for real' }).click({ force: true });
    await page.getByRole('button', { name: 'Cancel' }).click();
    expect(await newest()).toEqual([]);
    await page.locator('.drawer').getByRole('button', { name: 'Dry run' }).dblclick();
    await says(
      page.locator('.answers'),
      /^TRUE → FALSE at spent 100 or more #2\s+1\s+33 %\s+not checked\s+1\s+33 %\s+same\s+1\s+33 %/,
    );
    await says(page.locator('.result-cell', { hasText: 'not checked' }), /a dry run does not call #4/);
    expect(await newest()).toMatchObject([{ dryRun: true, items: 3 }]);
    await expectAccessible(page);
    await page.getByRole('button', { name: /^TRUE → FALSE/ }).click();
    await page.getByRole('link', { name: 'Compare one, before and now' }).click();
    await says(page.locator('.compare-head [role=status]'), /differs: its result is FALSE, not TRUE/);
    await page.goBack();

    await toTests(page);
    await page.getByRole('checkbox', { name: 'lane beta' }).check();
    await page.getByRole('checkbox', { name: 'Any client' }).uncheck();
    await page.getByRole('button', { name: 'Run all 2 cases for real' }).click(); // a dry run does not count
    await says(page.locator('.answers'), /passed\s+2/);
    await page.getByRole('link', { name: 'Can it ship?', exact: true }).click();
    await page.getByLabel('Release to').selectOption('lane:beta');
    await says(page.getByRole('row', { name: /Recharge campaign #1/ }), /can ship/);
  });
});
