import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import AxeBuilder from '@axe-core/playwright';
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core';
import { expect } from 'vitest';
import { startDemoClient } from '../../../src/client/demo.ts';
import { findChromium } from '../../support/browser.ts';
import { type Service, type ServiceOptions, startService } from '../../support/start-service.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../../..');
const IMAGES = join(ROOT, 'docs/images');
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Where there is a Chromium; without one, suites in a browser are left out, which the run says. */
export const executablePath = await findChromium();
export const IN_A_BROWSER = 'in a browser (Chromium, for example from the Debian package of that name)';

/** What a page looked for that it should not have: other hosts, errors in its console. */
type Watched = { page: Page; wrongs: string[] };

export type Journey = {
  service: Service;
  /** A page of a visitor of its own: nothing is remembered from another one. */
  visit(path: string, options?: BrowserContextOptions): Promise<Page>;
  /** Another page of the same visitor. */
  another(page: Page, path: string): Promise<Page>;
  close(): Promise<void>;
};

/** The service with its page built, a browser, and the demo's clients unless the test brings its own. */
export async function startJourney({
  demo = true,
  ...options
}: ServiceOptions & { demo?: boolean } = {}): Promise<Journey> {
  await run(process.execPath, [join(ROOT, 'bin/build-console.js'), '--when-needed']);
  const settings = { CLIENT_TIMEOUT_MS: 30_000, RESULT_TIMEOUT_MS: 20_000, ...options.settings };
  const service = await startService({ leavesFiles: true, ...options, settings });
  const client = demo ? await startDemoClient({ sharedDir: service.sharedDir, onError: () => {} }) : null;
  const browser: Browser = await chromium.launch({ executablePath: executablePath ?? '', args: ARGUMENTS });
  const watched: Watched[] = [];

  function watch(page: Page): void {
    const wrongs: string[] = [];
    page.on('pageerror', (error) => wrongs.push(`error: ${error.message}`));
    page.on('request', (request) => {
      const { origin, protocol } = new URL(request.url());
      if (origin !== service.url && protocol.startsWith('http')) wrongs.push(`request to ${request.url()}`);
    });
    page.on('console', (message) => {
      // The browser itself reports refused calls; those are part of some journeys.
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
        wrongs.push(message.text());
    });
    watched.push({ page, wrongs });
  }

  return {
    service,
    async visit(path, context = {}) {
      const visitor = await browser.newContext({ viewport: { width: 1440, height: 900 }, locale: 'en-US', ...context });
      visitor.setDefaultTimeout(10_000);
      const page = await visitor.newPage();
      watch(page);
      await page.goto(service.url + path);
      return page;
    },
    async another(page, path) {
      const next = await page.context().newPage();
      watch(next);
      await next.goto(service.url + path);
      return next;
    },
    async close() {
      await browser.close();
      await client?.close();
      await service.stop();
      expect(watched.flatMap(({ wrongs }) => wrongs)).toEqual([]);
    },
  };
}

/** Nothing on the page keeps anybody from using it, as far as a program can tell. */
export async function expectAccessible(page: Page): Promise<void> {
  const { violations } = await new AxeBuilder({ page }).analyze();
  const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`);
  expect(found).toEqual([]);
}

/** A picture for the documentation; taken only when asked for with SCREENSHOTS=1. */
export async function picture(page: Page, name: string): Promise<void> {
  if (process.env.SCREENSHOTS !== '1') return;
  await mkdir(IMAGES, { recursive: true });
  await page.screenshot({ path: join(IMAGES, `${name}.png`), animations: 'disabled' });
}

/** The state of the run in a sentence, as the page says it. */
export const headline = (page: Page) => page.locator('.headline strong');
/** What can be done about it. */
export const hint = (page: Page) => page.locator('.headline p');
export const runButton = (page: Page) => page.getByRole('button', { name: /^Run( Ctrl| ⌘|$)/ });

/** Waits until an element says this, and fails with what it said instead. */
export async function says(element: Locator, text: string | RegExp): Promise<void> {
  await expect
    .poll(() => element.innerText(), { timeout: 15_000 })
    .toMatch(typeof text === 'string' ? exactly(text) : text);
}

/** Waits until a field holds this. */
export async function holds(field: Locator, value: string): Promise<void> {
  await expect.poll(() => field.inputValue(), { timeout: 10_000 }).toBe(value);
}

function exactly(text: string): RegExp {
  return new RegExp(`^\\s*${text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/\s+/g, '\\s+')}\\s*$`);
}

/** The rows of the tree as `name #id RESULT`, what did not run in brackets with its reason. */
export async function treeRows(page: Page): Promise<string[]> {
  const rows = await page.getByRole('treegrid').locator('.tree-row').all();
  return Promise.all(
    rows.map(async (row) => {
      const texts = await row.locator('.node-name, .node-id, .chip').allTextContents();
      const skip = await row.locator('.skip').allTextContents();
      const ran = (await row.getAttribute('class'))?.includes('skipped') !== true;
      return ran ? texts.join(' ') : `(${[...texts, ...skip].join(' ')})`;
    }),
  );
}
