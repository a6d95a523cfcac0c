import { writeFile } from 'node:fs/promises';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, test } from 'vitest';
import { startDemoClient } from '../../../src/client/demo.ts';
import { answers, createResponder, errs, picksUpAndStaysSilent, staysSilent } from '../../support/responder.ts';
import { createRuleFiles } from '../../support/rule-files.ts';
import { describeInBrowser, useJourney } from '../support/journey.ts';
import { expectRightLooks } from '../support/looks-right.ts';
import { picture, toHistory } from '../support/on-the-page.ts';

const RULE = '/?app=9001&rule=1';
const DEPTH = 60;
const CSV = 'name,uid,cost\nenough,1,120\ntoo little,2,80\nblocked,13,150\n';

const deepTrace = Array.from({ length: DEPTH }, (_, level) =>
  level === 0 ? `[${100 + DEPTH}:Score:F:0]` : `[${100 + DEPTH - level}:And:F:1]`,
).join('');

type Look = BrowserContextOptions & { name: string };
const wide = { width: 1440, height: 900 };
const looks: Look[] = [
  { name: '1440', viewport: wide },
  { name: 'zh', viewport: wide, locale: 'zh-CN' },
  { name: 'dark', viewport: wide, colorScheme: 'dark' },
  { name: '1024', viewport: { width: 1024, height: 768 } },
  { name: '390', viewport: { width: 390, height: 844 } },
];
/** The states that have most to say. */
const inChinese = new Set(['false', 'waiting', 'history', 'results', 'compare', 'release']);

/** All looks for the pictures of docs/images; else the first, and where most is said the second. */
function looksOf(state: string): Look[] {
  if (process.env.SCREENSHOTS === '1') return looks;
  return looks.slice(0, inChinese.has(state) ? 2 : 1);
}

describeInBrowser('every state of the console', () => {
  let files: Awaited<ReturnType<typeof createRuleFiles>>;
  let demo: Awaited<ReturnType<typeof startDemoClient>>;
  afterAll(async () => {
    await demo?.close();
    await files?.remove();
  });
  const journey = useJourney(async () => {
    files = await createRuleFiles();
    await files.write('1', 7, 'version.txt');
    await files.rule(1, '"name":"gate","confId":1');
    await files.node(1, '"type":1,"name":"all of it","sonIds":"2,3"');
    await files.node(2, '"type":5,"name":"score","confName":"com.sample.Score"');
    await files.node(3, '"type":6,"name":"give","confName":"com.sample.Give"');
    await files.rule(2, '"name":"a deep one","confId":101');
    for (let level = 1; level < DEPTH; level++)
      await files.node(100 + level, `"type":1,"name":"level ${level} of a deep tree","sonIds":"${101 + level}"`);
    await files.node(100 + DEPTH, '"type":5,"name":"the last condition of all","confName":"com.sample.Score"');
    await files.write('{"id":7,"name":"Gift shop"}', 'apps', '7.json');
    demo = await startDemoClient({ sharedDir: files.sharedDir, onError: () => {} });
    const settings = { RESULT_TIMEOUT_MS: 5000, CLIENT_TIMEOUT_MS: 60_000, QUEUE_TIMEOUT_MS: 5000 };
    return { demo: false, sharedDir: files.sharedDir, settings };
  });

  /** A client of app 7 that does this; the page is of its rule 1. */
  async function withClient(does: Parameters<typeof createResponder>[0]['does'], shows: () => Promise<void>) {
    await using _client = await createResponder({ sharedDir: files.sharedDir, app: 7, address: 'orders-1', does });
    await shows();
  }
  const open = async (page: Page, path: string) => {
    await page.goto(journey.service.url + path);
    await page.locator('.views').waitFor();
  };
  const run = async (page: Page, path: string) => {
    await open(page, path);
    await page.locator('.run-bar .primary[aria-disabled=false]').click();
  };
  const ended = (page: Page) => page.locator('.headline:is(.good, .bad, .warn, .calm) .timings > button').waitFor();

  const states: Record<string, (page: Page, seen: () => Promise<void>) => Promise<void>> = {
    async idle(page, seen) {
      await open(page, RULE);
      await page.getByLabel('cost', { exact: true }).waitFor();
      await seen();
    },
    async true(page, seen) {
      await run(page, `${RULE}#input=${encodeURIComponent('{"uid":1,"cost":120.50,"city":"Berlin","level":3}')}`);
      await ended(page);
      await seen();
    },
    async false(page, seen) {
      await run(page, `${RULE}#input=${encodeURIComponent('{"uid":1,"cost":99.50}')}`);
      await ended(page);
      await seen();
    },
    async unfolded(page, seen) {
      await open(page, `${RULE}&ts=1772323200000`);
      const summary = page.locator('.where-summary');
      await summary.waitFor();
      if ((await summary.getAttribute('aria-expanded')) === 'false') await summary.click();
      await seen();
      await summary.click();
    },
    async failed(page, seen) {
      await run(page, `/?app=9001&rule=4#input=${encodeURIComponent('{"cost":120}')}`);
      await ended(page);
      await seen();
    },
    waiting: (page, seen) =>
      withClient(picksUpAndStaysSilent, async () => {
        await run(page, '/?app=7&rule=1&target=address:orders-1#input=%7B%7D');
        await page.locator('.waiting progress').waitFor();
        await seen();
        await page.keyboard.press('Escape');
        await ended(page);
      }),
    silent: (page, seen) =>
      withClient(staysSilent, async () => {
        await run(page, '/?app=7&rule=1&target=address:orders-1#input=%7B%7D');
        await page.locator('.headline.bad, .headline.warn').waitFor({ timeout: 30_000 });
        await seen();
      }),
    unusable: (page, seen) =>
      withClient(
        ({ resultPath }) => writeFile(resultPath, 'garbage, not JSON'),
        async () => {
          await run(page, '/?app=7&rule=1&target=address:orders-1#input=%7B%7D');
          await page.locator('.headline.bad, .headline.warn').waitFor({ timeout: 30_000 });
          await seen();
        },
      ),
    threw: (page, seen) =>
      withClient(errs('the card service refused 120'), async () => {
        await run(page, '/?app=7&rule=1&target=address:orders-1#input=%7B%7D');
        await ended(page);
        await seen();
      }),
    async nobody(page, seen) {
      await run(page, '/?app=7&rule=1&target=lane:nowhere#input=%7B%7D');
      await page.locator('.headline.warn').waitFor();
      await seen();
    },
    deep: (page, seen) =>
      withClient(answers({ process: deepTrace }), async () => {
        await run(page, '/?app=7&rule=2#input=%7B%7D');
        await ended(page);
        await page.getByRole('treegrid').evaluate((tree) => tree.scrollTo(0, tree.scrollHeight));
        await page.getByText('the last condition of all').first().waitFor();
        await seen();
      }),
    async compare(page, seen) {
      await run(page, `${RULE}&target=each#input=${encodeURIComponent('{"uid":1,"cost":120}')}`);
      await page.locator('.compare-table').waitFor();
      await seen();
    },
    async timeline(page, seen) {
      await run(page, `${RULE}#input=${encodeURIComponent('{"uid":1,"cost":120}')}`);
      await ended(page);
      const details = page.getByRole('link', { name: /^(Details|详情)$/ });
      if (await details.isVisible()) await details.click();
      await page.getByRole('tab', { name: /^(Timeline|时间线)$/ }).click();
      await page.locator('.timeline li').nth(3).waitFor();
      await seen();
    },
    async history(page, seen) {
      await open(page, RULE);
      await toHistory(page);
      await page.locator('.history tbody tr').nth(2).waitFor();
      await seen();
    },
    async cases(page, seen) {
      await open(page, `${RULE}&panel=tests`);
      await page.locator('.results-head').waitFor();
      await seen();
    },
    async inputs(page, seen) {
      await open(page, `${RULE}&panel=tests&of=inputs`);
      await page.locator('.inputs-source textarea').fill(CSV);
      await page.locator('.inputs-preview td').first().waitFor();
      await seen();
    },
    async results(page, seen) {
      await open(page, `${RULE}&panel=tests&of=inputs`);
      await page.locator('.inputs-source textarea').fill(CSV);
      await page.locator('.start-batch .primary[aria-disabled=false]').click();
      await page.locator('.answers', { hasText: /FALSE/ }).waitFor();
      await page.locator('.batch-words strong', { hasText: /^3 / }).waitFor();
      await seen();
    },
    async opened(page, seen) {
      await open(page, `${RULE}&panel=tests&of=inputs`);
      await page.locator('.inputs-source textarea').fill(CSV);
      await page.locator('.start-batch .primary[aria-disabled=false]').click();
      await page.locator('.results .result-cell', { hasText: 'FALSE' }).first().click();
      await page.locator('.case-head').waitFor({ state: 'attached' });
      await page.locator('.verdict').first().waitFor({ state: 'attached' });
      await seen();
    },
    async replay(page, seen) {
      await open(page, `${RULE}&panel=tests&of=runs`);
      await page.locator('.replay').waitFor();
      await seen();
    },
    async release(page, seen) {
      await open(page, `${RULE}&panel=ship`);
      await page.locator('.release-table tbody tr').nth(3).waitFor();
      await seen();
    },
    async find(page, seen) {
      await open(page, RULE);
      await page.getByLabel('cost', { exact: true }).waitFor();
      await page.keyboard.press('Control+k');
      await page.locator('.finder input').fill('co');
      await page.locator('.finder .option').first().waitFor();
      await seen();
      await page.keyboard.press('Escape');
      await page.keyboard.press('Escape');
    },
  };

  test.each(Object.keys(states))('%s', async (name) => {
    for (const { name: look, ...context } of looksOf(name)) {
      const page = await journey.visit(RULE, context);
      await states[name]?.(page, async () => {
        await page.mouse.move(0, 0);
        await expectRightLooks(page);
        await picture(page, `states/${name}-${look}`);
      });
      await page.close();
    }
  });
});
