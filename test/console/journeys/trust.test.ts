import { expect, test } from 'vitest';
import { answersWith, createResponder, resultText } from '../../support/responder.ts';
import { describeInBrowser, useJourney } from '../support/journey.ts';
import {
  aim,
  expectAccessible,
  headline,
  hint,
  holds,
  picture,
  pressRun,
  runButton,
  says,
  toHistory,
  unfold,
} from '../support/on-the-page.ts';

describeInBrowser('what the console must never do', () => {
  const journey = useJourney();
  const calls = (page: Awaited<ReturnType<typeof journey.visit>>) => {
    const bodies: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().endsWith('/execute')) bodies.push(request.postData() ?? '');
    });
    return bodies;
  };

  test('a letter runs nothing: a key that was added has the focus, and is a text', async () => {
    const page = await journey.visit('/?app=9001&rule=1');
    await pressRun(page);
    await says(page.locator('.verdict'), /TRUE/);
    const sent = calls(page);
    await page.getByRole('button', { name: 'Add a key' }).click();
    await page.keyboard.type('colour');
    await page.keyboard.press('Enter');
    await page.keyboard.type('red');
    await holds(page.getByLabel('colour', { exact: true }), 'red');
    await page.locator('body').click({ position: { x: 700, y: 5 } });
    await page.keyboard.type('rrr');
    await page.waitForTimeout(300);
    expect(sent).toEqual([]);
    expect(await page.getByLabel('Type of colour').inputValue()).toBe('text');
    await pressRun(page);
    await expect.poll(() => sent[0] ?? '').toContain('"colour":"red"');
  });

  test('a result says that the input was changed since, and its link keeps its own input', async () => {
    const page = await journey.visit('/?app=9001&rule=1');
    await page.getByLabel('cost', { exact: true }).fill('100');
    await pressRun(page);
    await says(page.locator('.verdict'), /TRUE/);
    const link = page.url();
    await page.getByLabel('cost', { exact: true }).fill('5');
    await says(page.locator('.since'), /^Changed since this run: cost 100 → 5/);
    await picture(page, 'console-since');
    await expectAccessible(page);
    await page.waitForTimeout(400);
    expect(page.url()).toBe(link);

    const other = await journey.visit(link.slice(journey.service.url.length));
    await says(other.locator('.verdict'), /TRUE/);
    await holds(other.getByLabel('cost', { exact: true }), '100');
    expect(await other.locator('.since').count()).toBe(0);

    await page.getByRole('button', { name: 'Back to this run’s input' }).click();
    await holds(page.getByLabel('cost', { exact: true }), '100');
    await expect.poll(() => page.locator('.since').count()).toBe(0);
    await aim(page, 'Lane');
    await says(page.locator('.since'), /run on Any client \(trunk first\) → lane beta/);
  });

  test('the clock of the reader, an hour ahead or behind, changes nothing', async () => {
    for (const ahead of [3_600_000, -3_600_000]) {
      const page = await journey.visit('/favicon.svg');
      await page.clock.install({ time: Date.now() + ahead });
      await page.goto(`${journey.service.url}/?app=9001&rule=3#input=%7B%22uid%22%3A1%7D`);
      await pressRun(page);
      await says(page.locator('.waiting'), /At most (?:1\d|20) s more\./);
      await says(headline(page), /^Done on/);
      await says(page.locator('.about-run'), /^\d\d:\d\d:\d\d ·/); // today, without a date
      await toHistory(page);
      await page.locator('.history').getByLabel('Time').selectOption('hour');
      await expect.poll(() => page.locator('.history tbody tr').count()).toBeGreaterThan(0);
      await page.close();
    }
  });

  test('Back shows the run before with the input that it had', async () => {
    const page = await journey.visit('/?app=9001&rule=1');
    const cost = page.getByLabel('cost', { exact: true });
    await cost.fill('100');
    await pressRun(page);
    await says(page.locator('.verdict'), /TRUE/);
    await cost.fill('5');
    await pressRun(page);
    await says(page.locator('.verdict'), /FALSE/);
    await page.goBack();
    await says(page.locator('.verdict'), /TRUE/);
    await holds(cost, '100');
    expect(await page.locator('.since').count()).toBe(0);
  });

  test('a time that is none is not run, by button or by key; any ISO 8601 with an offset is one', async () => {
    const page = await journey.visit('/?app=9001&rule=1&ts=1772323200000');
    const sent = calls(page);
    await unfold(page);
    const time = page.getByLabel('Date and time', { exact: true });
    await time.fill('20.03.2026');
    await says(page.locator('#run-hint'), 'Correct the time under “As of” first.');
    expect(await runButton(page).getAttribute('aria-disabled')).toBe('true');
    await page.keyboard.press('Control+Enter');
    await page.waitForTimeout(300);
    expect(sent).toEqual([]);
    await expectAccessible(page);
    await time.fill('2026-03-20T18:00:00+08:00');
    await pressRun(page);
    await says(page.locator('.verdict'), /TRUE/);
    expect(sent[0]).toContain(`"ts":${Date.parse('2026-03-20T18:00:00+08:00')}`);
    await says(page.locator('.as-of-words'), /^as of Mar 20, 2026/);
  });

  test('a time of day is one of the time zone that is chosen', async () => {
    const page = await journey.visit('/?app=9001&rule=1');
    const sent = calls(page);
    await unfold(page);
    await page.getByLabel('As of', { exact: true }).selectOption('time');
    await page.getByLabel('Date and time', { exact: true }).fill('2026-11-20 18:00');
    await page.getByLabel('Time zone').selectOption('Asia/Shanghai');
    await says(page.locator('#as-of-words'), /^Friday, UTC\+08:00/);
    await pressRun(page);
    await expect.poll(() => sent[0] ?? '').toContain(`"ts":${Date.parse('2026-11-20T18:00:00+08:00')}`);
    await says(page.locator('.as-of-words'), /^as of Nov 20, 2026, 18:00:00 UTC\+08:00$/);
    await picture(page, 'console-as-of');
  });

  test('a call that was refused shows no earlier answer; that is one press away', async () => {
    const page = await journey.visit('/?app=9001&rule=1');
    await pressRun(page);
    await says(page.locator('.verdict'), /TRUE/);
    await page.route('**/execute', (route) =>
      route.fulfill({ status: 503, json: { code: 'no-worker', error: 'None.' } }),
    );
    await pressRun(page);
    await says(headline(page), 'The service refused the call.');
    expect(await page.locator('.verdict, .timings button, .tree-row .chip').count()).toBe(0);
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Show the run before' }).click();
    await says(page.locator('.verdict'), /TRUE/);
  });

  test('a node that Why names is seen below the head of the tree', async () => {
    const page = await journey.visit('/?app=9001&rule=1', { viewport: { width: 1440, height: 640 } });
    await page.getByLabel('cost', { exact: true }).fill('1');
    await pressRun(page);
    const box = await page.locator('.tree').boundingBox();
    const head = await page.locator('.tree-head').boundingBox();
    for (const row of ['spring bonus', 'campaign', 'spent 100 or more']) {
      await page.locator('.tree').focus();
      await page.keyboard.press(row === 'campaign' ? 'Home' : 'End');
      await page.locator('.why .node-link').first().click();
      const active = await page.locator('.tree-row.active').boundingBox();
      expect(active?.y).toBeGreaterThanOrEqual((head?.y ?? 0) + (head?.height ?? 0) - 1);
      expect((active?.y ?? 0) + (active?.height ?? 0)).toBeLessThanOrEqual((box?.y ?? 0) + (box?.height ?? 0) + 1);
    }
  });

  test('what a client wrote is read in the order in which it was written: characters that turn it around are shown as escapes', async () => {
    const TURNED = 'tsoc \u202e003 < 09\u202c, Berlin\u200b \u00a0Ulm';
    const does = answersWith((request) =>
      resultText(request, { success: false, error: TURNED, roam: { note: TURNED, [TURNED]: 1 } }),
    );
    const { sharedDir } = journey.service;
    await using _client = await createResponder({ sharedDir, app: 7, address: 'a-liar', does });
    const page = await journey.visit('/?app=7&rule=1&target=address:a-liar');
    await pressRun(page);
    await says(page.locator('body'), /tsoc \\u202e003 < 09\\u202c, Berlin\\u200b \\u00a0Ulm/);
    const seen = await page.locator('body').innerText();
    expect(seen).not.toMatch(/[\u202a-\u202e\u200b\u00a0]/);
    const named = page.locator('[title], [aria-label]');
    const names = await named.evaluateAll((all) =>
      all.map((one) => `${one.getAttribute('title')}${one.getAttribute('aria-label')}`),
    );
    expect(names.join('')).not.toMatch(/[\u202a-\u202e\u200b\u00a0]/);
  });

  test('a link without an input does not say that it has one', async () => {
    const page = await journey.visit('/?app=9001&rule=1&run=no-such-run');
    await says(headline(page), 'This run is no longer kept, or you have no access to it.');
    await says(hint(page), 'The link has no input. The form shows what was last typed for this rule.');
  });
});
