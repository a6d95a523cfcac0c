import type { BrowserContextOptions, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { answersWith, createResponder } from '../../support/responder.ts';
import { describeInBrowser, useJourney } from '../support/journey.ts';
import { writeLargeRule } from '../support/large-rule.ts';
import {
  expectAccessible,
  headline,
  holds,
  picture,
  pressRun,
  runButton,
  says,
  toHistory,
  unfold,
} from '../support/on-the-page.ts';

const phone: BrowserContextOptions = { viewport: { width: 390, height: 844 }, hasTouch: true };

/** Whether something is wider than the window. */
const overflows = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);

describeInBrowser('how the console looks', () => {
  const journey = useJourney();

  test('on a phone one part at a time: a run leads to its result, a node to its details', async () => {
    const page = await journey.visit('/?app=9001&rule=1', phone);
    await page.getByLabel('cost', { exact: true }).fill('99');
    await expectAccessible(page);
    await runButton(page).tap();
    await says(page.locator('.verdict'), /FALSE/);
    expect(await page.getByLabel('cost', { exact: true }).isVisible()).toBe(false);
    expect(await overflows(page)).toBe(false);
    await expectAccessible(page);
    await picture(page, 'console-390');
    await page.getByRole('row', { name: /^spent 100 or more/ }).tap();
    await page.getByRole('heading', { name: 'spent 100 or more #2' }).waitFor();
    await expectAccessible(page);
    await page.getByRole('link', { name: 'History', exact: true }).tap();
    await page.getByRole('table').waitFor();
    expect(await overflows(page)).toBe(false);
    await expectAccessible(page);
  });

  test.each([
    [1024, 768],
    [1440, 900],
  ])('at %i × %i everything is on the screen at once, in the dark too', async (width, height) => {
    const page = await journey.visit('/?app=9001&rule=1', { viewport: { width, height }, colorScheme: 'dark' });
    await page.getByLabel('cost', { exact: true }).waitFor();
    await pressRun(page);
    await says(page.locator('.verdict'), /TRUE/);
    expect(await overflows(page)).toBe(false);
    for (const part of ['.column.input', '.tree', '.column.details', '.views']) {
      expect(await page.locator(part).isVisible()).toBe(true);
    }
    await expectAccessible(page);
    if (width === 1024) await picture(page, 'console-dark-1024');
  });

  test('Chinese, from the browser; English is one press away and remembered', async () => {
    const page = await journey.visit('/?app=9001&rule=1', { locale: 'zh-CN' });
    await says(headline(page), '尚未运行');
    expect(await page.evaluate(() => document.documentElement.lang)).toBe('zh-CN');
    await holds(page.getByLabel('cost', { exact: true }), '100');
    await page.getByLabel('cost', { exact: true }).fill('99');
    await page.getByRole('button', { name: /^真实运行 / }).click();
    await says(headline(page), /^已在 .* 上完成$/);
    await says(page.locator('.why'), /^“spent 100 or more”\s?#2 为 FALSE/);
    await page.getByLabel('cost', { exact: true }).fill('120');
    await page.getByRole('button', { name: /^真实运行 / }).click();
    await says(page.locator('.writers').first(), /^改变者：\s*#\d+$/);
    await expectAccessible(page);
    await picture(page, 'console-zh');
    await page.getByRole('button', { name: 'EN', exact: true }).click();
    await says(headline(page), /^Done on/);
    await page.reload();
    await says(headline(page), /^Done on/);
  });

  test('light and dark follow the system until somebody chooses', async () => {
    const page = await journey.visit('/', { colorScheme: 'dark' });
    const background = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    const dark = await background();
    await page.getByRole('button', { name: 'Colours: as the system' }).click();
    const light = await background();
    expect(light).not.toBe(dark);
    await page.reload();
    await page.getByRole('button', { name: 'Colours: light' }).waitFor();
    expect(await background()).toBe(light);
  });

  test('nothing moves while it loads, when a run ends, or when an earlier one is opened', async () => {
    await journey.service.execute({ app: 9001, ruleId: 1, 'the service': { cost: 120, uid: 1, city: 'Rome' } });
    const page = await journey.visit('/?app=9001&rule=1');
    await page.evaluate(() => {
      const shifts: { value: number; sources: string[] }[] = [];
      Object.assign(window, { shifts });
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) {
          const sources = Reflect.get(entry, 'sources') ?? [];
          shifts.push({
            value: Number(Reflect.get(entry, 'value')),
            sources: Array.from(sources, (source) => {
              const { node, previousRect: from, currentRect: to } = Object(source);
              return `${node?.className}: ${[from, to].map(({ x, y, width, height }) => [x, y, width, height]).join(' to ')}`;
            }),
          });
        }
      }).observe({ type: 'layout-shift', buffered: true });
    });
    await page.getByLabel('cost', { exact: true }).waitFor();
    await page.locator('.tree-row').nth(8).waitFor();
    const topOfTree = () => page.locator('.tree').evaluate((tree) => tree.getBoundingClientRect().top);
    const before = await topOfTree();
    await pressRun(page);
    await says(page.locator('.verdict'), /TRUE/);
    // What a run changes is drawn by the second frame.
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    expect(Math.abs((await topOfTree()) - before)).toBeLessThanOrEqual(1);
    await toHistory(page);
    await page.locator('.history .row-link').nth(1).click();
    // Four lines: the most that the room for the reason has.
    await says(page.locator('.why'), /city is "Rome"[\s\S]*Write it into the form/);
    expect(Math.abs((await topOfTree()) - before)).toBeLessThanOrEqual(1);
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    const shifts = await page.evaluate(() => Reflect.get(window, 'shifts'));
    const sum = shifts.reduce((total: number, { value }: { value: number }) => total + value, 0);
    // The node that decided has a second line, so the nodes after it move; 0.1 is what a reader does not notice (Web Vitals, CLS).
    expect(sum, JSON.stringify(shifts)).toBeLessThan(0.1);
  });

  test.each(['Form', 'JSON'])(
    'as %s, no field moves when it is typed into, or when the first key replaces the example',
    async (view) => {
      const page = await journey.visit('/?app=9001&rule=1');
      await holds(page.getByLabel('cost', { exact: true }), '100');
      await page.getByRole('tab', { name: view }).click();
      const field =
        view === 'JSON'
          ? page.getByRole('textbox', { name: 'Input as JSON' })
          : page.getByLabel('uid', { exact: true });
      await field.waitFor();
      const place = async () => {
        const box = await field.boundingBox();
        return [box?.x, box?.y];
      };
      const before = await place();
      for (const typed of [
        view === 'JSON' ? '{"uid": 1}' : '1',
        view === 'JSON' ? '{"uid"' : '1x',
        view === 'JSON' ? '{}' : '',
      ]) {
        // As a person does: `fill` lets the browser edit on its own, which no key does.
        await field.press('ControlOrMeta+a');
        await (typed === '' ? field.press('Delete') : page.keyboard.type(typed));
        expect(await place(), typed).toEqual(before);
      }
      const time = page.getByLabel('Date and time', { exact: true });
      await unfold(page);
      await page.getByLabel('As of', { exact: true }).selectOption('time');
      const [, top] = [0, (await time.boundingBox())?.y];
      await time.fill('2026');
      await time.fill('2026-03-20 18:00');
      expect((await time.boundingBox())?.y).toBe(top);
    },
  );
});

describeInBrowser('the console with very much to show', () => {
  const app = 9500;
  const journey = useJourney({ demo: false });

  test('a tree of 500 nodes and an output of a megabyte stay fluent', async () => {
    const { sharedDir } = journey.service;
    const trace = await writeLargeRule(sharedDir, app);
    const data = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, index) => [`key${index}`, `value number ${index}, and a little more`]),
    );
    await using _client = await createResponder({
      sharedDir,
      app,
      does: answersWith(
        ({ mockId }) =>
          `{"mockId":"${mockId}","success":true,"the service":${JSON.stringify(data)},"process":"${trace}","error":null,"executeAt":1}`,
      ),
    });
    const page = await journey.visit(`/?app=${app}&rule=1#input=%7B%7D`);
    await page.locator('.tree-row').nth(5).waitFor();
    await pressRun(page);
    await says(page.locator('.verdict'), /TRUE/);
    await page.getByRole('button', { name: 'Expand all' }).click();
    expect(await page.locator('.tree-row').count()).toBeLessThan(80);
    expect(Number(await page.getByRole('treegrid').getAttribute('aria-rowcount'))).toBe(502);

    await page.getByRole('treegrid').focus();
    await page.keyboard.press('End');
    await page.getByText('check 618', { exact: true }).waitFor();
    await page.getByRole('searchbox', { name: 'Search nodes' }).fill('check 345');
    await expect
      .poll(() => page.locator('.tree-row .node-name').allTextContents())
      .toEqual(['everything', 'group 24', 'check 345']);
    await expectAccessible(page);

    await page.getByRole('tab', { name: 'Output' }).click();
    const output = page.getByRole('region', { name: /^Output, 20,?002 lines$/ });
    await output.waitFor();
    expect(await page.locator('.json-line').count()).toBeLessThan(120);
    await output.evaluate((box) => box.scrollTo(0, box.scrollHeight));
    await page.getByText('value number 19999').waitFor();
    // What scrolling costs is what it draws: never more than a screenful, wherever one is.
    for (const line of [0, 5000, 12_345, 19_000]) {
      await output.evaluate((box, top) => box.scrollTo(0, top), line * 20);
      await page.getByText(`value number ${line}, and`, { exact: false }).first().waitFor();
      expect(await page.locator('.json-line').count()).toBeLessThan(120);
    }
    await page.getByRole('tab', { name: 'Raw' }).click();
    await page.getByRole('region', { name: 'Result as the client wrote it' }).waitFor();
    expect(await page.locator('.raw-text.long > div > div').count()).toBeLessThan(120);
    await page.getByRole('tab', { name: 'Changes' }).click();
    await page.getByText('18,000 more differences are not listed').waitFor();
    await holds(page.getByRole('searchbox', { name: 'Search nodes' }), 'check 345');
  });

  test('a timeline that only the second run has is drawn as far as it is scrolled', async () => {
    const { sharedDir } = journey.service;
    const process = await writeLargeRule(sharedDir, app);
    const step = (nodeId: number, parent: number | null, start: number) => ({
      ...{ nodeId, parent, role: parent === null ? 'root' : 'child', outcome: 'TRUE', start, ms: 1 },
    });
    const groups = Array.from({ length: 50 }, (_, index) => step(index + 2, 0, index + 1));
    const leaves = Array.from({ length: 9 }, (_, index) => step(510 + index, 40, 60 + index));
    const traces = [{ process }, { steps: [step(1, null, 0), ...groups, ...leaves] }];
    await using client = await createResponder({
      sharedDir,
      app,
      does: answersWith(({ mockId }) =>
        JSON.stringify({ mockId, success: true, 'the service': {}, ...traces.shift(), error: null, executeAt: 1 }),
      ),
    });
    // A client of the test before may still be registered.
    const page = await journey.visit(`/?app=${app}&rule=1&target=address:${client.address}#input=%7B%7D`);
    await page.locator('.tree-row').nth(5).waitFor();
    await page.getByRole('tab', { name: 'Timeline' }).click();
    await pressRun(page);
    await page.getByText('does not say when each node began').waitFor();
    await pressRun(page);
    const timeline = page.locator('.timeline');
    await timeline.waitFor();
    await timeline.evaluate((box) => box.scrollTo(0, box.scrollHeight));
    await timeline.getByText('check 518', { exact: false }).waitFor();
  });
});
