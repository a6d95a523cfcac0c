import type { Page } from 'playwright-core';
import { afterAll, expect, test } from 'vitest';
import { counted } from '../support/counted.ts';
import { describeInBrowser, useJourney } from '../support/journey.ts';
import { headline, holds, pressRun, says } from '../support/on-the-page.ts';
import { paintedTree } from '../support/painted-tree.ts';

const RUN = 'Control+Enter';

describeInBrowser('ten tasks of somebody who debugs a rule, with what they cost', () => {
  const journey = useJourney();
  const costs: string[] = [];
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
    test(title, { timeout: 90_000 }, async () => {
      let reader: ReturnType<typeof counted> | undefined;
      await does((page) => {
        reader = counted(page);
        return reader;
      });
      const sum = reader?.sum() ?? { clicks: 0, keys: 0 };
      costs.push(`${title}: ${sum.clicks} clicks, ${sum.keys} keystrokes`);
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
      /min is 100\. The result would be TRUE with cost = 100, if .* comes to TRUE\. This is computed, not run\./,
    );
  });

  task('see what differs between lane beta and trunk for this input', { clicks: 2, keys: 0 }, async (by) => {
    const page = await begin();
    const reader = by(page);
    await reader.click(page.getByRole('radio', { name: 'All, compare' }));
    await reader.click(page.locator('.run-bar .primary'));
    await says(page.locator('.compare-head [role=status]'), /lane beta .* differs: coupon\.amount is 25, not 20\./);
  });

  task('run it as of last Friday 18:00 Shanghai time', { clicks: 3, keys: 24 }, async (by) => {
    const page = await begin();
    const reader = by(page);
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

  task('find yesterday’s run for uid 42', { clicks: 4, keys: 6 }, async (by) => {
    for (const uid of ['7', '42', '8']) await (await begin({ uid })).close();
    const page = await journey.visit('/favicon.svg');
    await page.clock.setFixedTime(Date.now() + 86_400_000);
    await page.goto(journey.service.url + RULE);
    await page.locator('.history tbody tr').nth(2).waitFor();
    const reader = by(page);
    await reader.typeOver(page.getByLabel(/^Input \(uid=42\)/), 'uid 42');
    await reader.choose(page.locator('.history').getByLabel('Time'), 'yesterday');
    await expect.poll(() => page.locator('.history tbody tr').count()).toBe(1);
    await reader.click(page.locator('.history tbody .row-button'));
    await says(headline(page), /^Done on/);
    await holds(page.getByLabel('uid', { exact: true }), '42');
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
    { clicks: 5, keys: 4 },
    async (by) => {
      const page = await begin({ cost: '100', uid: '5150' });
      await page.goto(journey.service.url + RULE);
      const row = page.locator('.history tbody tr', { hasText: '5150' }).first();
      await row.waitFor();
      const reader = by(page);
      await reader.click(row.locator('.row-button'));
      await holds(page.getByLabel('uid', { exact: true }), '5150');
      await says(page.locator('.verdict'), /TRUE/);
      await reader.typeOver(cost(page), '99');
      await reader.press(RUN);
      await says(page.locator('.verdict'), /FALSE/);
      const both = page.locator('.history tbody tr', { hasText: '5150' });
      await expect.poll(() => both.locator('.chip').allInnerTexts()).toEqual(['FALSE', 'TRUE']);
      const boxes = both.locator('input[type=checkbox]');
      await reader.click(boxes.nth(0));
      await reader.click(boxes.nth(1));
      await reader.click(page.getByRole('button', { name: 'Compare', exact: true }));
      await says(
        page.locator('.compare-head [role=status]'),
        /differs: its result is (FALSE, not TRUE|TRUE, not FALSE)\./,
      );
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
