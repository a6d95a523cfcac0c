import type { CDPSession, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { describeInBrowser, useJourney } from '../support/journey.ts';
import { writeLargeRule } from '../support/large-rule.ts';
import { holds } from '../support/on-the-page.ts';

const KIB = 1024;
const APP = 9500;

describeInBrowser('what the console costs', () => {
  const journey = useJourney();
  const RULE = '/?app=9001&rule=1';
  const isReady = (page: Page) => page.locator('.run-bar .primary[aria-disabled=false]').waitFor({ timeout: 60_000 });

  /** A page that is empty, with everything that it fetches from now on: path and bytes on the wire. */
  async function watched(): Promise<{
    page: Page;
    cdp: CDPSession;
    fetched: { path: string; bytes: number; status: number }[];
  }> {
    const page = await journey.visit('/favicon.svg');
    const cdp = await page.context().newCDPSession(page);
    await cdp.send('Network.enable');
    const answers = new Map<string, { path: string; status: number }>();
    const fetched: { path: string; bytes: number; status: number }[] = [];
    cdp.on('Network.responseReceived', ({ requestId, response: { url, status } }) => {
      answers.set(requestId, { path: new URL(url).pathname, status });
    });
    cdp.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
      const answer = answers.get(requestId);
      if (answer) fetched.push({ ...answer, bytes: encodedDataLength });
    });
    return { page, cdp, fetched };
  }
  const bytesOf = (fetched: readonly { bytes: number }[]) => fetched.reduce((sum, { bytes }) => sum + bytes, 0);

  test('a visit: at most 18 requests and 150 KiB; the tree and the keys are asked for once', async () => {
    const { page, fetched } = await watched();
    await page.goto(journey.service.url + RULE);
    await isReady(page);
    await holds(page.getByLabel('cost', { exact: true }), '100');
    await page.waitForTimeout(1500); // a second question would come with the first answer, or with the clients
    const asked = (name: string) => fetched.filter(({ path }) => path === `/rule-server/mock/${name}`).length;
    expect({ tree: asked('tree'), schema: asked('schema'), rules: asked('rules'), apps: asked('apps') }).toEqual({
      tree: 1,
      schema: 1,
      rules: 1,
      apps: 1,
    });
    console.info(`a visit: ${fetched.length} requests, ${bytesOf(fetched)} bytes`);
    expect(fetched.length).toBeLessThanOrEqual(18); // 16, and who is online and the icon once more on a slow machine
    expect(bytesOf(fetched)).toBeLessThanOrEqual(150 * KIB);
  });

  test('a second visit asks whether rules, tree and keys are the same, and gets no body again', async () => {
    const { page, cdp } = await watched();
    const asked = new Map<string, string>();
    const statuses: Record<string, number[]> = {};
    cdp.on('Network.requestWillBeSent', ({ requestId, request: { url } }) => {
      asked.set(requestId, new URL(url).pathname.replace('/rule-server/mock/', ''));
    });
    // What the service said: the page itself is told 200, and given what the browser kept.
    cdp.on('Network.responseReceivedExtraInfo', ({ requestId, statusCode }) => {
      const path = asked.get(requestId) ?? '';
      statuses[path] = [...(statuses[path] ?? []), statusCode];
    });
    for (let visit = 0; visit < 2; visit++) {
      await page.goto(journey.service.url + RULE);
      await isReady(page);
      await holds(page.getByLabel('cost', { exact: true }), '100');
      await page.goto(`${journey.service.url}/favicon.svg`);
    }
    expect(statuses).toMatchObject({ apps: [200, 304], rules: [200, 304], tree: [200, 304], schema: [200, 304] });
  });

  test('a tree of 500 nodes is at most 8 KiB on the wire', async () => {
    await writeLargeRule(journey.service.sharedDir, APP);
    const { page, fetched } = await watched();
    await page.goto(`${journey.service.url}/?app=${APP}&rule=1#input=%7B%7D`);
    await page.locator('.tree-row').nth(5).waitFor();
    const tree = () => fetched.filter(({ path }) => path.endsWith('/tree'));
    await expect.poll(() => tree().length).toBe(1);
    expect(bytesOf(tree())).toBeLessThanOrEqual(8 * KIB);
  });

  test('older runs are fetched once: after that only the newest page is asked for', async () => {
    const body = { app: 9001, ruleId: 1, 'the service': { cost: 1, uid: 1 } };
    for (let count = 0; count < 60; count += 10)
      await Promise.all(Array.from({ length: 10 }, () => journey.service.execute(body)));
    const page = await journey.visit(`${RULE}&panel=history`);
    const asked: (string | null)[] = [];
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname.endsWith('/executions')) asked.push(searchParams.get('cursor'));
    });
    await page.getByRole('button', { name: 'Older runs' }).click();
    await expect.poll(() => page.locator('.history tbody tr').count()).toBeGreaterThan(50);
    await expect
      .poll(() => asked.filter((cursor) => cursor === null).length, { timeout: 60_000 })
      .toBeGreaterThanOrEqual(2);
    expect(asked.filter((cursor) => cursor !== null)).toHaveLength(1);
  });
});
