import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { en, type TextKey } from '../../../src/console/text/en.ts';
import { zh } from '../../../src/console/text/zh.ts';
import { format, type Parameters } from '../../../src/shared/reasoning/words/format.ts';
import { describeInBrowser, useJourney } from '../support/journey.ts';
import { expectAccessible, holds, says } from '../support/on-the-page.ts';

const NARROW = 820;
const heights: Record<number, number> = { 1440: 900, 1024: 768, 390: 844 };

type Look = readonly [width: number, colorScheme: 'light' | 'dark', language: 'en' | 'zh'];

/** The widest and the narrowest, both languages and colour schemes. `PANELS=full npm run test:browser`: every pair of two of them. */
const looks: Look[] = [
  [1440, 'light', 'en'],
  [390, 'dark', 'zh'],
];
const others: Look[] = [
  [1024, 'light', 'zh'],
  [1440, 'dark', 'zh'],
  [1024, 'dark', 'en'],
  [390, 'light', 'en'],
];
if (process.env.PANELS === 'full') looks.push(...others);

describeInBrowser('every panel of the console', () => {
  const journey = useJourney();

  test.each(looks)(
    'at %i px, %s, in %s, without a mouse: nothing is wider than the window, axe finds nothing',
    async (width, colorScheme, language) => {
      const page = await journey.visit('/?app=9001&rule=1', {
        viewport: { width, height: heights[width] ?? 800 },
        hasTouch: width < NARROW,
        locale: language === 'en' ? 'en-US' : 'zh-CN',
        colorScheme,
      });
      const say = (key: TextKey, parameters: Parameters = {}) => format((language === 'en' ? en : zh)[key], parameters);
      const button = (key: TextKey, parameters?: Parameters) =>
        page.getByRole('button', { name: say(key, parameters), exact: true });
      const part = async (name: 'input' | 'result' | 'details') => {
        if (width < NARROW) await use(page, page.getByRole('link', { name: say(`nav.${name}`), exact: true }));
      };
      const value = async (key: string, text: string) => {
        await use(page, page.getByLabel(key, { exact: true }), 'ControlOrMeta+a');
        await page.keyboard.type(text);
      };
      const looksRight = async () => {
        const wide = await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
        expect(wide, 'something is wider than the window').toBe(false);
        await expectAccessible(page);
      };

      await holds(page.getByLabel('cost', { exact: true }), '100');
      await looksRight();
      await page.keyboard.press('?');
      await page.getByRole('heading', { name: say('header.help') }).waitFor();
      await looksRight();
      await page.keyboard.press('Escape');
      await use(page, button('header.clients', { n: 3 }));
      await page.getByRole('heading', { name: say('clients.title', { app: '9001' }) }).waitFor();
      await looksRight();
      await page.keyboard.press('Escape');

      await use(page, page.locator('.where-summary'));
      await use(page, page.getByLabel(say('asOf.label'), { exact: true }), 'ArrowDown');
      await page.getByLabel(say('asOf.input'), { exact: true }).waitFor();
      await value(say('asOf.input'), '20.03.2026');
      await page.getByText(say('asOf.bad')).waitFor();
      await looksRight();
      await use(page, page.getByLabel(say('asOf.label'), { exact: true }), 'ArrowUp');
      await use(page, page.getByRole('tab', { name: say('input.form') }), 'ArrowRight');
      await page.getByRole('textbox', { name: say('input.json.label') }).waitFor();
      await looksRight();
      await use(page, page.getByRole('tab', { name: say('input.json') }), 'ArrowLeft');

      // All visitors share one history: this one's runs are found by their uid.
      const uid = String(width * 10 + (language === 'en' ? 1 : 2));
      await value('uid', uid);
      await value('cost', '99');
      await page.keyboard.press('Control+Enter');
      await says(page.locator('.verdict'), /FALSE/);
      await looksRight();
      await use(page, page.locator('.timings > button'));
      await looksRight();
      await use(page, page.locator('.timings > button'));
      await part('details');
      for (const tab of ['changes', 'output', 'node', 'timeline', 'raw'] as const) {
        await page.getByRole('tab', { name: say(`details.${tab}`), selected: true }).waitFor();
        await looksRight();
        if (tab !== 'raw') await use(page, page.getByRole('tab', { name: say(`details.${tab}`) }), 'ArrowRight');
      }

      await part('input');
      await value('cost', '100');
      await page.keyboard.press('Control+Enter');
      await says(page.locator('.verdict'), /TRUE/);
      await part('input');
      await value('cost', '5');
      await part('result');
      await page.getByText(say('since.title')).waitFor();
      await looksRight();

      await use(page, page.getByRole('link', { name: say('nav.history') }));
      await value(say('history.filter.text'), `cost 99 uid ${uid}`);
      await expect.poll(() => page.locator('.history tbody tr').count()).toBe(1);
      await looksRight();
      await value(say('history.filter.text'), `uid ${uid}`);
      await expect.poll(() => page.locator('.history tbody tr').count()).toBe(2);
      for (const box of await page.locator('.history tbody input[type=checkbox]').all()) await use(page, box, 'Space');
      await use(page, button('history.compare'));
      await part('result');
      await page.locator('.compare-table').waitFor();
      await looksRight();
    },
  );
});

/** Puts the focus on something, which must be able to take it, and presses a key there. */
async function use(page: Page, element: Locator, key = 'Enter'): Promise<void> {
  await element.focus();
  expect(await element.evaluate((node) => node === document.activeElement)).toBe(true);
  await page.keyboard.press(key);
}
