import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { describeInBrowser, useJourney } from '../support/journey.ts';
import { headline, pressRun, says } from '../support/on-the-page.ts';

describeInBrowser('a run is explained by the rules that it ran on', () => {
  const journey = useJourney();
  const notice = (page: Page) => page.locator('.rules-notice');
  const why = (page: Page) => page.locator('.result-panel');

  async function run(): Promise<Page> {
    const input = encodeURIComponent('{"uid":1,"cost":90}');
    const page = await journey.visit(`/?app=9001&rule=1#input=${input}`);
    await pressRun(page);
    await says(headline(page), /^Done on/);
    return page;
  }

  async function release(version: number, min: number): Promise<void> {
    const folder = join(journey.service.sharedDir, '9001');
    const path = join(folder, 'confs/2.json');
    const node: object = JSON.parse(await readFile(path, 'utf8'));
    await writeFile(path, JSON.stringify({ ...node, confField: `{"min":${min}}` }));
    await writeFile(join(folder, 'version.txt'), String(version));
  }

  test('before a release, over it, on a client that lags behind, and after it', async () => {
    const page = await run();
    expect(await notice(page).innerText()).toBe('');
    await says(why(page), /cost is 90, min is 100\. It would be TRUE with cost of at least 100\./);

    await release(2, 80);
    const lagging = await run();
    await page.reload();
    await says(headline(page), /^Done on/);
    await says(
      notice(page),
      /This run used version 1 of the rules\. You see them as they were; version 2 is released now\. 1 node is another one now: #2 /,
    );
    await says(why(page), /cost is 90, min is 100\. It would be TRUE with cost of at least 100\./);

    await says(
      notice(lagging),
      /^When this run was sent, version 2 was released, and .+ had told that it has version 1\./,
    );
    expect(await why(lagging).innerText()).not.toMatch(/min is|It would be/);

    const hasLoaded = async () => {
      const { json } = await journey.service.call('/rule-server/mock/clients?app=9001');
      return json.clients.map(({ loadedVersion }: { loadedVersion: number }) => loadedVersion);
    };
    await expect.poll(hasLoaded, { timeout: 60_000 }).not.toContain(1);
    const after = await run();
    expect(await notice(after).innerText()).toBe('');
    expect(await why(after).innerText()).not.toMatch(/min is 100/);
  });
});
