import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest';
import { startDemoClient } from '../../../src/client/demo.ts';
import { findChromium } from '../../support/browser.ts';
import { type Service, type ServiceOptions, startService } from '../../support/start-service.ts';

const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

const executablePath = await findChromium();
const IN_A_BROWSER = 'in a browser (Chromium, for example from the Debian package of that name)';

/** A suite in a real Chromium. Where there is none it is left out, which the run says. */
export function describeInBrowser(title: string, body: () => void): void {
  describe.skipIf(executablePath === undefined)(`${title}, ${IN_A_BROWSER}`, body);
}

export type Journey = {
  service: Service;
  /** A page of a visitor of its own: nothing is remembered from another one. */
  visit(path: string, options?: BrowserContextOptions): Promise<Page>;
  /** Another page of the same visitor. */
  another(page: Page, path: string): Promise<Page>;
  /** Closes the pages that are open: they ask the service for news as long as they are. */
  leave(): Promise<void>;
  close(): Promise<void>;
};

type Options = ServiceOptions & { demo?: boolean };

/** One journey for all tests of a suite: started before the first, closed after the last. */
export function useJourney(options: Options | (() => Promise<Options>) = {}): Omit<Journey, 'leave' | 'close'> {
  let started: Journey | undefined;
  const journey = () => {
    if (!started) throw new Error('the journey begins with the first test');
    return started;
  };
  beforeAll(async () => {
    started = await startJourney(typeof options === 'function' ? await options() : options);
  });
  afterEach(() => started?.leave());
  afterAll(() => started?.close());
  return {
    get service() {
      return journey().service;
    },
    visit: (...to) => journey().visit(...to),
    another: (...to) => journey().another(...to),
  };
}

/** The service with its page built, a browser, and the demo's clients unless the test brings its own. */
export async function startJourney({ demo = true, ...options }: Options = {}): Promise<Journey> {
  const settings = { CLIENT_TIMEOUT_MS: 30_000, RESULT_TIMEOUT_MS: 20_000, ...options.settings };
  const service = await startService({ leavesFiles: true, ...options, settings });
  const client = demo ? await startDemoClient({ sharedDir: service.sharedDir, onError: () => {} }) : null;
  const visitors = await startVisitors(service.url);
  return {
    ...visitors,
    service,
    async close() {
      await visitors.close(async () => {
        await client?.close();
        await service.stop();
      });
    },
  };
}

/** A browser whose pages are of the service at this address. Closing it fails when a page did what it should not. */
export async function startVisitors(home: string, environment: Record<string, string> = {}) {
  const browser: Browser = await chromium.launch({
    ...{ executablePath: executablePath ?? '', args: ARGUMENTS },
    env: { ...process.env, ...environment },
  });
  const wrongs: string[] = [];
  return {
    async visit(path: string, context: BrowserContextOptions = {}): Promise<Page> {
      const visitor = await browser.newContext({ viewport: { width: 1440, height: 900 }, locale: 'en-US', ...context });
      visitor.setDefaultTimeout(120_000);
      const page = await visitor.newPage();
      watch(page, home, wrongs);
      await page.goto(home + path);
      return page;
    },
    async another(page: Page, path: string): Promise<Page> {
      const next = await page.context().newPage();
      watch(next, home, wrongs);
      await next.goto(home + path);
      return next;
    },
    async leave(): Promise<void> {
      await Promise.all(browser.contexts().map((visitor) => visitor.close()));
      // Told of the test that did it, which is then tried again where others are.
      expect(wrongs.splice(0).join('\n')).toBe('');
    },
    async close(then: () => Promise<void> = async () => {}): Promise<void> {
      await browser.close();
      await then();
      expect(wrongs.join('\n')).toBe('');
    },
  };
}

/** Notes what a page does that it should not: ask other hosts, write errors into its console. */
function watch(page: Page, home: string, wrongs: string[]): void {
  page.on('pageerror', (error) => wrongs.push(`error: ${error.message}`));
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url());
    if (origin !== home && protocol.startsWith('http')) wrongs.push(`request to ${request.url()}`);
  });
  page.on('console', (message) => {
    // The browser itself reports refused calls; those are part of some journeys.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      wrongs.push(`${message.text()} (${message.location().url}:${message.location().lineNumber})`);
  });
}
