import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { answersWith, type Behaviour, createResponder, resultText } from '../../support/responder.ts';
import { describeInBrowser, useJourney } from '../support/journey.ts';
import { expectAccessible, headline, pressRun, says } from '../support/on-the-page.ts';

describeInBrowser('a run is explained by the rules that it ran on', () => {
  const journey = useJourney();
  const notice = (page: Page) => page.locator('.rules-notice');
  const why = (page: Page) => page.locator('.result-panel');

  /** Without a target it runs on the demo's client: the others of a test may have stopped, and still count as online. */
  async function run(target?: string): Promise<Page> {
    const page = await journey.visit(`/?app=9001&rule=1&target=${target ?? (await demo())}${INPUT}`);
    await pressRun(page);
    await says(headline(page), /^Done on/);
    return page;
  }

  let known: string | null = null;
  async function demo(): Promise<string> {
    const { json } = await journey.service.call('/rule-server/mock/clients?app=9001');
    known ??= `address:${json.items[0].address}`;
    return known;
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

  const BEFORE = /cost is 90, min is 100\.[\s\S]* The result would be TRUE with cost = 100/;

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
      /This run used version 1 of the rules\. You see them as they were; version 2 is released now\. 1 change since: #2 .+ \(min 100 → 80\)\./,
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
      /^When this run was sent, the released version was 2, but says-nothing had reported version 1\./,
    );
    expect(await why(unknown).innerText()).not.toMatch(/min is|It would be/);

    await using _open = await lagging('tells', { rules: { version: 1, digest: first.rules.digest } });
    const told = await run('address:tells');
    await says(
      notice(told),
      /This run used version 1 of the rules\. .+The released version was already 2, but tells had not loaded it yet\./s,
    );
    await says(why(told), BEFORE);

    await release(2, 70);
    await expect // the check of before is good for half a second
      .poll(async () => notice(await run('address:says-nothing')).innerText(), { timeout: 60_000 })
      .toMatch(/^The files of this rule had changed without a new version when this run was sent\./);
  });

  test('one that a release overtook, on a client that does not say what it ran, has no settings and says so above the reason', async () => {
    await release(3, 100);
    await run();
    const { sharedDir, call } = journey.service;
    const { json } = await call('/rule-server/mock/executions?app=9001');
    const { result } = (await call(`/rule-server/mock/executions/${json.items[0].mockId}`)).json;
    const released = Promise.withResolvers<void>();
    const does: Behaviour = async (request) => {
      await request.pickUp();
      await released.promise;
      await request.answer(resultText(request, { process: result.process }));
    };
    await using silent = await createResponder({ sharedDir, app: 9001, address: 'overtaken', does });
    await silent.hasLoaded(3);
    const page = await journey.visit(`/?app=9001&rule=1&target=address:overtaken${INPUT}`);
    await pressRun(page);
    await silent.firstRequest();
    await release(4, 95);
    released.resolve();
    await says(headline(page), /^Done on/);
    await says(
      notice(page),
      /^Another version was released before overtaken answered, .+: version 3 or the newer one\. The tree is shown without settings\.$/,
    );
    const reason = page.locator('.result-panel .reason').first();
    await says(reason, /spent 100 or more/);
    expect(await why(page).innerText()).not.toMatch(/min is|It would be/);
    expect(await lowest(notice(page))).toBeLessThanOrEqual(await highest(reason));
  });

  test('one on a page that was open before the release is never explained by the rules of before', async () => {
    await release(5, 100);
    const page = await run();
    await says(why(page), BEFORE);
    const before = runOn(page);
    const seen = await watchRuns(page);
    await release(6, 95);
    await pressRun(page);
    await expect.poll(() => runOn(page), { timeout: 60_000 }).not.toBe(before);
    await says(headline(page), /^Done on/);
    await says(why(page), /cost is 90, min is 95\.[\s\S]* The result would be TRUE with cost = 95/);
    expect(await notice(page).innerText()).toBe('');
    const ofNew = (await seen()).filter(({ run }) => run !== null && run !== before);
    expect(ofNew.at(-1)?.reason).toMatch(/min is 95/);
    expect(ofNew.filter(({ reason }) => /min is 100|at least 100/.test(reason))).toEqual([]);
    expect(ofNew.filter(({ notice }) => /version/.test(notice))).toEqual([]);
  });

  test('an edit that is not released is marked in the tree, with both values', async () => {
    const folder = join(journey.service.sharedDir, '9001');
    const node = JSON.parse(await readFile(join(folder, 'confs/2.json'), 'utf8'));
    await mkdir(join(folder, 'updates/1'), { recursive: true });
    const edit = { ...node, id: 77, iceId: 1, confId: 2, confField: '{"min":130}' };
    await writeFile(join(folder, 'updates/1/2.json'), JSON.stringify(edit));
    const page = await journey.visit('/?app=9001&rule=1');
    await says(page.locator('.edits'), /^1 edit is not released: #2 .+ \(min \d+ → 130\)\./);
    await says(page.locator('.tree-row', { hasText: '#2' }).locator('.edited'), 'edited');
    await expectAccessible(page);
  });
});

const INPUT = `#input=${encodeURIComponent('{"uid":1,"cost":90}')}`;

const runOn = (page: Page) => new URL(page.url()).searchParams.get('run');
const lowest = async (element: Locator) => {
  const box = await element.boundingBox();
  return box ? box.y + box.height : Number.NaN;
};
const highest = async (element: Locator) => (await element.boundingBox())?.y ?? Number.NaN;

/** Notes what the page says of a run at every change of it, from now on; the reason of the last one fades while the next one runs. */
async function watchRuns(page: Page) {
  await page.evaluate(() => {
    const seen: { run: string | null; reason: string; notice: string }[] = [];
    const textOf = (selector: string) => document.querySelector<HTMLElement>(selector)?.innerText ?? '';
    const note = () => {
      const run = new URL(location.href).searchParams.get('run');
      seen.push({ run, reason: textOf('.why:not(.stale)'), notice: textOf('.rules-notice') });
    };
    new MutationObserver(note).observe(document.body, { subtree: true, childList: true, characterData: true });
    Object.assign(window, { seen });
  });
  return () =>
    page.evaluate((): { run: string | null; reason: string; notice: string }[] => Reflect.get(window, 'seen'));
}
