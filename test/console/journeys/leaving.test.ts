import type { Page } from 'playwright-core';
import { afterAll, describe, expect, test } from 'vitest';
import { freePort } from '../../support/free-port.ts';
import { createResponder, picksUpAndStaysSilent, staysSilent } from '../../support/responder.ts';
import { createRuleFiles } from '../../support/rule-files.ts';
import { startWholeProcess } from '../../support/start-process.ts';
import { describeInBrowser, startVisitors, useJourney } from '../support/journey.ts';
import { expectAccessible, headline, hint, pressRun, reads, says } from '../support/on-the-page.ts';

/** App 7 with a rule, in a shared directory of its own. */
async function createRule() {
  const files = await createRuleFiles();
  await files.write('1', 7, 'version.txt');
  await files.rule(1, '"name":"gate","confId":2');
  await files.node(2, '"type":5,"name":"score","confName":"com.sample.Score"');
  return files;
}
const RULE = '/?app=7&rule=1&target=address:orders-1#input=%7B%7D';

async function press(page: Page): Promise<void> {
  await page.getByRole('treegrid').waitFor();
  await pressRun(page);
}

describeInBrowser('a service that is killed while a rule runs, in the console', () => {
  test.each([
    [
      'picked-up',
      picksUpAndStaysSilent,
      /orders-1 has picked up the request/,
      'orders-1 had picked up the request, so the rule may have run.',
    ],
    [
      'dispatched',
      staysSilent,
      /orders-1 to pick up the request/,
      /^(The service|It) had sent the request to orders-1, so the rule may have run\./,
    ],
  ] as const)(
    '%s: the page says since when it heard nothing and what it knew; when the service is back without the run, too',
    {
      timeout: 120_000,
    },
    async (_, does, seen, known) => {
      const files = await createRule();
      const { sharedDir } = files;
      await using _files = { [Symbol.asyncDispose]: () => files.remove() };
      const port = await freePort();
      const settings = { RESULT_TIMEOUT_MS: 60_000, CLIENT_TIMEOUT_MS: 30_000 };
      const killed = await startWholeProcess({ sharedDir, port, settings });
      await using _client = await createResponder({ sharedDir, app: 7, address: 'orders-1', does });
      const visitors = await startVisitors(`http://127.0.0.1:${port}`);
      const page = await visitors.visit(RULE);
      await press(page);
      await says(headline(page), seen); // not a state before it: the page can only tell what it has heard
      await reads(page, '1 client');

      await killed.kill();
      await says(headline(page), /^Connection to the service lost since \d\d?:\d\d:\d\d\.$/);
      await says(hint(page), typeof known === 'string' ? `${known} The page asks again every second.` : known);
      await reads(page, 'Clients unknown');
      await expectAccessible(page);

      await using _again = await startWholeProcess({ sharedDir, port, settings });
      await expect
        .poll(() => headline(page).innerText(), { timeout: 60_000 })
        .toContain('The service is back, but no longer has this run.');
      expect(await headline(page).innerText()).toMatch(
        typeof known === 'string' ? known : /had sent the request to orders-1/,
      );
      await says(hint(page), 'Check the client’s log before you run the rule again.');
      await expect.poll(() => page.getByText('1 client', { exact: true }).count(), { timeout: 60_000 }).toBe(1);
      await visitors.close();
    },
  );
});

describeInBrowser('a run that its reader leaves', () => {
  let files: Awaited<ReturnType<typeof createRule>>;
  afterAll(() => files?.remove());
  const journey = useJourney(async () => {
    files = await createRule();
    return { demo: false, sharedDir: files.sharedDir };
  });
  const stateOf = async (mockId: string | null): Promise<string> => {
    const { json } = await journey.service.call(`/rule-server/mock/executions/${mockId}`);
    return json.state;
  };
  /** Every call of the page has a key and is answered at once: no connection is left whose end could cancel it. */
  async function runAt(
    does: typeof staysSilent,
  ): Promise<{ page: Page; deleted: string[]; keys: (string | undefined)[]; mockId: string | null }> {
    const page = await journey.visit(RULE);
    const [deleted, keys]: [string[], (string | undefined)[]] = [[], []];
    page.on('request', (request) => {
      if (request.method() === 'DELETE') deleted.push(request.url());
      if (request.method() === 'POST') keys.push(request.headers()['idempotency-key']);
    });
    await press(page);
    await says(headline(page), does === staysSilent ? /^Dispatched/ : /is running the rule\.$/);
    return { page, deleted, keys, mockId: new URL(page.url()).searchParams.get('run') };
  }

  describe.each([
    ['closing the page', (page: Page) => page.goto('about:blank')],
    [
      'going to another rule',
      (page: Page) =>
        page
          .getByRole('combobox', { name: 'Rule' })
          .fill('12')
          .then(() => page.keyboard.press('Enter')),
    ],
  ])('by %s', (_, leave) => {
    test('is cancelled before a client has picked it up, by a DELETE of the page', async () => {
      const { sharedDir } = journey.service;
      await using client = await createResponder({ sharedDir, app: 7, address: 'orders-1', does: staysSilent });
      const { page, keys, mockId } = await runAt(staysSilent);
      expect(keys).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/)]);
      await leave(page);
      await expect.poll(() => stateOf(mockId), { timeout: 60_000 }).toBe('cancelled');
      expect(client.found).toHaveLength(1);
      await client.unregister();
    });

    test('goes on when a client has picked it up', async () => {
      const { sharedDir } = journey.service;
      await using client = await createResponder({
        sharedDir,
        app: 7,
        address: 'orders-1',
        does: picksUpAndStaysSilent,
      });
      const { page, deleted, mockId } = await runAt(picksUpAndStaysSilent);
      await leave(page);
      await page.waitForTimeout(500);
      expect(await stateOf(mockId)).toBe('picked-up');
      expect(deleted).toEqual([]);
      await client.unregister();
    });
  });
});
