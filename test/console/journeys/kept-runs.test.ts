import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, test, vi } from 'vitest';
import { digestOf } from '../../../src/shared/runtime/access/caller.ts';
import { answers, createResponder, errs } from '../../support/responder.ts';
import { describeInBrowser, useJourney } from '../support/journey.ts';
import {
  aim,
  expectAccessible,
  headline,
  hint,
  leftHistory,
  pressRun,
  reads,
  says,
  toHistory,
  toRule,
} from '../support/on-the-page.ts';

const RULE = '/?app=9001&rule=1';
const PIN = /Pin: keep this run until it is unpinned$/;
const TIME = String.raw`\d\d:\d\d:\d\d`;

const rows = (page: Page) => page.locator('.history tbody tr');
const inputs = (page: Page) => page.locator('.history tbody .given').allInnerTexts();
const about = (page: Page) => page.locator('.about-run');
const head = (page: Page) => page.locator('.history-head');
const runOf = (page: Page) => new URL(page.url()).searchParams.get('run');

/** Waits until the history has these inputs, the newest first. */
async function lists(page: Page, ...wanted: (string | RegExp)[]): Promise<void> {
  await toHistory(page);
  await expect
    .poll(() => inputs(page), { timeout: 60_000 })
    .toEqual(
      wanted.map((text) => expect.stringMatching(typeof text === 'string' ? new RegExp(`^${text}\\s*$`) : text)),
    );
}

async function runWith(page: Page, cost: string): Promise<string> {
  const before = runOf(page);
  await toRule(page);
  await page.getByLabel('cost', { exact: true }).fill(cost);
  await pressRun(page);
  await expect.poll(() => runOf(page), { timeout: 60_000 }).not.toBe(before);
  await says(headline(page), /^Done on/);
  return runOf(page) ?? '';
}

describeInBrowser('which runs belong together, and what a run repeats', () => {
  const journey = useJourney();

  test('runs are one row only when they were compared; nine equal ones are nine rows', async () => {
    const page = await journey.visit('/?app=9001&rule=2');
    await aim(page, 'One client');
    const { json } = await journey.service.call('/rule-server/mock/clients?app=9001');
    const addresses: string[] = json.items.map(({ address }: { address: string }) => address);
    const call = { app: 9001, ruleId: 2, 'the service': { uid: 1, cost: 100 } };
    for (const address of [...addresses, ...addresses, ...addresses])
      expect((await journey.service.execute({ ...call, target: `address:${address}` })).status).toBe(200);
    await toHistory(page);
    await expect.poll(() => rows(page).count(), { timeout: 60_000 }).toBe(9);
    expect(await rows(page).filter({ hasText: 'compared on' }).count()).toBe(0);

    await aim(page, 'All, compare');
    await pressRun(page);
    await toHistory(page);
    await says(rows(page).first(), /compared on 3 clients/);
    await expect.poll(() => rows(page).count()).toBe(10);
    await page.getByRole('link', { name: /^Show the comparison of/ }).click();
    await reads(page, 'Comparing 3 runs');
  });

  test('what changed is told against the run that was repeated, behind the input, not against the row below', async () => {
    const page = await journey.visit(RULE);
    const first = await runWith(page, '101');
    await runWith(page, '202');
    await page.goto(`${journey.service.url}${RULE}&run=${first}`);
    await says(headline(page), /^Done on/);
    await runWith(page, '303');
    await lists(page, /cost 303.*\scost 101 → 303$/, /cost 202.*\scost 101 → 202$/, /^[^→]*cost 101[^→]*$/);
    expect(await rows(page).first().locator('.given b').innerText()).toBe('cost 101 → 303');

    // The same again has nothing that changed, though the run on the screen was another one.
    await rows(page).last().getByRole('button', { name: 'Run the rule again for real with this input' }).click();
    await leftHistory(page);
    await says(headline(page), /^Done on/);
    await toHistory(page);
    await expect.poll(() => rows(page).count(), { timeout: 60_000 }).toBe(4);
    await says(rows(page).first().locator('.given'), /^[^→]*cost 101[^→]*$/);
    const { json } = await journey.service.call(`/rule-server/mock/executions/${runOf(page)}`);
    expect(json.derivedFrom).toBe(first);
  });
});

describeInBrowser('failures that are alike', () => {
  const journey = useJourney({ demo: false });

  test('are one row with count, code, sentence, clients and times; a press opens the newest', async () => {
    const { sharedDir } = journey.service;
    const does = errs('');
    const one = await createResponder({ sharedDir, app: 7, address: 'orders-1', does });
    const two = await createResponder({ sharedDir, app: 7, address: 'orders-2', does });
    const fails = async (responder: typeof one, error: string) => {
      responder.does = errs(error);
      return (await journey.service.execute({ app: 7, ruleId: 1, target: `address:${responder.address}` })).json.mockId;
    };
    const [oneId, twoId] = ['0f8fad5b-d9cb-469f-a165-70867728950e', '7c9e6679-7425-40de-944b-e07fc1f90ae7'];
    await fails(one, `order ${oneId} of "Ann" costs 12.50 too much`);
    const oldest = await fails(one, 'no stock');
    await fails(one, `order ${twoId} of "Bob" costs 3 too much`);
    const newest = await fails(two, `order ${oneId} of "Eve" costs -7 too much`);
    one.does = answers();
    await journey.service.execute({ app: 7, ruleId: 1, target: 'address:orders-1' });

    const page = await journey.visit('/?app=7&rule=1&panel=history');
    await expect.poll(() => rows(page).count(), { timeout: 60_000 }).toBe(5);
    await page.getByRole('button', { name: 'Failures, grouped' }).click();
    const group = (count: number, sentence: string, client: string) =>
      expect.stringMatching(
        new RegExp(`^${count}\\s+\\S*failed\\S*\\s+${sentence}\\s+${client}\\s+${TIME} to ${TIME}$`),
      );
    const said = 'order … of … costs … too much';
    await expect
      .poll(() => rows(page).allInnerTexts(), { timeout: 60_000 })
      .toEqual([group(3, said, 'orders-1 and 1 more'), group(1, 'no stock', 'orders-1')]);
    await expectAccessible(page);

    await page.getByRole('link', { name: `Show the newest run with this message: ${said}` }).click();
    await says(headline(page), 'The rule failed on orders-2');
    await says(hint(page), `order ${oneId} of "Eve" costs -7 too much`);
    expect(runOf(page)).toBe(newest);
    await toHistory(page);
    await rows(page).last().click();
    await expect.poll(() => runOf(page)).toBe(oldest);
    await Promise.all([one.stop(), two.stop()]);
  });
});

describeInBrowser('a run that is kept', () => {
  const keyOf = (name: string) => `a-key-for-${name}-0123456789`;
  const entry = (name: string, more: object) => ({ name, sha256: digestOf(keyOf(name)).toString('hex'), ...more });
  const journey = useJourney(async () => {
    const file = join(await mkdtemp(join(tmpdir(), 'rule-server-keys-')), 'keys.yaml');
    const keys = [entry('everything', {}), entry('other', { apps: [9001] }), entry('reader', { may: ['read'] })];
    await writeFile(file, JSON.stringify({ keys }));
    return { settings: { API_KEYS_FILE: file, HISTORY_COUNT: 3 } };
  });
  const asEverything = { headers: { authorization: `Bearer ${keyOf('everything')}` } };
  const pathOf = (page: Page) => page.url().slice(journey.service.url.length);

  async function signedIn(name: string, path: string, context = {}): Promise<Page> {
    const page = await journey.visit(path, context);
    await page.getByLabel('API key').fill(keyOf(name));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor({ state: 'detached' });
    return page;
  }

  test('says when, by whom, where, on which rules, under which id of the client’s log, and until when', async () => {
    const { sharedDir } = journey.service;
    const does = answers({ trace: 'log-id-4711' });
    await using _ = await createResponder({ sharedDir, app: 9001, lane: 'traced', address: 'orders-1', does });
    const permissions = ['clipboard-read', 'clipboard-write'];
    const page = await signedIn('everything', `${RULE}&target=lane:traced`, { permissions });
    await runWith(page, '1');
    await says(
      about(page),
      new RegExp(`^${TIME} · by everything · lane traced · version 1 · trace id log-id-4711\\s*$`),
    );
    await page.getByRole('button', { name: 'Copy the trace id, to find this run in the client’s log' }).click();
    await page.getByText('Copied the trace id').waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('log-id-4711');
    await expectAccessible(page);

    // The demo's own client on the trunk writes no id and has no lane: the line leaves them out.
    await aim(page, 'Any client');
    await runWith(page, '2');
    await says(about(page), new RegExp(`^${TIME} · by everything · version 1\\s*$`));
    await page.getByRole('button', { name: /^Kept until \w+ \d+, \d\d:\d\d:\d\d\. Pin: / }).waitFor();
  });

  test('that is pinned is found as such and opens by its link after it left the history; another one is gone', async () => {
    const page = await signedIn('everything', RULE);
    await runWith(page, '11');
    const kept = pathOf(page);
    await page.getByRole('button', { name: PIN }).click();
    await says(about(page), /· pinned\s*$/);
    for (const cost of ['22', '33', '44', '55']) await runWith(page, cost);
    await page.reload(); // what the page has seen stays listed until then
    await lists(page, /cost 55/, /cost 44/, /cost 33/);
    await says(head(page), new RegExp(`\\d kept for all apps, from ${TIME}`));

    await head(page).getByLabel('Time', { exact: true }).selectOption('Pinned');
    await lists(page, /cost 11\b/);
    await expectAccessible(page);

    const reader = await signedIn('reader', RULE);
    await reader.goto(journey.service.url + kept);
    await says(headline(reader), /^Done on/);
    await says(about(reader), /by everything .* pinned\s*$/);
    const refused = reader.locator('.about-run').getByRole('button');
    expect(await refused.isDisabled()).toBe(true);
    expect(await refused.getAttribute('aria-label')).toBe('The API key “reader” lacks the permission “run”.');

    await page.goto(journey.service.url + kept);
    await page.getByRole('button', { name: 'Unpin', exact: true }).click();
    await page.getByRole('button', { name: PIN }).waitFor();
    await toHistory(page);
    await head(page).getByLabel('Time', { exact: true }).selectOption('Pinned');
    await page.getByText('No run of rule #1 matches: there is none to search.').first().waitFor();
  });

  test('of an app that the key may not see is refused by name', async () => {
    await using _ = await createResponder({ sharedDir: journey.service.sharedDir, app: 7, does: answers() });
    const { json } = await journey.service.execute({ app: 7, ruleId: 1 }, asEverything);
    const link = `${journey.service.url}/?app=7&rule=1&run=${json.mockId}`;
    const page = await signedIn('other', RULE);
    await page.goto(link);
    await says(headline(page), 'The API key “other” has no access to app 7.');
    await says(hint(page), 'Sign in with a key for that app, or ask for access to it.');
    expect(await about(page).count()).toBe(0);
    await expectAccessible(page);

    const everything = await signedIn('everything', RULE);
    await everything.goto(link);
    await says(headline(everything), /^Done on/);
  });
});

describeInBrowser('a search of the history', () => {
  const journey = useJourney();

  test('stays in the address, behind the #', async () => {
    const page = await journey.visit(RULE);
    await runWith(page, '55');
    await runWith(page, '66');
    await toHistory(page);
    await page.getByRole('searchbox', { name: /Input \(uid=42\)/ }).fill('cost=55');
    await lists(page, /cost 55\b/);
    await expect.poll(() => new URL(page.url()).hash, { timeout: 60_000 }).toContain('find=');
    expect(new URL(page.url()).search).not.toContain('cost');
    await page.reload();
    await lists(page, /cost 55\b/);
  });

  test('says which rule it searched and how far, finds a number in quotes and says so, and reads how people write', async () => {
    const page = await journey.visit('/?app=9001&rule=2&panel=history');
    const execute = (ruleId: number, input: object) =>
      journey.service.execute({ app: 9001, ruleId, 'the service': { cost: 120, ...input } });
    await execute(2, { uid: 4141 });
    await execute(1, { uid: '4242' });
    await execute(1, { uid: 4242 });
    for (let run = 0; run < 51; run++) await execute(2, { uid: run, city: 'Oslo' });
    const field = page.getByRole('searchbox', { name: /Input \(uid=42\)/ });
    const status = page.locator('.history-head [role=status]');
    const chip = page.locator('.search-field .chip');
    const none = page.locator('.history .empty-line');
    await field.fill('uid = 4242');
    await says(none, /^No run of rule #2 matches: 52 were searched\.\s+Search all rules$/);
    await page.getByRole('button', { name: 'Search all rules' }).click();
    await says(status, /^2 found in \d+ runs of app 9001\. 1 of them has uid as a text, “4242” in quotes\.$/);
    await page.getByLabel('All rules').uncheck();
    await chip.click();
    await field.fill('userid==42');
    await says(none, /The rule does not read userid\. It reads .*\buid\b/);
    await field.press('Enter');
    await chip.click();
    await field.fill('city=Oslo');
    await says(status, /^The first 50 found, in 5\d runs of rule #2\.$/);
    await page.getByRole('button', { name: 'Older runs' }).click();
    await says(status, '51 found in 52 runs of rule #2.');
    await expectAccessible(page);

    // What came within the last second is not asked for again: the reader comes back until it is.
    const isFoundOnReturn = (sentence: string) =>
      vi.waitFor(async () => {
        await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')));
        expect(await status.innerText()).toBe(sentence);
      }, 60_000);
    await execute(2, { uid: 99, city: 'Oslo' });
    await isFoundOnReturn('52 found in 53 runs of rule #2.');
    await chip.click();
    await field.fill('uid=4141 ');
    await says(status, '1 found in 53 runs of rule #2.');
    await execute(2, { uid: 4141 });
    await isFoundOnReturn('2 found in 54 runs of rule #2.');
    await chip.click();
    await field.fill('state:nonsense ');
    await says(none, /`state`: must be one of queued/);
    expect(await status.innerText()).toBe('');
  });

  test('has a chip for each condition that is complete; pressed, or taken back by Backspace, it is one no more', async () => {
    const page = await journey.visit(RULE);
    for (const cost of ['257', '268']) await runWith(page, cost);
    await toHistory(page);
    const field = page.getByRole('searchbox', { name: /Input \(uid=42\)/ });
    const chip = (condition: string) => page.getByRole('button', { name: `Remove ${condition} from the search` });
    await field.pressSequentially('cost>=200 cost<260 state:succeeded');
    await field.press('Enter');
    for (const condition of ['cost>=200', 'cost<260', 'state:succeeded']) await chip(condition).waitFor();
    expect(await field.inputValue()).toBe('');
    const found = (pattern: RegExp) =>
      expect.poll(async () => (await inputs(page)).some((text) => pattern.test(text)), { timeout: 60_000 });
    await found(/cost 268\b/).toBe(false);
    await found(/cost 257\b/).toBe(true);
    await expectAccessible(page);
    await page.reload();
    await chip('state:succeeded').waitFor();

    await chip('cost<260').click();
    await field.press('Backspace');
    expect(await field.inputValue()).toBe('state:succeeded');
    await found(/cost 268\b/).toBe(true);
  });
});

describeInBrowser('how much is kept', () => {
  const journey = useJourney();

  test('is said in the head of the history once there is a run', async () => {
    const page = await journey.visit(`${RULE}&panel=history`);
    await says(head(page), /Select two runs to compare them\./);
    expect(await head(page).innerText()).not.toMatch(/kept/);
    await runWith(page, '1');
    await toHistory(page);
    await says(head(page), new RegExp(`1 kept for all apps, from ${TIME}`));
    await runWith(page, '2');
    await toHistory(page);
    // The row says when it began, the head when it ended: that may be the next second.
    await says(head(page), new RegExp(`2 kept for all apps, from ${TIME}`));
  });
});
