import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { describeInBrowser, useJourney } from '../support/journey.ts';
import { expectAccessible, headline, pressRun, says, toHistory } from '../support/on-the-page.ts';

describeInBrowser('a run as a file', () => {
  const journey = useJourney();
  const why = (page: Page) => page.locator('.result-panel .why');
  const notice = (page: Page) => page.locator('.file-notice');

  async function drop(page: Page, name: string, text: string): Promise<void> {
    const data = await page.evaluateHandle(
      ({ name, text }) => {
        const data = new DataTransfer();
        data.items.add(new File([text], name));
        return data;
      },
      { name, text },
    );
    await page.dispatchEvent('body', 'drop', { dataTransfer: data });
  }

  test('it is saved, opened by dropping it where the service knows nothing of it, and a change by hand is noticed', async () => {
    const page = await journey.visit(`/?app=9001&rule=1${INPUT}`);
    await pressRun(page);
    await says(headline(page), /^Done on/);
    await says(why(page), /Write it into the form/); // which is loaded later
    const reasons = await why(page).innerText();
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save this run' }).click();
    const download = await downloading;
    const name = download.suggestedFilename();
    const text = await readFile(await download.path(), 'utf8');
    const mockId = new URL(page.url()).searchParams.get('run') ?? '';
    expect([name, JSON.parse(text)]).toMatchObject([
      `run-${mockId.slice(0, 8)}.rule-run.json`,
      { execution: { mockId } },
    ]);
    const gone = await journey.service.call(`/rule-server/mock/executions/${mockId}?erase=true`, { method: 'DELETE' });
    expect(gone.json.state).toBe('erased');

    const other = await journey.visit('/?app=9001&rule=1');
    await drop(other, name, text);
    await says(notice(other), new RegExp(`are from the file ${name}`));
    await says(why(other), /Write it into the form/);
    expect(await why(other).innerText()).toBe(reasons);
    expect(await other.getByRole('button', { name: 'Save this run' }).count()).toBe(0);
    await expectAccessible(other);

    await drop(other, 'edited.json', text.replace('"cost": 90', '"cost": 99'));
    await says(notice(other), /edited\.json was changed after it was saved/);
    await expect.poll(() => decodeURIComponent(new URL(other.url()).hash)).toContain('"cost":99');
    await drop(other, 'other.json', '{"cost":1}');
    await says(other.locator('.news'), /other\.json is no saved run/);
    const cut = await journey.visit('/?app=9001&rule=1');
    await cut.route('**/run-files*.js', (route) => route.abort());
    await drop(cut, name, text);
    await says(cut.locator('.news'), /run-files/);
    await toHistory(other);
    await other
      .getByLabel('Open a saved run')
      .setInputFiles({ name, mimeType: 'application/json', buffer: Buffer.from(text) });
    await says(notice(other), new RegExp(`are from the file ${name}`));
  });

  test('a run without an answer is what its file says: the service is not asked whether one came later', async () => {
    const started = await journey.visit(`/?app=9001&rule=1${INPUT}`);
    await pressRun(started);
    await says(headline(started), /^Done on/);
    const mockId = new URL(started.url()).searchParams.get('run') ?? '';
    const { json } = await journey.service.call(`/rule-server/mock/executions/${mockId}?include=tree`);
    const ending = { status: 504, code: 'no-answer', reason: null, params: {}, mayHaveRun: true };
    const result = { success: false, error: 'No answer came. It may have run.' };
    const execution = { ...json, state: 'timed-out', result, outcome: null, ending };
    const file = {
      format: 'rule-server-run',
      formatVersion: 1,
      savedBy: 'a test',
      checksum: '',
      masked: [],
      missing: [],
    };

    const page = await journey.visit('/?app=9001&rule=1');
    await page.clock.install();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await drop(page, 'late.json', JSON.stringify({ ...file, execution }));
    await says(headline(page), /It may have run/);
    await drop(page, 'odd.json', JSON.stringify({ ...file, execution: { mockId } }));
    await says(page.locator('.news'), 'odd.json is no saved run.');
    await page.clock.runFor('01:00');
    await page.evaluate(() => fetch('/favicon.svg')); // what was asked before is known when this is
    expect(asked).toContain('/favicon.svg');
    expect(asked.filter((path) => path.includes(mockId))).toEqual([]);
  });

  test('beside the reason one asks since which version it is so, and what any other version would have said', async () => {
    for (const [version, min] of [90, 95].entries()) await release(version + 2, min);
    await eventually(async () => {
      const { json } = await journey.service.call('/rule-server/mock/clients?app=9001');
      expect(json.items.map(({ loadedVersion }: { loadedVersion: number }) => loadedVersion)).toContain(3);
    });
    const page = await journey.visit(`/?app=9001&rule=1${INPUT}`);
    await pressRun(page);
    await says(why(page), /cost is 90, min is 95/);
    await page.getByRole('button', { name: 'Since when?' }).click();
    const told = page.locator('.since-when');
    await says(told, /It comes to FALSE since version 3\.\s+Version 2: TRUE/);
    await says(told, /Version 3 changed #2 .*\(min 90 → 95\)\.[\s\S]*Versions looked at: 3, 2\./);
    await told.getByLabel('What would this version have said?').fill('1');
    await told.getByRole('button', { name: 'Compute' }).click();
    await says(told, /Version 1: (?!TRUE)/);
    await expectAccessible(page);
  });

  test('that is gone from the service is run again with the input of its file; a row of the history says that it is gone', async () => {
    const { call } = journey.service;
    const page = await journey.visit(`/?app=9001&rule=1${INPUT}`);
    await pressRun(page);
    await says(headline(page), /^Done on/);
    const mockId = new URL(page.url()).searchParams.get('run') ?? '';
    const { text } = await call(`/rule-server/mock/executions/${mockId}`);
    const head =
      '"format":"rule-server-run","formatVersion":1,"savedBy":"a test","checksum":"","masked":[],"missing":[]';
    await toHistory(page);
    const link = await page.locator('.history .row-link').first().getAttribute('aria-label');
    const row = page.locator('.history tbody tr', { has: page.getByRole('link', { name: link ?? '' }) });
    const again = row.getByRole('button', { name: 'Run the rule again for real with this input' });
    await page.route(`**/executions/${mockId}`, (route) => route.abort());
    await again.click();
    await says(page.locator('.news'), 'The service does not answer.');
    await page.unroute(`**/executions/${mockId}`);

    await release(4, 97);
    const other = await journey.visit('/?app=9001&rule=1');
    await drop(other, 'gone.json', `{${head},"execution":${text}}`);
    await says(notice(other), /gone\.json/);
    const onCurrent = other.getByRole('button', { name: 'Run this input again for real on the current rules' });
    await onCurrent.waitFor();
    await call(`/rule-server/mock/executions/${mockId}?erase=true`, { method: 'DELETE' });
    await onCurrent.click();
    await says(why(other), /cost is 90, min is 97/);
    await again.click();
    await says(page.locator('.news'), /There is no execution/);
  });

  async function release(version: number, min: number): Promise<void> {
    const folder = join(journey.service.sharedDir, '9001');
    const path = join(folder, 'confs/2.json');
    const node = { ...JSON.parse(await readFile(path, 'utf8')), confField: `{"min":${min}}` };
    await writeFile(path, JSON.stringify(node));
    await mkdir(join(folder, 'versions'), { recursive: true });
    const update = JSON.stringify({ version, insertOrUpdateConfs: [node] });
    await writeFile(join(folder, `versions/${version}_upd.json`), update);
    await writeFile(join(folder, 'version.txt'), String(version));
  }
});

const INPUT = `#input=${encodeURIComponent('{"uid":1,"cost":90}')}`;
