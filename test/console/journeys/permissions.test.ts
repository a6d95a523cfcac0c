import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { digestOf } from '../../../src/shared/runtime/access/caller.ts';
import { createResponder, staysSilent } from '../../support/responder.ts';
import { describeInBrowser, useJourney } from '../support/journey.ts';
import { expectAccessible, headline, pressRun, reads, says, toHistory } from '../support/on-the-page.ts';

const keyOf = (name: string) => `a-key-for-${name}-0123456789`;
const entry = (name: string, more: object) => ({ name, sha256: digestOf(keyOf(name)).toString('hex'), ...more });
const KEYS = [
  entry('everything', {}),
  entry('reader', { may: ['read'], apps: [9001] }),
  entry('tester', { may: ['read', 'run'] }),
];

describeInBrowser('what a key may do, on the page', () => {
  const journey = useJourney(async () => {
    const file = join(await mkdtemp(join(tmpdir(), 'rule-server-keys-')), 'keys.yaml');
    await writeFile(file, JSON.stringify({ keys: KEYS }));
    return { settings: { API_KEYS_FILE: file, MASK: '9001:city' } };
  });

  async function signedIn(name: string, path: string): Promise<Page> {
    const page = await journey.visit(path);
    await page.getByLabel('API key').fill(keyOf(name));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor({ state: 'detached' });
    return page;
  }

  test('a key that may only read gets no Run, no cases and no other app, and is told what it lacks', async () => {
    await using _ = await createResponder({ sharedDir: journey.service.sharedDir, app: 7, does: staysSilent });
    const all = await signedIn('everything', '/?app=9001&rule=1');
    await pressRun(all);
    await says(headline(all), /^Done on/);
    const page = await signedIn('reader', '/?app=9001&rule=1');
    const sentence = 'The API key “reader” lacks the permission “run”.';
    await says(page.locator('#run-hint'), sentence);
    await expect.poll(() => page.locator('.run-bar .primary').getAttribute('aria-disabled')).toBe('true');
    await toHistory(page);
    await page.getByRole('button', { name: sentence }).first().waitFor(); // the row of the earlier run
    expect(await page.getByRole('button', { name: sentence }).first().isDisabled()).toBe(true);
    await page.locator('.history .row-link').first().click();
    await reads(page, 'The API key “reader” lacks the permission “cases”.');
    expect(await page.getByRole('button', { name: 'Save as case' }).isDisabled()).toBe(true);
    await page.locator('.app-picker input').click();
    await page.getByRole('option', { name: 'App 9001' }).waitFor();
    expect(await page.getByRole('option', { name: 'App 7' }).count()).toBe(0);
    await expectAccessible(page);
  });

  test('a key that may not cancel sees Stop, cannot press it, and is told why', async () => {
    await using _ = await createResponder({ sharedDir: journey.service.sharedDir, app: 7, does: staysSilent });
    const page = await signedIn('tester', '/?app=7&rule=1');
    await pressRun(page);
    const stop = page.getByRole('button', { name: /^Stop/ });
    await stop.waitFor();
    expect(await stop.getAttribute('aria-disabled')).toBe('true');
    expect(await stop.getAttribute('title')).toBe('The API key “tester” lacks the permission “cancel”.');
    const refused = journey.service.log.filter(({ method, status }) => method === 'DELETE' && status === 403);
    expect(refused).toEqual([]);
  });

  test('a field that is hidden is said to be, and stands as *** in the run', async () => {
    const page = await signedIn('everything', '/?app=9001&rule=1');
    await page.getByLabel('city', { exact: true }).fill('Wuppertal');
    await pressRun(page);
    await says(headline(page), /^Done on/);
    await reads(
      page,
      'Hidden in this run (MASK): city. They are shown as “***”; fill them in before you run it again.',
    );
    await page.getByRole('button', { name: 'Save as case' }).click();
    await reads(page, 'Hidden in this run (MASK): city. The case would have “***” in their place.');
  });
});
