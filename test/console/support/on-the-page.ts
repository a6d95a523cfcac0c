import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import AxeBuilder from '@axe-core/playwright';
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');
/** The pictures that the documents show, without `console-`. All others are looked at and not committed. */
const shown = ['compare', 'history', 'cases', 'inputs', 'timeout', 'zh', 'dark-1024', '390', 'false'];
const inDocuments = new Set(['console', ...shown.map((name) => `console-${name}`)]);

/** The state of the run in a sentence, as the page says it. */
export const headline = (page: Page) => page.locator('.headline strong');
/** What can be done about it. */
export const hint = (page: Page) => page.locator('.headline p');
export const runButton = (page: Page) => page.getByRole('button', { name: /^Run for real( Ctrl| ⌘|$)/ });

/** The page takes the same run twice within half a second for a slip of the hand. */
export const SLIP_MS = 500;
const pressedAt = new WeakMap<Page, number>();

/** Presses Run as soon as that does something: it waits for the example that the form is filled with, and no faster than a person presses twice. */
export async function pressRun(page: Page): Promise<void> {
  await toRule(page);
  await page.waitForTimeout(Math.max(0, (pressedAt.get(page) ?? 0) + SLIP_MS - Date.now()));
  await page.locator('.run-bar .primary[aria-disabled=false]').waitFor();
  await runButton(page).click();
  pressedAt.set(page, Date.now());
}

/** Unfolds the choices of client and time, and chooses where the rule runs. */
export async function aim(page: Page, where: string): Promise<void> {
  await unfold(page);
  await page.getByRole('radio', { name: where }).check();
}

/** Unfolds the choices of client and time. */
export async function unfold(page: Page): Promise<void> {
  await toRule(page);
  const summary = page.locator('.where-summary');
  await summary.waitFor();
  if ((await summary.getAttribute('aria-expanded')) === 'false') await summary.click();
}

/** Opens the page of earlier runs. */
export async function toHistory(page: Page): Promise<void> {
  if (!(await page.locator('.history').isVisible())) await page.getByRole('link', { name: /^(History|历史)$/ }).click();
}

/** Opens the tests with inputs of a source; without one with the saved cases. */
export async function toTests(page: Page, source?: string): Promise<void> {
  await page.getByRole('link', { name: 'Tests', exact: true }).click();
  if (source !== undefined) await page.getByRole('link', { name: source }).click();
}

/** Waits until the page of earlier runs is left: a run that was begun or opened there is shown. */
export const leftHistory = (page: Page) => page.locator('.history').waitFor({ state: 'detached' });

/** Opens the rule: its form, its tree and the run. */
export async function toRule(page: Page): Promise<void> {
  const rule = page.locator('.views .of-wide');
  if ((await rule.isVisible()) && (await page.locator('.screen[data-view=page]').isVisible())) await rule.click();
}

/** As long as a test may take, whatever else the machine does meanwhile. */
const PATIENCE_MS = 280_000;

/** Waits until an element says this, and fails with what it said instead. */
export async function says(element: Locator, text: string | RegExp): Promise<void> {
  await expect
    .poll(() => element.innerText(), { timeout: PATIENCE_MS })
    .toMatch(typeof text === 'string' ? exactly(text) : text);
}

/** Waits until the page says this somewhere, alone in an element. */
export const reads = (page: Page, sentence: string) => page.getByText(sentence, { exact: true }).first().waitFor();

/** Waits until a field holds this. */
export async function holds(field: Locator, value: string): Promise<void> {
  await expect.poll(() => field.inputValue(), { timeout: PATIENCE_MS }).toBe(value);
}

/** Nothing on the page keeps anybody from using it, as far as a program can tell. */
export async function expectAccessible(page: Page): Promise<void> {
  // In the page alone, which has no frames, and without the details of what is well: half the time.
  const axe = new AxeBuilder({ page }).setLegacyMode(true).options({ resultTypes: ['violations'] });
  const { violations } = await axe.analyze();
  const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`);
  expect(found).toEqual([]);
}

/** A picture of a state; taken only when asked for with SCREENSHOTS=1. */
export async function picture(page: Page, name: string): Promise<void> {
  if (process.env.SCREENSHOTS !== '1') return;
  const path = join(ROOT, inDocuments.has(name) ? 'docs/images' : 'pictures', `${name}.png`);
  await mkdir(dirname(path), { recursive: true });
  await page.screenshot({ path, animations: 'disabled' });
}

function exactly(text: string): RegExp {
  return new RegExp(`^\\s*${text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/\s+/g, '\\s+')}\\s*$`);
}
