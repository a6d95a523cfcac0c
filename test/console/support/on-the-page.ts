import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import AxeBuilder from '@axe-core/playwright';
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';

const IMAGES = join(import.meta.dirname, '../../../docs/images');

/** The state of the run in a sentence, as the page says it. */
export const headline = (page: Page) => page.locator('.headline strong');
/** What can be done about it. */
export const hint = (page: Page) => page.locator('.headline p');
export const runButton = (page: Page) => page.getByRole('button', { name: /^Run for real( Ctrl| ⌘|$)/ });

/** Presses Run as soon as that does something: it waits for the example that the form is filled with. */
export async function pressRun(page: Page): Promise<void> {
  await page.locator('.run-bar .primary[aria-disabled=false]').waitFor();
  await runButton(page).click();
}

/** Waits until an element says this, and fails with what it said instead. */
export async function says(element: Locator, text: string | RegExp): Promise<void> {
  await expect
    .poll(() => element.innerText(), { timeout: 30_000 })
    .toMatch(typeof text === 'string' ? exactly(text) : text);
}

/** Waits until the page says this somewhere, alone in an element. */
export const reads = (page: Page, sentence: string) => page.getByText(sentence, { exact: true }).first().waitFor();

/** Waits until a field holds this. */
export async function holds(field: Locator, value: string): Promise<void> {
  await expect.poll(() => field.inputValue(), { timeout: 30_000 }).toBe(value);
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

function exactly(text: string): RegExp {
  return new RegExp(`^\\s*${text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/\s+/g, '\\s+')}\\s*$`);
}
