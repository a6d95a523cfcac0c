import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
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
    await says(why(page), /cost is 90, min is 100/);
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
    await says(why(other), /cost is 90, min is 100/);
    expect(await why(other).innerText()).toBe(reasons);
    expect(await other.getByRole('button', { name: 'Save this run' }).count()).toBe(0);
    await expectAccessible(other);

    await drop(other, 'edited.json', text.replace('"cost": 90', '"cost": 99'));
    await says(notice(other), /edited\.json was changed after it was saved/);
    await drop(other, 'other.json', '{"cost":1}');
    await says(other.locator('.news'), /other\.json is no saved run/);
    await toHistory(other);
    await other
      .getByLabel('Open a saved run')
      .setInputFiles({ name, mimeType: 'application/json', buffer: Buffer.from(text) });
    await says(notice(other), new RegExp(`are from the file ${name}`));
  });
});

const INPUT = `#input=${encodeURIComponent('{"uid":1,"cost":90}')}`;
