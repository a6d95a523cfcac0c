import { afterAll, expect, test } from 'vitest';
import { registerPublished } from '../../support/published-client.ts';
import { createResponder, picksUpAndStaysSilent } from '../../support/responder.ts';
import { createRuleFiles } from '../../support/rule-files.ts';
import { describeInBrowser, useJourney } from '../support/journey.ts';
import { expectAccessible, headline, holds, picture, pressRun, says, unfold } from '../support/on-the-page.ts';

describeInBrowser('the clients of an app, in the console', () => {
  let files: Awaited<ReturnType<typeof createRuleFiles>>;
  afterAll(() => files?.remove());
  const journey = useJourney(async () => {
    files = await createRuleFiles();
    await files.write('3', 7, 'version.txt');
    await files.rule(1, '"name":"gate","confId":1');
    await files.node(1, '"type":5,"name":"score","confName":"com.sample.Score"');
    // The run stays open for as long as it is looked at.
    return { demo: false, sharedDir: files.sharedDir, settings: { RESULT_TIMEOUT_MS: 540_000 } };
  });

  test('are listed by a press on their count: who is online first, what each is, and how many runs are open at it', async () => {
    const { sharedDir } = journey.service;
    const does = picksUpAndStaysSilent;
    await using _trunk = await createResponder({ sharedDir, app: 7, address: 'orders-1', does });
    await using _lane = await createResponder({ sharedDir, app: 7, address: 'orders-2', lane: 'beta', does });
    await using _bare = await createResponder({ sharedDir, app: 7, address: 'bare', as: 'directory', does });
    await registerPublished({ sharedDir, app: 7, sdk: 'python', address: 'a-python', beatAgoMs: null });
    const page = await journey.visit('/?app=7&rule=1&target=address:orders-1#input=%7B%7D');
    const count = page.getByRole('button', { name: '3 clients' });
    await count.click();
    await page.getByRole('heading', { name: 'Clients of app 7' }).waitFor();
    const listed = () => page.locator('.client-list li').allInnerTexts();
    const line = (address: string, facts: string) => expect.stringMatching(new RegExp(`^${address}\\s+${facts}$`));
    const beat = 'heartbeat \\d+ s ago';
    await expect
      .poll(listed)
      .toEqual([
        line('bare', 'no registration'),
        line('orders-1', `Node SDK · v1 loaded, v3 released · ${beat}`),
        line('orders-2', `lane beta · Node SDK · v1 loaded, v3 released · ${beat}`),
        line('a-python', 'offline · Python SDK · .+'),
      ]);
    await expectAccessible(page);
    await picture(page, 'console-clients');

    await pressRun(page);
    await says(headline(page), 'orders-1 has picked up the request and is running the rule.');
    await expect
      .poll(async () => (await listed())[1], { timeout: 60_000 })
      .toMatch(/running a rule now · 1 open run\s+last picked up a request at [\d:]+$/);
    await files.write('1790000000000', '.rule-server/pick-ups/7/lying.orders-2');
    await expect
      .poll(async () => (await listed())[2], { timeout: 60_000 })
      .toMatch(/has picked up no request since Sep 2[12], [\d:]+: others are asked first until it does$/);
    await expectAccessible(page);

    await page.getByRole('button', { name: 'orders-2' }).click();
    await page.keyboard.press('Escape');
    await page.getByRole('heading', { name: 'Clients of app 7' }).waitFor({ state: 'detached' });
    expect(await count.evaluate((button) => button === document.activeElement)).toBe(true);
    await unfold(page);
    await holds(page.getByRole('combobox', { name: 'One client' }), 'orders-2');
    // Escape closed the list; the run that is open goes on.
    await says(headline(page), 'orders-1 has picked up the request and is running the rule.');
  });
});
