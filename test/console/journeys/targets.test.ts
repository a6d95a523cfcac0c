import { expect, test } from 'vitest';
import { startDemoClient } from '../../../src/client/demo.ts';
import { answers, createResponder, picksUpAndStaysSilent } from '../../support/responder.ts';
import { describeInBrowser, startJourney, useJourney } from '../support/journey.ts';
import {
  aim,
  expectAccessible,
  headline,
  holds,
  picture,
  pressRun,
  reads,
  says,
  unfold,
} from '../support/on-the-page.ts';

describeInBrowser('where the console runs a rule', () => {
  const journey = useJourney();

  test('a lane: its client runs it, the address says so, the coupon is the lane’s', async () => {
    const page = await journey.visit('/?app=9001&rule=1');
    await aim(page, 'Lane');
    await holds(page.getByRole('combobox', { name: 'Lane' }), 'beta');
    await pressRun(page);
    await says(headline(page), /^Done on/);
    await page.getByText('"amount":25').first().waitFor();
    expect(new URL(page.url()).searchParams.get('target')).toBe('lane:beta');
    await expectAccessible(page);
  });

  test('one client, found by typing; what it is now is said beside it', async () => {
    const page = await journey.visit('/?app=9001&rule=1');
    await aim(page, 'One client');
    const field = page.getByRole('combobox', { name: 'One client' });
    await field.click();
    await field.fill('lane next');
    // The client that was meant, and an address of just that name.
    await expect.poll(() => page.locator('.option').count()).toBe(2);
    await expectAccessible(page);
    await page.keyboard.press('Enter');
    await page.getByText(/^Node SDK · lane next · v1 · heartbeat .* ago$/).waitFor();
    await pressRun(page);
    await says(headline(page), new RegExp(`^Done on ${await field.inputValue()}$`));
  });

  test('any client is one of those that the service would choose from; a busy one is not offline', async () => {
    const page = await journey.visit('/?app=9001&rule=1');
    // Two more are in lanes: a call for any client goes to them only when nobody is outside.
    await page.getByText(/^\w+ · v1 · heartbeat .* ago$/).waitFor();
    await reads(page, '3 clients');

    const { sharedDir } = journey.service;
    await using _inLane = await createResponder({
      sharedDir,
      app: 9005,
      address: 'next-1',
      lane: 'next',
      does: answers(),
    });
    await page.goto(`${journey.service.url}/?app=9005&rule=5#input=%7B%7D`);
    await page.getByText(/^next-1 · lane next · .* · no client of the trunk is online$/).waitFor();
    await reads(page, 'Any client (trunk first), now');
    const options = { sharedDir, app: 9004, address: 'orders-8', does: picksUpAndStaysSilent };
    await using _busy = await createResponder(options);
    await page.goto(`${journey.service.url}/?app=9004&rule=5#input=%7B%7D`);
    await page.getByText(/^orders-8 · v1 · heartbeat .* ago$/).waitFor();
    await pressRun(page);
    await reads(page, 'orders-8 · v1 · running a rule now');
    await reads(page, '1 client');
    await page.keyboard.press('Escape');
    await says(headline(page), /was cancelled after .* had picked the request up\. It may have run;/);
  });

  test('all, compared with the first of them, in the order of the clients; another input makes them stale', async () => {
    const page = await journey.visit('/?app=9001&rule=1');
    await aim(page, 'All, compare');
    await page.getByText('One run on each of 3 clients').waitFor();
    await pressRun(page);
    await says(
      page.locator('.compare-head [role=status]'),
      /B \(lane beta · \S+ · .*\) differs: coupon\.amount is 25, not 20\./,
    );
    expect(await page.locator('.compare-table').getByRole('columnheader').count()).toBe(3);
    await page
      .getByRole('row', { name: /coupon/ })
      .first()
      .waitFor();
    await expectAccessible(page);
    await picture(page, 'console-compare');
    const address = page.url();
    await page.getByLabel('level', { exact: true }).fill('3');
    await says(page.locator('.compare .since'), /level 2 → 3/);
    await page.getByRole('button', { name: 'Back to this run’s input' }).click();
    await page.locator('.compare .since').waitFor({ state: 'detached' });
    const again = await journey.another(page, address.slice(journey.service.url.length));
    await says(again.locator('.compare-head [role=status]'), /lane beta .* differs: coupon\.amount is 25, not 20\./);
  });

  test('a client that goes away stays chosen and says so', async () => {
    const responder = await createResponder({
      sharedDir: journey.service.sharedDir,
      app: 9002,
      address: 'orders-7',
      does: answers(),
    });
    const page = await journey.visit('/?app=9002&rule=5&target=address:orders-7');
    await page.getByText(/heartbeat .* ago$/).waitFor();
    await responder.stop();
    await responder.unregister();
    await responder.removeDirectory();
    await page
      .getByText('orders-7 is not registered any more, so a run would be refused.')
      .waitFor({ timeout: 30_000 });
    await unfold(page);
    await holds(page.getByRole('combobox', { name: 'One client' }), 'orders-7');
    await expectAccessible(page);
  });

  test('an app without rule files: the number can be typed, the trace is a list', async () => {
    await using responder = await createResponder({
      sharedDir: journey.service.sharedDir,
      app: 9003,
      does: answers({ process: '[2:Score:T:4][3:Give:T:0][1:And:T:5]' }),
    });
    const page = await journey.visit('/?app=9003');
    await page.getByRole('heading', { name: 'Choose a rule' }).waitFor();
    await page
      .getByText('App 9003 has no readable rules. If its client knows a rule, type the rule number above.')
      .waitFor();
    await expectAccessible(page);
    await page.getByRole('combobox', { name: 'Rule' }).fill('12');
    await page.getByRole('option', { name: 'Use number 12' }).click();
    await page
      .getByText('No client has reported which keys this rule reads. Add keys, or write the input as JSON.')
      .waitFor();
    await page.getByRole('button', { name: 'Add a key' }).click();
    await page.getByRole('textbox', { name: 'Key' }).fill('uid');
    await page.keyboard.press('Enter');
    await page.getByLabel('Type of uid').selectOption('int64');
    await page.getByLabel('uid', { exact: true }).fill('9007199254740993');
    await pressRun(page);
    await says(headline(page), new RegExp(`on ${responder.address}$`));
    await expect
      .poll(() => page.locator('.flat-trace li').allTextContents())
      .toEqual(['Score #2 TRUE 4 ms', 'Give #3 TRUE 0 ms', 'And #1 TRUE 5 ms']);
    expect(responder.found[0]?.text).toContain('"the service":{"uid":9007199254740993}');
    await expectAccessible(page);
  });

  test('a lane that is not online: its keys are another client’s, and that is said', async () => {
    const page = await journey.visit('/?app=9001&rule=1&target=lane:gamma');
    await page.getByText('gamma is not online. These keys were reported by another client.').waitFor();
    await page.getByText('No client is online in lane gamma, so a run would be refused.').waitFor();
    await expectAccessible(page);
  });

  test('a rule that does not exist', async () => {
    const page = await journey.visit('/?app=9001&rule=77');
    await page.getByRole('heading', { name: 'App 9001 has no rule 77' }).waitFor();
    await expectAccessible(page);
  });
});

describeInBrowser('the console where there is nothing', () => {
  test('no app yet: the page says what to do, waits for the first client, and greets it', async () => {
    const journey = await startJourney({ demo: false });
    const page = await journey.visit('/');
    await page.getByRole('heading', { name: 'No app yet' }).waitFor();
    await reads(page, 'The page waits for the first client and goes on by itself when one comes.');
    expect(await page.locator('.beginning code').count()).toBe(3);
    expect(await page.locator('.run-bar, .history').count()).toBe(0);
    await expectAccessible(page);
    const client = await startDemoClient({ sharedDir: journey.service.sharedDir, onError: () => {} });
    await page
      .getByText(/^The first client is here: \w+ of app 9001\. Press “Run for real” to see what its rule does\./)
      .waitFor();
    await pressRun(page);
    await says(page.locator('.verdict'), /TRUE/);
    await expectAccessible(page);
    await client.close();
    await journey.close();
  });

  test('no worker: the page says what it cannot know, and a run that it was not taken', async () => {
    const journey = await startJourney({ demo: false, workers: 0, settings: { QUEUE_TIMEOUT_MS: 1500 } });
    const page = await journey.visit('/?app=1&rule=1#input=%7B%7D');
    await page.getByRole('heading', { name: 'The tree cannot be drawn' }).waitFor({ timeout: 30_000 });
    // It is asked for again, and the page stays as it is meanwhile.
    await page.waitForRequest('**/tree?**');
    await page.getByRole('heading', { name: 'The tree cannot be drawn' }).waitFor();
    expect(await page.locator('.loading').count()).toBe(0);
    await pressRun(page);
    await says(headline(page), 'Queued: waiting for a worker.');
    await says(headline(page), /^No worker takes executions.*This call ran nothing/);
    await expectAccessible(page);
    await journey.close();
  });
});
