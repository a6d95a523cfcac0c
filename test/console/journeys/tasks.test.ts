import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { counted } from '../support/counted.ts';
import { describeInBrowser, useJourney } from '../support/journey.ts';
import { headline, holds, pressRun, says } from '../support/on-the-page.ts';
import { paintedTree } from '../support/painted-tree.ts';

const RUN = 'Control+Enter';

/** Runs that are there before the first task: a history as it is after a day. */
const RUNS = 2000;
const AT_ONCE = 20;
/** One of them is of this user, and many are of others whose number begins alike. */
const USER = 42;

describeInBrowser('the tasks of somebody who debugs a rule, beside 2,000 earlier runs, with what they cost', () => {
  const journey = useJourney();
  const costs: string[] = [];
  beforeAll(async () => {
    const { execute } = journey.service;
    const run = (uid: number) =>
      execute({ app: 9001, ruleId: 1, 'the service': { uid, cost: 90 + (uid % 20), points: USER } });
    for (let first = 0; first < RUNS; first += AT_ONCE)
      await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => run(400 + ((first + index) % 600))));
    await run(USER);
  });
  afterAll(() => console.info(costs.join('\n')));

  const cost = (page: Page) => page.getByLabel('cost', { exact: true });
  const why = (page: Page) => page.locator('.why');
  const RULE = '/?app=9001&rule=1';

  /** A page with the form filled, and a run of these values when there are any. */
  async function begin(values: Record<string, string> | null = null, context = {}): Promise<Page> {
    const page = await journey.visit(RULE, context);
    await holds(cost(page), '100');
    if (values === null) return page;
    for (const [key, value] of Object.entries(values)) await page.getByLabel(key, { exact: true }).fill(value);
    await pressRun(page);
    await page.locator('.verdict').waitFor();
    return page;
  }

  /** A task within its budget of clicks and keystrokes: more than that is a step that somebody put in the way. */
  function task(
    title: string,
    most: { clicks: number; keys: number },
    does: (by: (page: Page) => ReturnType<typeof counted>) => Promise<void>,
  ): void {
    test(title, async () => {
      let reader: ReturnType<typeof counted> | undefined;
      let began = 0;
      await does((page) => {
        reader = counted(page);
        began = performance.now();
        return reader;
      });
      const sum = reader?.sum() ?? { clicks: 0, keys: 0 };
      const seconds = ((performance.now() - began) / 1000).toFixed(1);
      costs.push(`${title}: ${sum.clicks} clicks, ${sum.keys} keystrokes, ${seconds} s`);
      expect(sum).toEqual(most);
    });
  }

  task('find why this user got no coupon', { clicks: 1, keys: 7 }, async (by) => {
    const page = await begin();
    const reader = by(page);
    await reader.typeOver(cost(page), '99.50');
    await reader.press(RUN);
    await says(why(page), /“spent 100 or more” #2 is FALSE: cost is 99\.50, min is 100\./);
  });

  task('see which setting would have to change', { clicks: 0, keys: 0 }, async (by) => {
    const page = await begin({ cost: '99.50' });
    by(page);
    await says(
      why(page),
      /min is 100\.[\s\S]* The result would be TRUE with cost = 100, if .* comes to TRUE\. This is computed, not run\./,
    );
  });

  task('see what differs between lane beta and trunk for this input', { clicks: 3, keys: 0 }, async (by) => {
    const page = await begin();
    const reader = by(page);
    await reader.click(page.locator('.where-summary'));
    await reader.click(page.getByRole('radio', { name: 'All, compare' }));
    await reader.click(page.locator('.run-bar .primary'));
    await says(page.locator('.compare-head [role=status]'), /lane beta .* differs: coupon\.amount is 25, not 20\./);
  });

  task('run it as of last Friday 18:00 Shanghai time', { clicks: 4, keys: 24 }, async (by) => {
    const page = await begin();
    const reader = by(page);
    await reader.click(page.locator('.where-summary'));
    await reader.choose(page.getByLabel('As of', { exact: true }), 'time');
    await reader.typeOver(page.getByLabel('Date and time', { exact: true }), '2026-11-20T18:00+08:00');
    await reader.press(RUN);
    await says(page.locator('.verdict'), /TRUE/);
    expect(new URL(page.url()).searchParams.get('ts')).toBe(String(Date.parse('2026-11-20T18:00:00+08:00')));
  });

  task('show a colleague', { clicks: 1, keys: 0 }, async (by) => {
    const page = await begin({ cost: '99.50' }, { permissions: ['clipboard-read', 'clipboard-write'] });
    await by(page).click(page.getByRole('button', { name: 'Copy link' }).first());
    await page.getByText('Link copied: it opens this run with its input').waitFor();
    const link = await page.evaluate(() => navigator.clipboard.readText());
    const other = await journey.visit(link.slice(journey.service.url.length));
    await holds(cost(other), '99.50');
    await says(why(other), /cost is 99\.50, min is 100\./);
  });

  task('find the one run of user 42 among 2,000', { clicks: 3, keys: 7 }, async (by) => {
    const page = await begin();
    const reader = by(page);
    await reader.click(page.getByRole('link', { name: 'History', exact: true }));
    await reader.typeOver(page.getByLabel(/^Input \(uid=42\)/), `uid=${USER} `);
    await expect.poll(() => page.locator('.history tbody tr').count(), { timeout: 60_000 }).toBe(1);
    await reader.click(page.locator('.history tbody .row-link'));
    await says(headline(page), /^Done on/);
    await holds(page.getByLabel('uid', { exact: true }), String(USER));
  });

  task('run it for the first time', { clicks: 1, keys: 0 }, async (by) => {
    const page = await begin();
    await by(page).click(page.locator('.run-bar .primary'));
    await says(page.locator('.verdict'), /TRUE/);
  });

  task('keep a run as a case, and run the cases', { clicks: 4, keys: 12 }, async (by) => {
    const page = await begin({ cost: '99' });
    const reader = by(page);
    await reader.click(page.getByRole('button', { name: 'Save as case' }));
    await page.getByLabel('Name', { exact: true }).waitFor();
    await reader.typeOver(page.getByLabel('Name', { exact: true }), 'spends 99.5');
    await page.locator('button:enabled', { hasText: /^Save$/ }).waitFor();
    await reader.press('Enter');
    await page.getByText('“spends 99.5” is saved').waitFor();
    await reader.click(page.getByRole('link', { name: 'Tests', exact: true }));
    await reader.click(page.getByRole('button', { name: /^Run (the case|all \d+ cases) for real$/ }));
    await says(page.locator('.answers'), /passed\s+1/);
  });

  task('run a table of 300 inputs of which four rows have mistakes', { clicks: 5, keys: 3 }, async (by) => {
    const page = await begin();
    const reader = by(page);
    await reader.click(page.getByRole('link', { name: 'Tests', exact: true }));
    await reader.click(page.getByRole('link', { name: 'Many inputs' }));
    const wrong = new Map([
      [19, 'abc'],
      [77, '$120'],
      [150, '"12,5"'],
      [299, ''],
    ]);
    const lines = Array.from({ length: 300 }, (_, row) => `${row + 1},${wrong.get(row) ?? 80 + (row % 40)}`);
    await page.getByLabel('Inputs as CSV or JSON').fill(['uid,cost', ...lines].join('\n'));
    await page.locator('.inputs-mistakes').waitFor();
    await reader.click(page.getByRole('checkbox', { name: /^Leave these \d+ rows out/ }));
    await reader.click(page.getByRole('button', { name: /^Run all \d+ inputs for real$/ }));
    const label = await page.locator('.confirm-real label').innerText();
    await reader.type(/\d+/.exec(label)?.[0] ?? '');
    await reader.click(page.getByRole('button', { name: /^Run \d+ for real$/ }));
    await says(page.locator('.batch-words strong'), /^\d+ runs in /);
    await says(page.locator('.answers'), /TRUE/);
  });

  task('compare a run with the one before it', { clicks: 0, keys: 1 }, async (by) => {
    const page = await begin({ cost: '100' });
    await cost(page).fill('99');
    await page.keyboard.press(RUN);
    await says(page.locator('.verdict'), /FALSE/);
    await page.getByRole('treegrid').focus();
    await by(page).press('c');
    await says(page.locator('.compare-head [role=status]'), /its result is (FALSE, not TRUE|TRUE, not FALSE)\./);
    await says(page.locator('.compare-table .first'), /“spent 100 or more” #2/);
  });

  task('go to a node by its name', { clicks: 0, keys: 15 }, async (by) => {
    const page = await begin();
    const reader = by(page);
    await reader.press('Control+k');
    await page.locator('.finder input').waitFor();
    await reader.type('spring bonus');
    await reader.press('Enter');
    await page.getByRole('heading', { name: 'spring bonus #9' }).waitFor();
    await page.locator('.tree:focus').waitFor();
  });

  task('see which clients there are, and which rules each has loaded', { clicks: 1, keys: 0 }, async (by) => {
    const page = await begin();
    await by(page).click(page.getByRole('button', { name: '3 clients' }));
    const lines = page.locator('.client-list li');
    await expect.poll(() => lines.count()).toBe(3);
    for (const line of await lines.allInnerTexts()) expect(line).toMatch(/Node SDK · v1 · heartbeat/);
  });

  task('see which node gave the points, and from what', { clicks: 1, keys: 0 }, async (by) => {
    const page = await begin({ cost: '150' });
    await by(page).click(page.locator('.change', { hasText: 'points' }).locator('.node-link').first());
    await page.getByRole('heading', { name: 'a point for every 10 #7' }).waitFor();
    await expect.poll(() => page.locator('.column.details').innerText()).toMatch(/cost[\s\S]*150/);
  });

  task(
    'run an earlier input again with one value changed, and see what that changed',
    { clicks: 4, keys: 4 },
    async (by) => {
      const page = await begin({ cost: '100', uid: '5150' });
      await page.goto(`${journey.service.url}${RULE}&panel=history`);
      const row = page.locator('.history tbody tr', { hasText: '5150' }).first();
      await row.waitFor();
      const reader = by(page);
      await reader.click(row.locator('.row-link'));
      await holds(page.getByLabel('uid', { exact: true }), '5150');
      await says(page.locator('.verdict'), /TRUE/);
      await reader.typeOver(cost(page), '99');
      await reader.press(RUN);
      await says(page.locator('.verdict'), /FALSE/);
      await reader.click(page.getByRole('link', { name: 'Compare with the run before' }));
      await says(
        page.locator('.compare-head [role=status]'),
        /differs: its result is (FALSE, not TRUE|TRUE, not FALSE)\./,
      );
      await reader.click(page.getByRole('button', { name: 'Close' }));
      await says(page.locator('.verdict'), /TRUE|FALSE/);
    },
  );

  task('run one node alone as of the first moment of its time window', { clicks: 4, keys: 0 }, async (by) => {
    const page = await begin();
    const reader = by(page);
    await reader.click(page.getByRole('row', { name: /spring bonus/ }));
    await reader.click(page.getByRole('button', { name: 'Set “As of” to its start' }));
    await reader.click(page.getByRole('button', { name: 'Choose only this node' }));
    await reader.click(page.locator('.run-bar .primary'));
    await says(page.locator('.verdict'), /TRUE/);
    expect(await paintedTree(page)).toEqual(['spring bonus #9 TRUE']);
  });
});
