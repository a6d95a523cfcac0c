import { expect, test } from 'vitest';
import { createResponder, staysSilent } from '../../support/responder.ts';
import { describeInBrowser, useJourney } from '../support/journey.ts';
import { expectAccessible, headline, picture, pressRun, SLIP_MS, says, toHistory } from '../support/on-the-page.ts';

describeInBrowser('a dry run from the page', () => {
  const journey = useJourney();

  test('is chosen for the app, stands on the button, and says what was not called', async () => {
    const page = await journey.visit('/?app=9001&rule=1');
    const bodies: string[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/execute')) bodies.push(request.postData() ?? '');
    });
    await page.getByLabel('cost', { exact: true }).fill('120');
    const choice = page.getByLabel('Dry run');
    await choice.check();
    await says(
      page.locator('#run-hint'),
      'Nodes that are known to have effects are not called; they count as TRUE. A node that does not say whether it has effects is called.',
    );
    await page.getByRole('button', { name: /^Dry run/ }).click();
    await says(headline(page), /^Done on/);
    await says(
      page.locator('.dry-run-notice'),
      /^This was a dry run\. It had no effects\. Not called, and counted as TRUE: #\d+/,
    );
    await says(
      page.locator('.changes .empty-line').first(),
      /^Without what #\d+.* would write: not called in this dry run\.$/,
    );
    expect(bodies[0]).toContain('"dryRun":true');
    await page.getByText('not called', { exact: true }).first().waitFor();

    const run = page.url();
    await page.waitForTimeout(SLIP_MS);
    await page.getByRole('button', { name: /^Dry run/ }).click();
    await expect.poll(() => page.url()).not.toBe(run);
    await says(headline(page), /^Done on/);
    await page.getByRole('link', { name: /^Compare with the run before/ }).click();
    await says(
      page.locator('.compare-head [role=status]'),
      /^Whether B .* came to the same is not known: a dry run does not call #4, #7\.$/,
    );
    await says(page.locator('.compare-table'), /Whether other data would have been written is not known\./);
    await page.goBack();
    bodies.splice(1, 1);

    await page.locator('.tree-row', { hasText: 'not blocked' }).click();
    await page.getByRole('radio', { name: 'FALSE' }).check();
    await page.getByRole('button', { name: /^Dry run/ }).click();
    await page.locator('.verdict .chip', { hasText: 'FALSE' }).waitFor();
    await says(page.locator('.dry-run-notice'), /Stubbed: #3\.$/);
    expect(bodies[1]).toContain('"stub":{"3":"FALSE"}');
    await expectAccessible(page);
    await page.getByRole('button', { name: /#3 FALSE/ }).click();
    await page.getByRole('button', { name: /^Dry run/ }).click();
    await page.locator('.verdict .chip', { hasText: 'TRUE' }).waitFor();
    expect(bodies[2]).not.toContain('stub');
    await picture(page, 'console-dry-run');
    await expectAccessible(page);

    await page.reload();
    expect(await choice.isChecked()).toBe(true);
    await says(page.locator('.dry-run-notice'), /^This was a dry run\./);
    await choice.uncheck();
    await pressRun(page);
    await expect.poll(() => bodies.length).toBe(4);
    expect(bodies[3]).not.toContain('dryRun');
    await expect.poll(() => page.locator('.dry-run-notice').innerText()).toBe('');
  });

  test('holds for many inputs, too', async () => {
    const page = await journey.visit('/?app=9001&rule=1&panel=tests&of=inputs');
    await page.getByLabel('Inputs as CSV or JSON').fill('cost,uid\n120,1\n80,1\n');
    await says(page.locator('#batch-dry'), '2 dry runs on any client (trunk first), without effects');
    await page.locator('.drawer').getByRole('button', { name: 'Dry run' }).click();
    await says(page.locator('.batch-words strong'), /^2 runs in /);
    const { items } = (await journey.service.call('/rule-server/mock/batches?app=9001')).json;
    expect(items[0]).toMatchObject({ dryRun: true, items: 2 });
  });

  test('of many inputs cannot be asked for where no client can, which is said before anything runs', async () => {
    const { sharedDir } = journey.service;
    await using client = await createResponder({ sharedDir, app: 9001, lane: 'published', does: staysSilent });
    const page = await journey.visit('/?app=9001&rule=1&target=lane:published&panel=tests&of=inputs');
    await page.getByLabel('Inputs as CSV or JSON').fill('cost,uid\n120,1\n');
    await says(
      page.locator('#batch-dry'),
      /^Dry runs are not possible on lane published: clients there cannot run without effects/,
    );
    await page.locator('.drawer').getByRole('button', { name: 'Dry run' }).click({ force: true });
    await page.getByRole('checkbox', { name: 'Any client' }).check();
    await page.getByRole('checkbox', { name: 'lane published' }).uncheck();
    await says(page.locator('#batch-dry'), '1 dry run on any client (trunk first), without effects');
    expect(client.found).toEqual([]);
  });

  test('stays one in its tab, whatever another tab is told, and a run from the history is none of real effects', async () => {
    const one = await journey.visit('/?app=9001&rule=1');
    const bodies: string[] = [];
    one.on('request', (request) => {
      if (request.url().endsWith('/execute')) bodies.push(request.postData() ?? '');
    });
    await pressRun(one);
    await says(headline(one), /^Done on/);
    expect(bodies.splice(0)[0]).not.toContain('dryRun');
    await one.getByLabel('Dry run').check();
    const other = await journey.another(one, '/?app=9001&rule=1');
    await other.getByLabel('Dry run').setChecked(false);
    await other.close();
    await one.reload();
    expect(await one.getByLabel('Dry run').isChecked()).toBe(true);
    await toHistory(one);
    await one.getByRole('button', { name: 'Dry run again with this input' }).last().click();
    await says(one.locator('.dry-run-notice'), /^This was a dry run\./);
    await expect.poll(() => bodies.length).toBe(1);
    expect(bodies[0]).toContain('"dryRun":true');
  });

  test('looks other than a real one', async () => {
    const page = await journey.visit('/?app=9001&rule=1');
    const button = page.locator('.run-bar > .button');
    const look = () =>
      button.evaluate((element) => {
        const { backgroundColor, color, borderStyle } = getComputedStyle(element);
        return [backgroundColor, color, borderStyle];
      });
    await page.locator('.run-bar > .button[aria-disabled=false]').waitFor();
    const real = await look();
    await page.getByLabel('Dry run').check();
    await says(button, /^Dry run/);
    const dry = await look();
    for (const [index, part] of real.entries()) expect(dry[index]).not.toBe(part);
  });

  test('never becomes a real run: where no client can, it is blocked, and says what to do', async () => {
    const { sharedDir } = journey.service;
    await using client = await createResponder({ sharedDir, app: 9001, address: 'unable', does: staysSilent });
    const page = await journey.visit('/?app=9001&rule=1&target=all');
    await page.getByLabel('Dry run').check();
    await page.goto(`${journey.service.url}/?app=9001&rule=1&target=address:unable`);
    await says(
      page.locator('#run-hint'),
      /No client of this target can make a dry run\. Choose another one, or turn the dry run off\./,
    );
    await page.keyboard.press('Control+Enter');
    await page.getByRole('button', { name: /^Dry run/ }).click({ force: true });
    await page.waitForTimeout(300);
    expect(client.found).toEqual([]);
    const choice = page.getByLabel('Dry run');
    await choice.uncheck();
    expect(await choice.isDisabled()).toBe(true);
  });
});
