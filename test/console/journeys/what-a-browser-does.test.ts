import type { CDPSession } from 'playwright-core';
import { expect, test } from 'vitest';
import { describeInBrowser, startVisitors, useJourney } from '../support/journey.ts';
import { headline, holds, pressRun, says, toHistory, unfold } from '../support/on-the-page.ts';

const RULE = '/?app=9001&rule=1';

describeInBrowser('what a browser does with the page', () => {
  const journey = useJourney();

  test('a time zone that the browser does not know is UTC, which is said, also after a reload', async () => {
    const visitors = await startVisitors(journey.service.url, { TZ: 'Etc/Unknown' });
    const page = await visitors.visit(RULE);
    expect(await page.evaluate(() => new Intl.DateTimeFormat().resolvedOptions().timeZone)).toBe('Etc/Unknown');
    await pressRun(page);
    await says(headline(page), /^Done on/);
    await page.reload();
    await says(headline(page), /^Done on/);
    await says(page.locator('.greeting').first(), /“Etc\/Unknown”.* UTC\./);
    await unfold(page);
    await page.getByLabel('As of', { exact: true }).selectOption('Another time');
    await holds(page.getByLabel('Time zone'), 'UTC');
    await toHistory(page);
    await says(page.locator('.history th.time'), 'Time UTC');
    await visitors.close();
  });

  test('one clock: times are those of the zone that is chosen, and each moment of a rule names its offset', async () => {
    const page = await journey.visit(`${RULE}&ts=1774000800000`, { timezoneId: 'America/New_York' });
    await unfold(page);
    await page.getByLabel('Time zone').selectOption('Asia/Shanghai');
    await pressRun(page);
    await says(page.locator('.as-of-words'), 'as of Mar 20, 2026, 18:00:00 UTC+08:00');
    const { json } = await journey.service.call('/rule-server/mock/executions?app=9001&limit=1');
    const at = (zone: string) =>
      new Date(json.items[0].history[0].at).toLocaleTimeString('en-GB', { timeZone: zone, hour12: false });
    await says(page.locator('.about-run'), new RegExp(`^${at('Asia/Shanghai')} Asia/Shanghai ·`));
    await toHistory(page);
    const row = page.locator('.history tbody tr').first();
    await says(row, new RegExp(`${at('Asia/Shanghai')}.*as of Mar 20, 2026, 18:00:00 UTC\\+08:00`, 's'));
  });

  test.each(['moved into elements of others', 'exchanged for those of others'])(
    'a run is shown though the texts of the page were %s',
    async (how) => {
      const page = await journey.visit(RULE);
      await page.getByLabel('cost', { exact: true }).fill('99');
      await pressRun(page);
      await says(page.locator('.verdict'), /FALSE/);
      await page.getByLabel('cost', { exact: true }).fill('120');
      await page.evaluate(translate, how.startsWith('exchanged'));
      await page.keyboard.press('Control+Enter');
      await page.locator('.verdict .chip', { hasText: 'TRUE' }).waitFor();
      await says(headline(page), /^Done on/);
    },
  );

  test('earlier runs are read and kept as cases though each text of the page is moved as it comes', async () => {
    await journey.service.execute({ app: 9001, ruleId: 1, 'the service': { cost: 99 } });
    const page = await journey.visit(`${RULE}&panel=tests&of=runs`);
    await page.addInitScript(`setInterval(() => document.body && (${translate})(false), 10)`);
    await page.reload();
    await page.getByRole('button', { name: 'Read the runs' }).click();
    await page.getByRole('button', { name: /^Save \d+ cases?/ }).click();
    await says(page.locator('.replay'), /\d+ cases? (is|are) saved\./);
  });

  test('what an input method composes is left alone until it ends, and its Enter is its own', async () => {
    const page = await journey.visit(`${RULE}&panel=history`);
    const field = page.getByRole('searchbox', { name: /Input \(uid=42\)/ });
    await field.fill('city=');
    const method = await page.context().newCDPSession(page);
    await compose(method, 'bei jing');
    await holds(field, 'city=bei jing');
    await enterOf(method);
    await holds(field, 'city=bei jing');
    expect(await page.locator('.search-field .chip').count()).toBe(0);
    await method.send('Input.insertText', { text: '北京' });
    await holds(field, 'city=北京');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Remove city=北京 from the search' }).waitFor();

    await page.goto(`${journey.service.url}${RULE}`);
    await page.locator('.run-bar .primary[aria-disabled=false]').waitFor();
    const rule = page.getByRole('combobox', { name: 'Rule' });
    const chosen = await rule.inputValue();
    await rule.click();
    await compose(method, 'payment');
    await enterOf(method);
    expect(await rule.getAttribute('aria-expanded')).toBe('true');
    await method.send('Input.insertText', { text: 'payment' }); // the composition ends
    await page.keyboard.press('Escape');
    await holds(rule, chosen);
  });
});

const compose = (method: CDPSession, text: string) =>
  method.send('Input.imeSetComposition', { text, selectionStart: text.length, selectionEnd: text.length });

/** Enter as it comes while an input method is at work. */
const enterOf = (method: CDPSession) =>
  method.send('Input.dispatchKeyEvent', { type: 'rawKeyDown', key: 'Enter', windowsVirtualKeyCode: 229 });

/** Does to the texts of the page what translations do: wraps each, or puts a text of its own into its place. */
function translate(exchanged: boolean): void {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const texts: Node[] = [];
  while (walker.nextNode()) texts.push(walker.currentNode);
  for (const text of texts) {
    if (text.parentElement?.closest('script, noscript, font') || !text.textContent?.trim()) continue;
    const font = document.createElement('font');
    text.parentNode?.replaceChild(font, text);
    font.append(exchanged ? document.createTextNode(text.textContent) : text);
  }
}
