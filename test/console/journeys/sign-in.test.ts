import { expect, test } from 'vitest';
import { describeInBrowser, useJourney } from '../support/journey.ts';
import { expectAccessible, headline, hint, holds, picture, pressRun, reads, says } from '../support/on-the-page.ts';

const KEY = 'a-key-for-the-console-0123456789';

describeInBrowser('signing in to the console', () => {
  const journey = useJourney({ settings: { API_KEYS: `ada:${KEY}` } });

  test('a wrong key is said to be one, the right one opens the page, and it is not kept', async () => {
    const page = await journey.visit('/?app=9001&rule=1');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page
      .getByText('This service needs an API key. The page trades the key for a session and does not keep it.')
      .waitFor();
    await expectAccessible(page);
    await picture(page, 'console-sign-in');
    for (const [answer, sentence] of [
      [null, 'The service does not answer. Try again in a moment.'],
      [500, 'The service did not sign you in: The store is full.'],
    ] as const) {
      await page.route('**/session', (route) =>
        answer === null
          ? route.abort()
          : route.fulfill({ status: answer, json: { code: 'internal-error', error: 'The store is full.' } }),
      );
      await page.getByLabel('API key').fill(KEY);
      await page.keyboard.press('Enter');
      await reads(page, sentence);
      await page.unroute('**/session');
    }
    await page.getByLabel('API key').fill('wrong');
    await page.keyboard.press('Enter');
    await page.getByText('The service does not know this API key. Check it and try again.').waitFor();
    await expectAccessible(page);
    await page.getByLabel('API key').fill(KEY);
    await page.keyboard.press('Enter');
    await holds(page.getByLabel('cost', { exact: true }), '100');
    await pressRun(page);
    await says(headline(page), /^Done on/);
    expect(await page.evaluate(() => JSON.stringify(localStorage) + document.cookie)).not.toContain(KEY);
  });

  test('an expired session is said to be one, and nothing is lost that was typed', async () => {
    const page = await journey.visit('/?app=9001&rule=1');
    await page.getByLabel('API key').fill(KEY);
    await page.keyboard.press('Enter');
    await page.getByLabel('city', { exact: true }).fill('Lyon');
    await page.context().clearCookies();
    await pressRun(page);
    await page.getByText('Your session has expired. Sign in again; everything you typed is still here.').waitFor();
    await expectAccessible(page);
    await page.getByLabel('API key').fill(KEY);
    await page.keyboard.press('Enter');
    await holds(page.getByLabel('city', { exact: true }), 'Lyon');
    await says(headline(page), 'The session had expired. The rule did not run.');
    await says(hint(page), 'What you typed is kept. Sign in and run it again.');
    await expectAccessible(page);
    await pressRun(page);
    await says(headline(page), /^Done on/);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('This service needs an API key.').waitFor();
  });

  test('signing out leaves nothing of the input: not on the page, in the address, in storage or behind the back button', async () => {
    const page = await journey.visit('/?app=9001&rule=1');
    await page.getByLabel('API key').fill(KEY);
    await page.keyboard.press('Enter');
    await page.getByLabel('city', { exact: true }).fill('Wuppertal');
    await pressRun(page);
    await says(headline(page), /^Done on/);
    await expect.poll(() => page.evaluate(() => JSON.stringify(localStorage))).toContain('Wuppertal');
    await page.route('**/session', (route) => route.abort());
    await page.getByRole('button', { name: 'Sign out' }).click();
    await says(page.locator('.news'), 'The service does not answer.');
    await page.unroute('**/session');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    const left = () =>
      page.evaluate(
        () => document.body.innerHTML + location.href + JSON.stringify({ ...localStorage, ...sessionStorage }),
      );
    await expect.poll(left).not.toContain('Wuppertal');
    expect(await left()).not.toContain('rule=1');
  });
});
