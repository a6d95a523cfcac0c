import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { answersWith, createResponder, resultText } from '../../support/responder.ts';
import { describeInBrowser, useJourney } from '../support/journey.ts';
import { headline, pressRun, says } from '../support/on-the-page.ts';

describeInBrowser('a run is explained by the rules that it ran on', () => {
  const journey = useJourney();
  const notice = (page: Page) => page.locator('.rules-notice');
  const why = (page: Page) => page.locator('.result-panel');

  async function run(target = 'all'): Promise<Page> {
    const input = encodeURIComponent('{"uid":1,"cost":90}');
    const page = await journey.visit(`/?app=9001&rule=1&target=${target}#input=${input}`);
    await pressRun(page);
    await says(headline(page), /^Done on/);
    return page;
  }

  async function release(version: number, min: number): Promise<void> {
    const folder = join(journey.service.sharedDir, '9001');
    const path = join(folder, 'confs/2.json');
    const node = { ...JSON.parse(await readFile(path, 'utf8')), confField: `{"min":${min}}` };
    await writeFile(path, JSON.stringify(node));
    const update = JSON.stringify({ version, insertOrUpdateConfs: [node] });
    await mkdir(join(folder, 'versions'), { recursive: true });
    await writeFile(join(folder, `versions/${version}_upd.json`), update);
    await writeFile(join(folder, 'version.txt'), String(version));
  }

  const BEFORE = /cost is 90, min is 100\. It would be TRUE with cost of at least 100\./;

  test('before a release, right after it, and on clients that lag behind', async () => {
    const page = await run();
    expect(await notice(page).innerText()).toBe('');
    await says(why(page), BEFORE);
    const { json } = await journey.service.call('/rule-server/mock/executions?app=9001');
    const first = (await journey.service.call(`/rule-server/mock/executions/${json.items[0].mockId}`)).json;

    await release(2, 80);
    await page.reload();
    await says(headline(page), /^Done on/);
    await says(
      notice(page),
      /This run used version 1 of the rules\. You see them as they were; version 2 is released now\. 1 node is another one now: #2 /,
    );
    await says(why(page), BEFORE);

    const after = await run(`address:${first.address}`);
    expect(await notice(after).innerText()).toBe('');
    expect(await why(after).innerText()).not.toMatch(/min is 100/);

    const { sharedDir } = journey.service;
    const lagging = (address: string, members: object) => {
      const does = answersWith((request) => resultText(request, { process: first.result.process, ...members }));
      return createResponder({ sharedDir, app: 9001, address, does });
    };
    await using _silent = await lagging('says-nothing', {});
    const unknown = await run('address:says-nothing');
    await says(
      notice(unknown),
      /^When this run was sent, version 2 was released, and says-nothing had told that it has version 1\./,
    );
    expect(await why(unknown).innerText()).not.toMatch(/min is|It would be/);

    await using _open = await lagging('tells', { rules: { version: 1, digest: first.rules.digest } });
    const told = await run('address:tells');
    await says(
      notice(told),
      /This run used version 1 of the rules\. .+When it was sent, version 2 was released: tells had not loaded it yet\./s,
    );
    await says(why(told), BEFORE);

    await release(2, 70);
    await expect // the check of before is good for half a second
      .poll(async () => notice(await run('address:says-nothing')).innerText(), { timeout: 20_000 })
      .toMatch(/^The files of this rule had changed without a new version when this run was sent\./);
  });
});
